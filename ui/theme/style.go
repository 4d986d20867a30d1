package theme

import (
	"slices"
	"strings"
)

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

// Render returns text in this look. Text from outside must have been cleaned
// before.
func (s Style) Render(text string) string { return s.On + text + s.Off }
