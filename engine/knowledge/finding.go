package knowledge

import (
	"fmt"
	"sync"
)

// A Finding is one kind of finding: what it means, and the sentences and steps that a match of its rule gets.
//
// In a sentence {name} is a value that the rule gives. A part in brackets is left out if a value in it is not known. A
// line of evidence is left out if a value outside of brackets is not known.
type Finding struct {
	ID         string
	Severity   string // in plain words, for docs/findings.md
	When       string // for docs/findings.md: when plegtop reports it
	Scenario   string // for docs/findings.md: what causes it in a test
	Means      string // what is wrong, and what that does to the node
	Cause      string // where it mostly comes from
	Background string // what helps to understand it; empty if nothing does
	Culprits   []string
	Source     string

	Pod     string   // a few words for its pods in the list of pods; empty for none
	State   string   // the state of its pods in one word, if only this finding knows it; else empty
	Because []string // kinds that explain it
	Hides   []string // kinds that would only repeat this one
	Node    []string // lines that the node itself shows about it: calls, kernel, runtime-units, kubelet-units, units, deprecated
	Kernel  []string // which lines of the kernel count: disk, device, runtime-killed, any-runtime-killed, kubelet-killed, memory-killed

	Summary  string   // of the variant without a name
	Several  string   // summary of the variant without a name, for one finding about several pods
	Evidence []string // lines, or names of lines that the rule or the package gives
	Steps    []string // culprits of remedies.yaml, or +names of steps that the rule or the package gives
	Variants map[string]Variant

	Member string // the line of each member, if there are several
	Rest   string // the summary for all matches that are too many to get a finding each
	RestOf string `yaml:"restOf"` // the culprit of Rest; empty for none
}

// A Variant has the sentences and steps for one case of a finding. For a field that is empty, the finding's own counts.
type Variant struct {
	Summary  string
	Several  string
	Evidence []string
	Steps    []string
}

// Findings returns all kinds of findings, in the order of their table.
var Findings = lazy[Finding]("findings.yaml")

var findingsByID = sync.OnceValue(func() map[string]*Finding {
	all := Findings()
	by := make(map[string]*Finding, len(all))
	for i := range all {
		by[all[i].ID] = &all[i]
	}
	return by
})

// FindingOf returns the row of a kind. Each rule has one, and a test checks that. For an unknown kind it returns an
// empty row.
func FindingOf(id string) *Finding {
	if f, known := findingsByID()[id]; known {
		return f
	}
	return &Finding{}
}

// Variant returns the sentences and steps of a case; "" is the case without a name. It panics if the row does not have
// the name; a test plays all names.
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

// lines returns the sentences that several findings use, by name.
var lines = sync.OnceValue(func() map[string]string {
	by := make(map[string]string)
	for _, l := range rows[sentenceRow]("lines.yaml") {
		by[l.Name] = l.Says
	}
	return by
})

// Line returns a sentence of lines.yaml by its name. It panics if the table does not have the name.
func Line(name string) string {
	l, known := lines()[name]
	if !known {
		panic(fmt.Sprintf("lines.yaml has no line %q", name))
	}
	return l
}

// A sentenceRow is a sentence that several findings use. Its words are ours, so it has no source.
type sentenceRow struct{ Name, Says string }
