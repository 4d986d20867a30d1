package theme

import (
	"image/color"

	"charm.land/lipgloss/v2"
)

type named struct {
	name string
	Looks[lipgloss.Style]
}

var (
	plain = lipgloss.NewStyle()
	bold  = plain.Bold(true)
	faint = plain.Faint(true)
	under = plain.Underline(true)
	bar   = plain.Reverse(true)
)

func ink(c color.Color) lipgloss.Style { return plain.Foreground(c) }

// light is the name of the theme for a light background.
const light = "light"

// themes are all there are, the default first.
var themes = []named{
	{"default", Looks[lipgloss.Style]{
		Dim: ink(lipgloss.BrightBlack), Strong: bold, Title: bold, Focus: bold.Foreground(lipgloss.Cyan), Border: ink(lipgloss.BrightBlack),
		Head: ink(lipgloss.BrightBlack), SortBy: bold.Foreground(lipgloss.Cyan),
		Good: ink(lipgloss.Green), Warn: ink(lipgloss.Yellow), Bad: bold.Foreground(lipgloss.Red), Info: ink(lipgloss.Cyan),
		Selected: bar, Idle: under, Match: bold.Foreground(lipgloss.Yellow), Key: ink(lipgloss.Cyan), Input: bold, Flash: ink(lipgloss.Yellow),
		BadgeDemo: bar.Foreground(lipgloss.Magenta), BadgePaused: bar.Foreground(lipgloss.Yellow), BadgeFrozen: bar.Foreground(lipgloss.Cyan),
	}},
	{"mono", Looks[lipgloss.Style]{
		Dim: faint, Strong: bold, Title: bold, Focus: bold.Underline(true), Border: faint,
		Head: faint, SortBy: bold.Underline(true),
		Warn: bold, Bad: bold,
		Selected: bar, Idle: under, Match: bold.Underline(true), Key: bold, Input: bold, Flash: bold,
		BadgeDemo: bar, BadgePaused: bar, BadgeFrozen: bar,
	}},
	{"bright", Looks[lipgloss.Style]{
		Dim: ink(lipgloss.White), Strong: bold.Foreground(lipgloss.BrightWhite), Title: bold.Foreground(lipgloss.BrightWhite),
		Focus: bold.Foreground(lipgloss.BrightCyan), Border: ink(lipgloss.White),
		Head: ink(lipgloss.White), SortBy: bold.Foreground(lipgloss.BrightCyan),
		Good: ink(lipgloss.BrightGreen), Warn: bold.Foreground(lipgloss.BrightYellow), Bad: bold.Foreground(lipgloss.BrightRed), Info: ink(lipgloss.BrightCyan),
		Selected: bar.Foreground(lipgloss.BrightCyan), Idle: under, Match: bold.Foreground(lipgloss.BrightMagenta), Key: ink(lipgloss.BrightCyan),
		Input: bold.Foreground(lipgloss.BrightWhite), Flash: ink(lipgloss.BrightYellow),
		BadgeDemo:   ink(lipgloss.Black).Background(lipgloss.BrightMagenta),
		BadgePaused: ink(lipgloss.Black).Background(lipgloss.BrightYellow),
		BadgeFrozen: ink(lipgloss.Black).Background(lipgloss.BrightCyan),
	}},
	{
		// For people who do not tell red from green: blue is good, bold
		// magenta is bad.
		"contrast", Looks[lipgloss.Style]{
			Dim: faint, Strong: bold, Title: bold, Focus: bold.Underline(true), Border: faint,
			Head: faint, SortBy: bold.Underline(true),
			Good: ink(lipgloss.BrightBlue), Warn: bold.Foreground(lipgloss.Yellow), Bad: bold.Foreground(lipgloss.Magenta),
			Selected: bar, Idle: under, Match: bold.Foreground(lipgloss.Yellow), Key: bold.Foreground(lipgloss.BrightBlue), Input: bold, Flash: ink(lipgloss.Yellow),
			BadgeDemo: bar.Foreground(lipgloss.Magenta), BadgePaused: bar.Foreground(lipgloss.Yellow), BadgeFrozen: bar.Foreground(lipgloss.BrightBlue),
		},
	},
	{
		// The 16 colours are made for black: on white, yellow and cyan are hard to
		// read. These are dark ones of the 256, each with a contrast of 4.5 at least.
		light, Looks[lipgloss.Style]{
			Dim: ink(grey), Strong: bold, Title: bold, Focus: bold.Foreground(teal), Border: ink(grey),
			Head: ink(grey), SortBy: bold.Foreground(teal),
			Good: ink(green), Warn: ink(ochre), Bad: bold.Foreground(red), Info: ink(teal),
			Selected: bar, Idle: under, Match: bold.Foreground(ochre), Key: ink(teal), Input: bold, Flash: ink(ochre),
			BadgeDemo: bar.Foreground(violet), BadgePaused: bar.Foreground(ochre), BadgeFrozen: bar.Foreground(teal),
		},
	},
}

// The colours of the light theme.
var (
	grey   = lipgloss.Color("241")
	teal   = lipgloss.Color("24")
	green  = lipgloss.Color("22")
	ochre  = lipgloss.Color("94")
	red    = lipgloss.Color("160")
	violet = lipgloss.Color("90")
)
