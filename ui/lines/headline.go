package lines

import (
	"regexp"

	"github.com/plegtop/plegtop/engine/diagnose"
)

// figures are words that begin with a digit.
var figures = regexp.MustCompile(`(^|[\s(<>~])\d[^\s,;:)]*`)

// withoutFigures returns what must differ for a headline to be another one.
func withoutFigures(h diagnose.Headline) diagnose.Headline {
	h.Text = figures.ReplaceAllString(h.Text, "${1}0")
	h.Clock.In, h.Clock.To = 0, 0
	return h
}
