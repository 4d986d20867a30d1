// Package theme says how the screen looks: styles as ready-made escape
// sequences, and the symbols that stand beside every colour. It computes
// nothing while a frame is drawn and holds no state; all its values may be
// shared between goroutines.
//
// A theme uses the terminal's own 16 colours, so it fits light and dark
// screens alike. What the terminal cannot show is taken out on the way to it.
// Nothing is told by colour alone: each state has a word and a symbol too.
package theme

import (
	"slices"
	"strings"
)

// A Theme holds the look of everything on the screen. It is a value; a copy
// may be changed freely.
type Theme struct {
	Name    string
	Symbols Symbols

	Text   Style // ordinary text
	Dim    Style // what matters less: labels, units, filtered events
	Strong Style // a name or figure that the eye should find
	Title  Style // of a pane or dialog
	Focus  Style // the title of the pane that has the keys
	Border Style // rules between panes, frames of dialogs
	Head   Style // column heads
	SortBy Style // the head of the column that sorts

	Good Style // healthy, running
	Warn Style // may become a problem, or is over by itself soon
	Bad  Style // a problem
	Info Style // neither good nor bad: created, marks, matches

	Selected Style // the row under the cursor, in the pane that has the keys
	Idle     Style // the same in another pane
	Match    Style // what a search found
	Key      Style // a key's name in footer and help
	Input    Style // what is being typed
	Flash    Style // the answer to a key

	BadgeDemo   Style
	BadgePaused Style
	BadgeFrozen Style
}

// themes are made once; the first is the default.
var themes = []Theme{
	{
		Name: "default", Symbols: Unicode,
		Dim: style("90"), Strong: style("1"), Title: style("1"), Focus: style("1", "36"), Border: style("90"),
		Head: style("90"), SortBy: style("1", "36"),
		Good: style("32"), Warn: style("33"), Bad: style("1", "31"), Info: style("36"),
		Selected: style("7"), Idle: style("4"), Match: style("1", "33"), Key: style("36"), Input: style("1"), Flash: style("33"),
		BadgeDemo: style("7", "35"), BadgePaused: style("7", "33"), BadgeFrozen: style("7", "36"),
	},
	{
		Name: "mono", Symbols: Unicode,
		Dim: style("2"), Strong: style("1"), Title: style("1"), Focus: style("1", "4"), Border: style("2"),
		Head: style("2"), SortBy: style("1", "4"),
		Good: Style{}, Warn: style("1"), Bad: style("1"), Info: Style{},
		Selected: style("7"), Idle: style("4"), Match: style("1", "4"), Key: style("1"), Input: style("1"), Flash: style("1"),
		BadgeDemo: style("7"), BadgePaused: style("7"), BadgeFrozen: style("7"),
	},
	{
		Name: "bright", Symbols: Unicode,
		Dim: style("37"), Strong: style("1", "97"), Title: style("1", "97"), Focus: style("1", "96"), Border: style("37"),
		Head: style("37"), SortBy: style("1", "96"),
		Good: style("92"), Warn: style("1", "93"), Bad: style("1", "91"), Info: style("96"),
		Selected: style("30", "106"), Idle: style("4"), Match: style("1", "95"), Key: style("96"), Input: style("1", "97"), Flash: style("93"),
		BadgeDemo: style("30", "105"), BadgePaused: style("30", "103"), BadgeFrozen: style("30", "106"),
	},
	{
		// For people who do not tell red from green: blue is good, bold
		// magenta is bad.
		Name: "contrast", Symbols: Unicode,
		Dim: style("2"), Strong: style("1"), Title: style("1"), Focus: style("1", "4"), Border: style("2"),
		Head: style("2"), SortBy: style("1", "4"),
		Good: style("94"), Warn: style("1", "33"), Bad: style("1", "35"), Info: Style{},
		Selected: style("7"), Idle: style("4"), Match: style("1", "33"), Key: style("1", "94"), Input: style("1"), Flash: style("33"),
		BadgeDemo: style("7", "35"), BadgePaused: style("7", "33"), BadgeFrozen: style("7", "94"),
	},
}

// Names returns the names of all themes, the default first.
func Names() []string {
	names := make([]string, len(themes))
	for i, t := range themes {
		names[i] = t.Name
	}
	return names
}

// Named returns the theme of that name; an empty name stands for the default.
// It returns false, and the default, for a name that no theme has.
func Named(name string) (Theme, bool) {
	i := slices.IndexFunc(themes, func(t Theme) bool { return t.Name == name })
	if i < 0 {
		return themes[0], name == ""
	}
	return themes[i], true
}

// Default returns the default theme.
func Default() Theme { return themes[0] }

// Plain returns a copy of t that draws with ASCII only.
func (t Theme) Plain() Theme {
	t.Symbols = ASCII
	return t
}

// reset ends every style. It is the shortest form of SGR 0.
const reset = "\x1b[m"

// A Style is a look as the escape sequences that begin and end it. The zero
// value is the terminal's own look and writes nothing.
type Style struct {
	On, Off string

	// Ink says that the look is one of letters only: a space in it looks like any
	// other space.
	Ink bool
}

// style makes a Style of SGR parameters such as "1", "31".
func style(params ...string) Style {
	return Style{On: "\x1b[" + strings.Join(params, ";") + "m", Off: reset, Ink: !slices.ContainsFunc(params, fills)}
}

// fills reports whether an SGR parameter shows on a space: underline, inverse,
// and the backgrounds.
func fills(param string) bool {
	return param == "4" || param == "7" || len(param) == 2 && param[0] == '4' || len(param) == 3
}

// Append appends s in this look to dst. Text from outside must have been
// cleaned before.
func (s Style) Append(dst []byte, text string) []byte {
	dst = append(dst, s.On...)
	dst = append(dst, text...)
	return append(dst, s.Off...)
}

// Symbols are the signs that stand beside words. Each is one cell wide.
type Symbols struct {
	ASCII bool // nothing outside ASCII may reach the screen

	Ellipsis string // where a text was cut

	Good, Warn, Bad, Unknown string // verdicts, and the states that count as such
	Running, Exited, Created string // states of sandboxes and containers
	Gone                     string // listed no longer

	Folded, Unfolded string // of a pod in the tree
	Branch, Last     string // of what a pod holds
	Bullet           string // between facts on one line
	Step             string // from one step to the next
	Up, Down         string // the order of the column that sorts
	Mark             string // on a marked event
	Horizontal       string // a rule
	Vertical         string

	Full, Empty string   // cells of a bar; brackets stand round them
	Spark       []string // lowest first
	SparkFailed string   // a relist whose list failed

	Shades []string // how long calls took, the shortest first
	Run    string   // along the time that a container ran
	Ended  string   // along the time that it was there and had exited
	Lag    string   // from what happened to where it was seen
	Blind  string   // while nothing could be seen
	Pause  string   // while the relist was paused
	Cursor string   // above the moment that the cursor is on
}

// Unicode is the ordinary set, for terminal emulators. The fonts of the Linux
// console lack some of it; that wants [ASCII].
var Unicode = Symbols{
	Ellipsis: "…",
	Good:     "✔", Warn: "▲", Bad: "✖", Unknown: "?",
	Running: "●", Exited: "○", Created: "◌", Gone: "×",
	Folded: "▸", Unfolded: "▾", Branch: "├", Last: "└", Bullet: "·", Step: "›",
	Up: "↑", Down: "↓", Mark: "◆",
	Horizontal: "─", Vertical: "│",
	Full: "█", Empty: "·",
	Spark:       []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
	SparkFailed: "×",
	Shades:      []string{"░", "▒", "▓", "█"},
	Run:         "━", Ended: "┈", Lag: "▒", Blind: "╱", Pause: "║", Cursor: "▼",
}

// ASCII is the set for terminals and fonts that have nothing else.
var ASCII = Symbols{
	ASCII:    true,
	Ellipsis: "~",
	Good:     "+", Warn: "!", Bad: "X", Unknown: "?",
	Running: "*", Exited: "o", Created: ".", Gone: "-",
	Folded: ">", Unfolded: "v", Branch: "|", Last: "`", Bullet: "-", Step: ">",
	Up: "^", Down: "v", Mark: "#",
	Horizontal: "-", Vertical: "|",
	Full: "#", Empty: ".",
	Spark:       []string{"_", ".", ":", "-", "=", "+", "*", "#"},
	SparkFailed: "x",
	Shades:      []string{".", ":", "+", "#"},
	Run:         "=", Ended: "_", Lag: "%", Blind: "/", Pause: "|", Cursor: "v",
}
