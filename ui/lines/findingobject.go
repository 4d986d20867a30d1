package lines

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/finding"
	"github.com/plegtop/plegtop/ui/text"
)

// A findingObject is a finding in the JSON of check and watch. Its texts are
// cleaned, the names in its subject are the runtime's own.
type findingObject struct {
	ID       string         `json:"id"`
	Severity string         `json:"severity"`
	Summary  string         `json:"summary"`
	Subject  subjectObject  `json:"subject"`
	Evidence []string       `json:"evidence"`
	Next     []string       `json:"next"`
	Chain    []linkObject   `json:"chain,omitempty"`        // from a relist that hangs to what holds it up
	Cause    string         `json:"cause,omitempty"`        // the id of the finding that explains this one
	CauseOf  *subjectObject `json:"causeSubject,omitempty"` // and the subject of that one
	Nodes    []string       `json:"nodes,omitempty"`        // what it is about, by the keys of the nodes of waits

	Count   int             `json:"count,omitempty"`   // of all whom it is about, if it is about several
	Members []subjectObject `json:"members,omitempty"` // those of them that are named
	Since   *time.Time      `json:"since,omitempty"`   // when the trouble began, as far as that is known
}

type subjectObject struct {
	Operation   string `json:"operation,omitempty"`
	Namespace   string `json:"namespace,omitempty"`
	Pod         string `json:"pod,omitempty"`
	UID         string `json:"uid,omitempty"`
	Container   string `json:"container,omitempty"`
	ContainerID string `json:"containerId,omitempty"`
}

func newSubject(s diagnose.Subject) subjectObject {
	return subjectObject{s.Operation, s.Pod.Namespace, s.Pod.Name, string(s.Pod.UID), s.Container, s.ID}
}

func newFindingObject(f diagnose.Finding) findingObject {
	o := findingObject{
		ID: string(f.ID), Severity: f.Severity.String(), Summary: text.Clean(f.Summary), Cause: string(f.Cause),
		Subject:  newSubject(f.Subject),
		Evidence: make([]string, len(f.Evidence)),
		Next:     make([]string, len(f.Next)),
		Chain:    newChain(f.Chain),
		Count:    f.Count, Since: instant(f.Since),
	}
	if by := f.CauseOf; by != (diagnose.Subject{}) {
		subject := newSubject(by)
		o.CauseOf = &subject
	}
	for _, node := range f.Nodes {
		o.Nodes = append(o.Nodes, text.Clean(node))
	}
	for _, m := range f.Members {
		o.Members = append(o.Members, newSubject(m))
	}
	for i, line := range f.Evidence {
		o.Evidence[i] = text.Clean(line)
	}
	for i, step := range f.Next {
		o.Next[i] = text.Clean(step.String())
	}
	return o
}

// A headlineObject is the headline in the JSON of check and watch.
type headlineObject struct {
	Word     string       `json:"word"`
	Severity string       `json:"severity"`
	Text     string       `json:"text"`
	Clock    *clockObject `json:"clock,omitempty"` // absent if nothing is to come
}

type clockObject struct {
	What      string  `json:"what"`
	InSeconds float64 `json:"inSeconds"`           // at the soonest
	ToSeconds float64 `json:"toSeconds,omitempty"` // at the latest; absent where the moment is known
}

func newHeadlineObject(h diagnose.Headline) headlineObject {
	o := headlineObject{Word: text.Clean(h.Word), Severity: h.Severity.String(), Text: text.Clean(h.Text)}
	if h.Clock.What != "" {
		o.Clock = &clockObject{What: text.Clean(h.Clock.What), InSeconds: max(0, h.Clock.In.Seconds())}
		if h.Clock.To > h.Clock.In {
			o.Clock.ToSeconds = h.Clock.To.Seconds()
		}
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
	h.Clock.In, h.Clock.To = 0, 0
	return h
}
