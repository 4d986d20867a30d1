package knowledge

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A Remedy is what to type for one culprit. A culprit is what a rule found at fault, such as a process that is stopped.
// Rules name a culprit and its values, and contain no command.
//
// Commands and texts have placeholders. {pid} is a value that the rule gives, quoted for the shell. Several values
// follow each other; with a flag, as in {-u unit}, the flag comes before each of them. {runtime.restart},
// {kubelet.logs} and similar ones are commands of the node's [Manager] for the runtime's or the kubelet's services.
// {crictl} and {ctr} are these programs with the flags they need to find the runtime. Any other shell construct with
// braces is no placeholder.
type Remedy struct {
	Culprit string
	About   string // what the culprit is, in one sentence
	Source  string
	Steps   []Advice
}

// An Advice is one step of a remedy, as it is in the table.
type Advice struct {
	Look string // a command that reads, and returns within 5 s while the trouble lasts
	Act  string // a command that changes something
	Do   string // what to do if no command does it; exactly one of Look, Act and Do is set
	Text string // what the command shows or does, without a full stop

	When string // when to take the step; empty for always
	// Scope is what a step that acts touches: "pod", "mount", "runtime" or "node".
	Scope string
	// Risk is what may go wrong because of a step that acts; for "none" the table has the reason in a comment.
	Risk string
	Undo string // how to take the step back; empty if that is not possible, or not needed
	// Dumps says that the act makes the runtime write what each of its calls waits for, and ends nothing.
	Dumps bool

	Log []string // texts: {runtime.logsOf} and {kubelet.logsOf} show the lines that have one of them; empty for the texts that the rule gives

	Given   []string // the step is used only if the rule gives all of these values
	Without []string // the step is used only if the rule gives none of these values
	Needs   []string // preconditions by their names in needs.yaml, which become a part of the command
	Only    []string // runtimes by their programs, such as containerd; empty for all
}

// AsksRuntime reports whether the command makes a call to the runtime.
func (a *Advice) AsksRuntime() bool { return strings.Contains(a.Look+a.Act, "{crictl}") }

var remedies = sync.OnceValue(func() map[string]*Remedy {
	all := Remedies()
	by := make(map[string]*Remedy, len(all))
	for i := range all {
		by[all[i].Culprit] = &all[i]
	}
	return by
})

// RemedyFor returns the remedy of a culprit. It panics if there is none; a test checks that every culprit that a rule
// names has one.
func RemedyFor(culprit string) *Remedy {
	r, known := remedies()[culprit]
	if !known {
		panic(fmt.Sprintf("remedies.yaml has no culprit %q", culprit))
	}
	return r
}

// Remedies returns all remedies in the order of their table.
var Remedies = lazy[Remedy]("remedies.yaml")

// A Need is a precondition of a command.
type Need struct {
	Name   string
	Source string
	Test   string // a command with placeholders that exits with 0 if the precondition is met
}

var needs = lazy[Need]("needs.yaml")

// NeedNamed returns a precondition by its name; ok is false for a name that the table does not have.
func NeedNamed(name string) (n Need, ok bool) {
	all := needs()
	if i := slices.IndexFunc(all, func(n Need) bool { return n.Name == name }); i >= 0 {
		return all[i], true
	}
	return n, false
}
