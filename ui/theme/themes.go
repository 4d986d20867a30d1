package theme

import (
	"image/color"

	"charm.land/lipgloss/v2"
)

type named struct {
	name string
	Looks[lipgloss.Style]
	rows *Looks[lipgloss.Style] // the looks in the row under the cursor; nil for the theme's own
	on   []color.Color          // the backgrounds that it is made for; none: it has no colours
}

var (
	plain = lipgloss.NewStyle()
	bold  = plain.Bold(true)
	faint = plain.Faint(true)
	bar   = plain.Reverse(true)
)

func ink(c color.Color) lipgloss.Style { return plain.Foreground(c) }

// An inks is what a theme with colours is made of.
type inks struct {
	dim, focus, border, good, warn, bad, info color.Color
	demo, paper                               color.Color // of badges
	text, row, idle                           color.Color // of the row under the cursor: its text, and its background
}

func (i inks) looks() Looks[lipgloss.Style] {
	badge := func(c color.Color) lipgloss.Style { return ink(i.paper).Background(c) }
	return Looks[lipgloss.Style]{
		Dim: ink(i.dim), Strong: bold, Title: bold, Focus: bold.Foreground(i.focus), Border: ink(i.border),
		Head: ink(i.dim), SortBy: bold.Foreground(i.focus),
		Good: ink(i.good), Warn: ink(i.warn), Bad: bold.Foreground(i.bad), Info: ink(i.info),
		Selected: ink(i.text).Background(i.row), Idle: ink(i.text).Background(i.idle), Cursor: bar,
		Match: bold.Foreground(i.warn), Key: ink(i.info), Input: bold, Flash: ink(i.warn),
		BadgeDemo: badge(i.demo), BadgePaused: badge(i.warn), BadgeFrozen: badge(i.info),
	}
}

// The colours are of the 256, for the 16 are as each terminal likes: on a white background
// their yellow and cyan cannot be read, on a black one their blue. A test holds the contrast.
var (
	onLight = inks{
		dim: c("241"), focus: c("24"), border: c("248"), good: c("22"), warn: c("94"), bad: c("124"), info: c("24"),
		demo: c("90"), paper: c("231"), text: c("16"), row: c("254"), idle: c("255"),
	}
	// onAny is for a background that nobody knows: each colour lies halfway between black and
	// white. Its row under the cursor brings its own background, and inRow the colours for that.
	onAny = inks{
		dim: c("243"), focus: c("63"), border: c("243"), good: c("28"), warn: c("130"), bad: c("#ee0000"), info: c("63"),
		demo: c("163"), paper: c("231"), text: c("255"), row: c("237"), idle: c("235"),
	}
	inRow = inks{
		dim: c("250"), focus: c("80"), border: c("240"), good: c("77"), warn: c("220"), bad: c("210"), info: c("80"),
		demo: c("177"), paper: c("16"), text: c("255"), row: c("237"), idle: c("235"),
	}.looks()
)

var c = lipgloss.Color

var black, white = c("#000000"), c("#ffffff")

const light = "light"

// themes are all there are, the default first.
var themes = []named{
	{"default", onAny.looks(), &inRow, []color.Color{black, white}},
	{light, onLight.looks(), nil, []color.Color{white}},
	{"mono", Looks[lipgloss.Style]{
		Dim: faint, Strong: bold, Title: bold, Focus: bold.Underline(true), Border: faint,
		Head: faint, SortBy: bold.Underline(true),
		Warn: bold, Bad: bold,
		Selected: plain.Underline(true), Idle: plain, Cursor: bar, Match: bold.Underline(true), Key: bold, Input: bold, Flash: bold,
		BadgeDemo: bar, BadgePaused: bar, BadgeFrozen: bar,
	}, nil, nil},
}
