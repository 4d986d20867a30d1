package lines

import (
	"regexp"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
)

// clauses joins what a headline says beside its word.
func clauses(h diagnose.Headline) string {
	all := []string{say.Countdown(h), text.After(h.Word, h.Text)}
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), "; ")
}

// figures are words that begin with a digit.
var figures = regexp.MustCompile(`(^|[\s(<>~])\d[^\s,;:)]*`)

// withoutFigures returns what must differ for a headline to be another one.
func withoutFigures(h diagnose.Headline) diagnose.Headline {
	h.Text = figures.ReplaceAllString(h.Text, "${1}0")
	h.Clock.In, h.Clock.To = 0, 0
	return h
}
