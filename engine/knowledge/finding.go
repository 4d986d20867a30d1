package knowledge

import (
	"fmt"
	"sync"
)

// A Finding is one kind of finding: what it means, and the sentences and steps that a match of its rule gets.
//
// In a sentence {name} is a value that the rule gives. A part in brackets is left out if a value in it is not
// known, and a line of evidence if a value outside of brackets is not known.
type Finding struct {
	ID         string
	Severity   string // in plain words, for docs/findings.md
	When       string // the same: when plegtop reports it
	Scenario   string // the same: what brings it up
	Means      string // what is so, and what it does to the node
	Cause      string // where it mostly comes from
	Background string // what helps to understand it; empty for nothing
	Culprits   []string
	Source     string

	Pod     string   // what the list of pods says of its pods, in a few words; empty for nothing
	State   string   // the state of its pods in one word, if only this finding knows it; else empty
	Because []string // kinds that explain it
	Hides   []string // kinds that would only repeat it
	Node    []string // what the node itself says of it: calls, kernel, runtime-units, kubelet-units, units, deprecated
	Kernel  []string // which lines of the kernel count: disk, device, runtime-killed, any-runtime-killed, kubelet-killed, memory-killed

	Summary  string   // of the variant without a name
	Several  string   // the same for one finding about several pods
	Evidence []string // lines, or names of lines that the rule or the package gives
	Steps    []string // culprits of remedies.yaml, or +names of steps that the rule or the package gives
	Variants map[string]Variant

	Member string // the line of one of several
	Rest   string // the summary for those that are too many for a finding each
	RestOf string `yaml:"restOf"` // the culprit of those; empty for none
}

// A Variant is how one case of a finding is said. What it leaves out is as in the finding.
type Variant struct {
	Summary  string
	Several  string
	Evidence []string
	Steps    []string
}

// Findings returns all of them, in the order of their table.
var Findings = lazy[Finding]("findings.yaml")

var findingsByID = sync.OnceValue(func() map[string]*Finding {
	all := Findings()
	by := make(map[string]*Finding, len(all))
	for i := range all {
		by[all[i].ID] = &all[i]
	}
	return by
})

// FindingOf returns the row of a kind. Each rule has one, which a test holds. For a kind that nobody knows it
// returns an empty row.
func FindingOf(id string) *Finding {
	if f, known := findingsByID()[id]; known {
		return f
	}
	return &Finding{}
}

// Variant returns how a case is said; "" is the case without a name. A name that the row does not have is a panic: a
// test plays all of them.
func (f *Finding) Variant(name string) Variant {
	v := Variant{f.Summary, f.Several, f.Evidence, f.Steps}
	if name == "" {
		return v
	}
	own, known := f.Variants[name]
	if !known {
		panic(fmt.Sprintf("findings.yaml: %s has no variant %q", f.ID, name))
	}
	if own.Summary != "" {
		v.Summary, v.Several = own.Summary, own.Several
	}
	if own.Evidence != nil {
		v.Evidence = own.Evidence
	}
	if own.Steps != nil {
		v.Steps = own.Steps
	}
	return v
}

// lines has the sentences that several findings use.
var lines = sync.OnceValue(func() map[string]string {
	by := make(map[string]string)
	for _, l := range rows[sentenceRow]("lines.yaml") {
		by[l.Name] = l.Says
	}
	return by
})

// Line returns a sentence of lines.yaml by its name. A name that the table does not have is a panic.
func Line(name string) string {
	l, known := lines()[name]
	if !known {
		panic(fmt.Sprintf("lines.yaml has no line %q", name))
	}
	return l
}

// A sentenceRow is a sentence that several findings use. Its words are ours, so it has no source.
type sentenceRow struct{ Name, Says string }
