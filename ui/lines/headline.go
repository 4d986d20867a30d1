package lines

import (
	"regexp"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/finding"
	"github.com/plegtop/plegtop/ui/text"
)

// A headlineObject is the headline in the JSON of check and watch.
type headlineObject struct {
	Word     string       `json:"word"`
	Severity string       `json:"severity"`
	Text     string       `json:"text"`
	Clock    *clockObject `json:"clock,omitempty"` // absent if nothing is to come
}

type clockObject struct {
	What      string  `json:"what"`
	InSeconds float64 `json:"inSeconds"`
}

func newHeadlineObject(h diagnose.Headline) headlineObject {
	o := headlineObject{Word: text.Clean(h.Word), Severity: h.Severity.String(), Text: text.Clean(h.Text)}
	if h.Clock.What != "" {
		o.Clock = &clockObject{text.Clean(h.Clock.What), max(0, h.Clock.In.Seconds())}
	}
	return o
}

// clauses joins what a headline says beside its word.
func clauses(h diagnose.Headline) string {
	all := []string{text.After(h.Word, h.Text), finding.Countdown(h)}
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), "; ")
}

// figures are words that begin with a digit.
var figures = regexp.MustCompile(`(^|[\s(<>~])\d[^\s,;:)]*`)

// withoutFigures returns what must differ for a headline to be another one.
func withoutFigures(h diagnose.Headline) diagnose.Headline {
	h.Text = figures.ReplaceAllString(h.Text, "${1}0")
	h.Clock.In = 0
	return h
}
