package diagnose

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/waits"
)

// An ID names a kind of finding. It is part of the JSON contract.
type ID string

// Severity says how bad a finding is. The zero value is the mildest.
type Severity uint8

// The severities.
const (
	Info     Severity = iota // worth knowing; nothing to do
	Warning                  // leads to trouble, or is a small trouble itself
	Critical                 // the node is, or will soon be, unhealthy
)

// String returns the word that the JSON contract uses.
func (s Severity) String() string {
	return [...]string{"info", "warning", "critical"}[min(s, Critical)]
}

// A Subject is what a finding is about, if that is one thing. Names are as the runtime gave them, not cleaned.
type Subject struct {
	Operation string `line:"operation,omitempty,raw"` // the name of a CRI method, or empty
	pleg.ObjectRef
}

// ofNoPod reports whether the subject has no pod.
func (s Subject) ofNoPod() bool { return s.Pod == (pleg.PodRef{}) }

// A Finding is one thing that is wrong, or that explains another finding. Texts contain the runtime's own words and are
// not cleaned. A finding that was handed out is never changed.
type Finding struct {
	ID       ID       `line:"id"`
	Severity Severity `line:"severity"`
	Summary  string   `line:"summary"` // one sentence with the figures, without a full stop
	Subject  Subject  `line:"subject"`
	Evidence []string `line:"evidence"`              // lines with figures, the strongest first
	Next     []Step   `line:"next"`                  // safe steps first
	Chain    []Link   `line:"chain,omitempty"`       // from the relist down to what holds all of it up; nil if nothing hangs
	Cause    ID       `line:"cause,omitempty"`       // ID of the finding that explains this one; empty for a root
	CauseKey Key      `line:"-"`                     // tells the cause from others of its kind; zero for a root
	CauseOf  Subject  `line:"causeSubject,omitzero"` // the subject of the cause; zero for a root
	Nodes    []string `line:"nodes,omitempty"`       // the nodes that it is about, by their keys in the graph of [Update.Waits]

	Count   int       `line:"count,omitempty"`   // how many members it has; 0 without Members
	Members []Subject `line:"members,omitempty"` // at most 50; the last lines of Evidence are about them, in the same order
	Since   time.Time `line:"since,omitzero"`    // when the trouble began, as far as the calls show that; zero if they do not
	Brief   string    `line:"-"`                 // a few words that replace those of its kind; empty to use those of its kind
	Group   string    `line:"-"`                 // names the trouble if its subject may change, such as the owner of pods that fail alike; else empty
	Headed  string    `line:"-"`                 // what a headline says about it if it is a warning; empty for the summary
	Store   string    `line:"-"`                 // the name of the runtime's folder that it is about; empty if it is about none
}

// A Link is one part of the chain from a relist that hangs to the thing that holds it up. Each link waits for the next.
type Link struct {
	Kind  waits.Kind `line:"kind"`
	ID    string     `line:"id"`    // of a container, process or goroutine; empty if the name is enough
	Name  string     `line:"name"`  // for people, such as "runc update (10m)"
	Proof string     `line:"proof"` // proof that the link before waits for this one; empty if that is only likely, and for the first link
	Since time.Time  `line:"-"`     // since when it waits; zero if that is not known
	Cut   *Step      `line:"-"`     // the step of the link where it is safest to act; else nil
	Key   string     `line:"-"`     // the key of its node in the graph of [Update.Waits]

	object pleg.ObjectRef // the object that the link is, or is about; zero for none
	inside bool           // it is a goroutine that waits inside the runtime, and nobody knows for what
}

// IsAbout reports whether the finding is about a link of its chain.
func (f Finding) IsAbout(l Link) bool { return slices.Contains(f.Nodes, waits.Key(l.Kind, l.ID)) }

// A Key identifies a finding. Its texts cannot do that, because the figures in them change all the time.
type Key struct {
	ID      ID
	Subject Subject
	Group   string
}

// Key returns the key that tells a finding from all others that hold at the same time. The key stays the same as long
// as the trouble is the same: when a container restarts, and when other pods of a group have the trouble.
func (f Finding) Key() Key {
	if f.Group != "" {
		return Key{ID: f.ID, Group: f.Group}
	}
	return Key{ID: f.ID, Subject: f.Subject}
}

// because sets the cause of a finding. If c has a cause, that is used instead of c.
func (f *Finding) because(c *Finding) {
	f.Cause, f.CauseKey, f.CauseOf = c.ID, c.Key(), c.Subject
	if c.Cause != "" {
		f.Cause, f.CauseKey, f.CauseOf = c.Cause, c.CauseKey, c.CauseOf
	}
}

// isRoot makes a finding a root, by removing its cause.
func (f *Finding) isRoot() { f.Cause, f.CauseKey, f.CauseOf = "", Key{}, Subject{} }

// isOn reports whether a finding is about a node of the graph.
func (f *Finding) isOn(node string) bool { return slices.Contains(f.Nodes, node) }

// named returns the nodes that the summary of a finding names. They are the nodes that the finding is about.
func (f *Finding) named() map[string]bool {
	all := make(map[string]bool, len(f.Nodes))
	for _, key := range f.Nodes {
		all[key] = true
	}
	return all
}
