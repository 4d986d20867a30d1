package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
)

// An Input is all that a diagnosis goes by.
type Input struct {
	Snapshot *engine.Snapshot // must be there
	Evidence *evidence.Report // of the node; nil if nobody looked
	Endpoint string           // of the runtime, for commands; may be empty

	cache *cache // that has taken over the snapshot; nil for none
}

// tells reports whether findings of a kind can be made of a view.
func (v *view) tells(k *kind) bool {
	switch k.needs {
	case nothing:
		return true
	case unpaused:
		return !v.Paused
	default:
		return !v.Paused && !v.listsStale()
	}
}

// listsStale reports whether what the lists showed need not be so any more: they
// hang or fail, or none was made since a pause.
func (v *view) listsStale() bool {
	return v.Health.ListAge(v.At) > v.Policy.Bounds().FreshFor+v.Period || v.Resumed.After(v.Health.ListedAt)
}

// Diagnose returns what is wrong, causes before their effects, the worst cause
// first; nil for a healthy node. While plegtop is paused it says nothing that
// needs a fresh look at the runtime. Equal inputs give equal findings. It does not
// change its input, and may be called from any goroutine.
func Diagnose(in Input) []Finding {
	v := newView(in)
	defer views.Put(v)
	return v.diagnose()
}

func (v *view) diagnose() []Finding {
	var findings []Finding
	for _, k := range kinds {
		if v.tells(k) {
			findings = append(findings, k.find(v)...)
		}
	}
	if len(findings) == 0 {
		return nil
	}
	v.effects(findings)
	findings = explain(findings)
	toRoots(findings)
	v.addNodeWords(findings)
	findings = order(findings)
	v.sayKnown(findings)
	if v.Scope.Whole() {
		withoutCrictl(findings)
	}
	for i := range findings {
		if f := &findings[i]; f.act() == (Step{}) { // its object has no id
			f.Next = append(f.Next, spoken("unnamed"))
		}
	}
	return findings
}

// withoutCrictl leaves out the steps that fail as plegtop's own calls do, where whether they
// do is not the question.
func withoutCrictl(findings []Finding) {
	for i := range findings {
		if f := &findings[i]; f.ID != RuntimeUnresponsive {
			f.Next = slices.DeleteFunc(f.Next, throughCrictl)
			if f.act() == (Step{}) {
				f.Next = append(f.Next, spoken("unanswered"))
			}
		}
	}
}

// throughCrictl reports whether a step takes a call of the runtime's.
func throughCrictl(s Step) bool { return strings.Contains(s.Command, "crictl ") }

// explain drops what only repeats another finding, and gives each one that another
// one explains its cause: the one at the root of it.
func explain(findings []Finding) []Finding {
	for _, k := range kinds {
		if k.replaces != "" && has(findings, k.id) {
			findings = slices.DeleteFunc(findings, func(f Finding) bool { return f.ID == k.replaces })
		}
	}
	for _, k := range kinds { // causes of causes come first
		for i := range findings {
			if c := &findings[i]; k.is != 0 && c.ID == k.id {
				k.accountFor(c, findings)
			}
		}
	}
	return findings
}

// accountFor makes a finding of a kind the cause of those that it explains.
func (k *kind) accountFor(c *Finding, findings []Finding) {
	for i := range findings {
		f := &findings[i]
		if k.is&(stands|limits) != 0 && f.leadsOn() {
			continue
		}
		if of := kindOf(f.ID); f.Cause == "" && k.is&of.because != 0 && k.rank < of.rank && accountsFor(c, f, of) {
			f.because(c)
		}
	}
}

// toRoots gives each effect of an effect the cause of that: the graph and what rules explain
// may each know a part of the way. A cause that is not there explains nothing, and neither does
// one that the finding itself explains.
func toRoots(findings []Finding) {
	changed := true
	for n := 0; changed && n <= len(findings); n++ {
		changed = false
		for i := range findings {
			f := &findings[i]
			if f.Cause == "" {
				continue
			}
			switch j := slices.IndexFunc(findings, func(c Finding) bool { return c.Key() == f.CauseKey }); {
			case j < 0 || findings[j].CauseKey == f.Key():
				f.noCause()
			case findings[j].Cause != "":
				f.because(&findings[j])
				changed = true
			}
		}
	}
}

// accountsFor reports whether a finding is a cause of another one of a kind, which its own
// explains. Nothing milder is, nor what is about another pod, nor what is about one pod
// of what the whole runtime does, nor a disk or a file system that the runtime may not use. That Status or Version alone fails explains nothing
// about lists, and a list that fails with words of its own needs no explanation by
// another call. Where only the socket is lost, calls are answered; and a ghost is of its pod alone.
func accountsFor(c, f *Finding, of *kind) bool {
	pods := c.Subject.Pod != f.Subject.Pod && !c.Subject.none() && !f.Subject.none()
	status := (c.Subject.Operation == "Status" || c.Subject.Operation == "Version") && of.because&delays != 0
	own := of.is&unhealthy != 0 && f.Subject.Operation != "" && c.Subject.Operation != ""
	one := of.whole && !c.Subject.none() || strings.HasSuffix(c.Group, ofDiskBelow) || c.Group == ofUnserved
	lost := c.Group == ofSocket || f.Group == ofSocket || c.ID == GhostRunning && f.Subject.none()
	return c.Severity >= f.Severity && c.Severity > Info && !pods && !status && !own && !one && !lost
}

func has(findings []Finding, id ID) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.ID == id })
}

// order sorts findings: causes before effects, the worst first, then by rank;
// what one rule found keeps the order that it has.
func order(findings []Finding) []Finding {
	effect := func(f Finding) int { return min(len(f.Cause), 1) }
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(effect(a), effect(b)), cmp.Compare(b.Severity, a.Severity), cmp.Compare(kindOf(a.ID).rank, kindOf(b.ID).rank))
	})
	return findings
}
