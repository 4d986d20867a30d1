package diagnose

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/waits"
)

// Severity says how bad a finding is. The zero value is the mildest.
type Severity uint8

const (
	Info     Severity = iota // worth knowing; nothing to do
	Warning                  // leads to trouble, or is a small one
	Critical                 // the node is, or will soon be, unhealthy
)

// String returns the word of the JSON contract.
func (s Severity) String() string {
	return [...]string{"info", "warning", "critical"}[min(s, Critical)]
}

// A Subject is what a finding is about, as far as it is about one thing. Names
// are as the runtime gave them, not cleaned.
type Subject struct {
	Operation string `line:"operation,omitempty,raw"` // a CRI method's name, or empty
	pleg.ObjectRef
}

func (s Subject) none() bool { return s.Pod == (pleg.PodRef{}) }

// asking returns the subject of a finding about a call.
func asking(f call.Flight) Subject { return Subject{f.Op.String(), f.Object()} }

// A problem is what a finding is about, alone or as one of several.
type problem interface{ subject() Subject }

// A Finding is one thing that is wrong, or that explains another. Texts hold
// what the runtime said word for word and are not cleaned.
type Finding struct {
	ID       ID       `line:"id"`
	Severity Severity `line:"severity"`
	Summary  string   `line:"summary"` // one sentence with the figures, without a full stop
	Subject  Subject  `line:"subject"`
	Evidence []string `line:"evidence"`              // lines with figures, the strongest first
	Next     []Step   `line:"next"`                  // the safe first
	Chain    []Link   `line:"chain,omitempty"`       // from the kubelet's relist down to what holds it all up; nil where nothing hangs
	Cause    ID       `line:"cause,omitempty"`       // of another finding that explains this one; empty for a cause
	CauseKey Key      `line:"-"`                     // tells that one from others of its kind; zero for a cause
	CauseOf  Subject  `line:"causeSubject,omitzero"` // what that one is about, the first of several; zero for a cause
	Nodes    []string `line:"nodes,omitempty"`       // what it is about, by the keys of the graph of [Update.Waits]; nil if that is not in it

	Count   int       `line:"count,omitempty"`   // of all whom it is about; 0 for what has no Members
	Members []Subject `line:"members,omitempty"` // whom it is about if it is about several, at most 50; the last lines of Evidence are theirs, in the same order
	Since   time.Time `line:"since,omitzero"`    // when the trouble began, as far as the calls tell; zero if they do not
	Brief   string    `line:"-"`                 // what it is in a few words, where its kind has other ones; else empty
	Group   string    `line:"-"`                 // what the trouble is known by where the subject may change: the owner of pods that fail alike and how, or a resource; else empty
}

// IsAbout reports whether a link of its chain is what the finding is about: that holds
// itself up.
func (f Finding) IsAbout(l Link) bool { return slices.Contains(f.Nodes, waits.Key(l.Kind, l.ID)) }

// A Link is one part of the chain from a relist that hangs to what holds it up. Each
// waits for the next.
type Link struct {
	Kind  waits.Kind `line:"kind"`
	ID    string     `line:"id"`    // of a container, process, goroutine; empty where the name says it all
	Name  string     `line:"name"`  // for people, such as "runc update (10m)"
	Proof string     `line:"proof"` // that the link before waits for this one; empty if that is only likely, and of the first
	Since time.Time  `line:"-"`     // since when it is so; zero where that is not known
	Cut   *Step      `line:"-"`     // the safest place to act has one; else nil
}

// A Key tells findings apart: figures in their texts change all the time.
type Key struct {
	ID      ID
	Subject Subject
	Group   string
}

// Key returns what tells a finding from all others that hold at the same time. It
// stays the same for as long as the trouble is the same: over the restarts of a
// container, and whichever pods of a group have it.
func (f Finding) Key() Key {
	if f.Group != "" {
		return Key{ID: f.ID, Group: f.Group}
	}
	return Key{ID: f.ID, Subject: f.Subject}
}

// say adds lines of evidence. One that is empty, since there was nothing to say, is
// left out.
func (f *Finding) say(all ...string) {
	for _, line := range all {
		if line != "" {
			f.Evidence = append(f.Evidence, line)
		}
	}
}

func (f *Finding) sayBeforeMembers(all ...string) {
	f.Evidence = slices.Insert(f.Evidence, len(f.Evidence)-len(f.Members), all...)
}

// sayFirst adds a line for each of the first few, and how many more there are.
func sayFirst[T any](f *Finding, all []T, most int, noun string, line func(T) string) {
	for _, one := range all[:min(len(all), most)] {
		f.say(line(one))
	}
	if n := len(all) - most; n > 0 {
		f.say("and " + count(n, noun) + " more")
	}
}

// about names those that a finding is about, each with a line of evidence.
func about[T problem](f Finding, all []T, line func(T) string) Finding {
	f.Count = len(all)
	for _, one := range all[:min(len(all), membersMost)] {
		f.Members, f.Evidence = append(f.Members, one.subject()), append(f.Evidence, line(one))
	}
	return f
}

// oneEach returns a finding for each of the first few, and one for the rest.
func oneEach[T any](all []T, most int, one func(T) Finding, rest func([]T) Finding) (findings []Finding) {
	for _, o := range all[:min(len(all), most)] {
		findings = append(findings, one(o))
	}
	if left := all[len(findings):]; len(left) > 0 {
		findings = append(findings, rest(left))
	}
	return findings
}

// restOf returns one finding about all that are too many to be told one by one.
func restOf[T problem](id ID, summary string, next []Step, rest []T, line func(T) string) Finding {
	if !slices.ContainsFunc(next, Step.acts) {
		next = append(next, spoken("rest"))
	}
	return about(Finding{ID: id, Severity: Warning, Summary: summary, Next: next}, rest, line)
}
