package lines

import (
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/wording"
)

// A linkObject is one link of a finding's chain.
type linkObject struct {
	Kind  string `json:"kind"`
	ID    string `json:"id"`
	Name  string `json:"name"`
	Proof string `json:"proof"` // empty if it is only likely, and of the first
}

func newChain(chain []diagnose.Link) (all []linkObject) {
	for _, l := range chain {
		all = append(all, linkObject{string(l.Kind), text.Clean(l.ID), text.Clean(l.Name), text.Clean(l.Proof)})
	}
	return all
}

// A helperObject is a process that does one thing for the runtime.
type helperObject struct {
	PID       int     `json:"pid"`
	Parent    int     `json:"parent"`
	Command   string  `json:"command"`
	Verb      string  `json:"verb,omitempty"`
	Container string  `json:"containerId,omitempty"`
	Namespace string  `json:"namespace,omitempty"`
	Pod       string  `json:"pod,omitempty"`
	Age       float64 `json:"ageSeconds"`
	State     string  `json:"state"`
	WaitsIn   string  `json:"waitsIn,omitempty"` // the kernel's function
}

// helpersMost is how many of them the JSON has: a runtime that starts a node's pods
// has one for each.
const helpersMost = 100

func newHelpers(of []evidence.Process) (all []helperObject) {
	for _, p := range of[:min(len(of), helpersMost)] {
		all = append(all, helperObject{
			p.PID, p.Parent, text.Clean(p.Command), text.Clean(p.Verb), text.Clean(p.Container), text.Clean(p.Pod.Namespace), text.Clean(p.Pod.Name),
			p.Age.Seconds(), text.Clean(p.State.String()), text.Clean(p.Wchan),
		})
	}
	return all
}

// A sourceObject is one of what is read only where something hangs, and how that went.
type sourceObject struct {
	Name        string   `json:"name"`
	From        string   `json:"from,omitempty"`
	TookSeconds float64  `json:"tookSeconds"`
	Bytes       int64    `json:"bytes"`
	Missing     string   `json:"missing,omitempty"` // why there is nothing
	Partial     string   `json:"partial,omitempty"` // why it is not all
	Lines       []string `json:"lines"`             // the first of what it gave
}

func newSources(r *evidence.Report) (all []sourceObject) {
	if r.Deep == nil {
		return nil
	}
	for _, s := range wording.Sources(r) {
		o := sourceObject{s.Name, text.Clean(s.From), s.Took.Seconds(), s.Bytes, text.Clean(s.Missing), text.Clean(s.Partial), make([]string, len(s.Lines))}
		for i, line := range s.Lines {
			o.Lines[i] = text.Clean(line)
		}
		all = append(all, o)
	}
	return all
}

// A flightObject is how many calls of a method the runtime has not ended, whoever asked.
type flightObject struct {
	Method string  `json:"method"`
	Count  int     `json:"count"`
	For    float64 `json:"forSeconds"` // at least
}

func newFlights(d *evidence.Deep) (all []flightObject) {
	if d == nil {
		return nil
	}
	for _, c := range d.Calls.InFlight {
		all = append(all, flightObject{text.Clean(c.Method), c.Count, c.For.Seconds()})
	}
	return all
}
