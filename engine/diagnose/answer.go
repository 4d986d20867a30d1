package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/waits"
)

// An Answer is what a person needs first about the worst that is wrong: who waits for whom,
// what checks it, and what ends it. Every view shows it below the headline.
type Answer struct {
	Finding        // at the root of the worst; its ID is empty where nothing is wrong
	Chain   []Link // from the kubelet's relist where one leads there, else the finding's own
	Check   Step   // changes nothing, and shows whether the end of the chain is right; zero if there is none
	Act     Step   // ends it, or says in words what to do where no command does; zero if there is none
}

// Answer returns the answer to what is wrong as of the update. It is safe for concurrent use.
func (u Update) Answer() Answer {
	if len(u.Findings) == 0 {
		return Answer{}
	}
	f := RootCause(u.Findings)
	if f.Severity < Critical {
		if by, over := u.headed(); over {
			return Answer{Finding: by, Check: by.check(), Act: inWords("over")}
		} else if by.ID != "" {
			f = by
		} else if u.Headline.ofPart && ruleOf(f.ID).App { // what the headline speaks of is no finding yet
			return Answer{}
		}
	}
	a := Answer{Finding: f, Chain: f.Chain, Check: f.check(), Act: f.act()}
	for _, effect := range u.Findings {
		if effect.CauseKey == f.Key() && len(effect.Chain) > len(a.Chain) && effect.Chain[0].Kind == waits.Relist {
			a.Chain = effect.Chain
		}
	}
	return a
}

// headed returns the finding that the headline speaks of, and whether it is over; one without an
// ID where the worst that holds says all of it.
func (u Update) headed() (f Finding, over bool) {
	id := u.Headline.about
	if i := slices.IndexFunc(u.Findings, func(f Finding) bool { return f.ID == id }); i >= 0 {
		return u.Findings[i], false
	}
	if i := slices.IndexFunc(u.Ended, func(e Ended) bool { return e.ID == id }); i >= 0 {
		return u.Ended[i].Finding, true
	}
	return Finding{}, false
}

// Affected says which pods the critical findings are about, a few by name; all of the node
// where they are about none. It is empty where nothing is critical.
func (u Update) Affected() string {
	if Worst(u.Findings) < Critical {
		return ""
	}
	var pods []string
	for _, f := range u.Findings {
		for _, s := range append(slices.Clip(f.Members), f.Subject) {
			if name := s.Pod.String(); f.Severity == Critical && !s.ofNoPod() && !slices.Contains(pods, name) {
				pods = append(pods, name)
			}
		}
	}
	all := "all pods of the node"
	if n := u.Snapshot.Counts.Pods; n > 0 && len(pods) > 0 {
		all = fmt.Sprintf("%d of %s", len(pods), count(n, "pod"))
	} else if n > 0 {
		all = "all " + count(n, "pod")
	} else if len(pods) > 0 {
		all = count(len(pods), "pod") + " at least"
	}
	return join(append([]string{all}, pods[:min(len(pods), affectedMost)]...))
}

// affectedMost is how many pods are named as affected.
const affectedMost = 3

// RootCause returns what is at the root of the worst of all, which must hold one at least.
func RootCause(all []Finding) Finding {
	of := Worst(all)
	f := all[slices.IndexFunc(all, func(f Finding) bool { return f.Severity == of })]
	if i := slices.IndexFunc(all, func(c Finding) bool { return c.Key() == f.CauseKey }); i >= 0 {
		return all[i]
	}
	return f
}

// check returns the safe step that looks at the process nearest to the end of the chain, else
// the first safe one.
func (f *Finding) check() Step {
	for _, l := range slices.Backward(f.Chain) {
		if l.Kind != waits.Process && l.Kind != waits.Helper && l.Kind != waits.Shim {
			continue
		}
		if i := slices.IndexFunc(f.Next, func(s Step) bool { return s.Looks() && names(s.Command, l.ID) }); i >= 0 {
			return f.Next[i]
		}
	}
	if i := slices.IndexFunc(f.Next, func(s Step) bool { return s.Looks() || s.Dumps() }); i >= 0 {
		return f.Next[i]
	}
	return Step{}
}

// names reports whether a command has a process's number as a word.
func names(command, pid string) bool {
	words := strings.FieldsFunc(command, func(r rune) bool { return r < '0' || r > '9' })
	return pid != "" && slices.Contains(words, pid)
}

// act returns what cuts the chain, else the first step that ends it, by a command or in words.
func (f *Finding) act() Step {
	for _, l := range f.Chain {
		if l.Cut != nil {
			return *l.Cut
		}
	}
	step, _ := firstAct(f.Next)
	return step
}

// A ChainPart is a part of a chain in one line.
type ChainPart struct {
	Link
	Text   string // not cleaned
	Likely bool   // it is not proven that the part before waits for this one
}

// ChainParts returns a chain in parts, without a link that the one before it has named, and without
// the goroutine that answers a call where that only waits for what comes next: "relist",
// "ListContainers", "status lock of pay/api-7d", "shim 4711", "runc update (10m)", "D in
// nfs4_do_setattr, server 10.0.0.9:/vol", "mount /data".
func ChainParts(links []Link) []ChainPart {
	var all []ChainPart
	for i, l := range links {
		named := slices.ContainsFunc(links[:i], func(before Link) bool { return before.object == l.object })
		switch {
		case l.Kind == waits.Container && named, i > 0 && i < len(links)-1 && links[i-1].Kind == waits.Call && l.inside:
		case l.Kind == waits.Server && i > 0 && links[i-1].Kind == waits.Kernel:
			last := &all[len(all)-1]
			last.Text += ", " + l.Name
			last.Cut = cmp.Or(last.Cut, l.Cut)
		default:
			all = append(all, ChainPart{l, l.Name, i > 0 && l.Proof == ""})
		}
	}
	return all
}

// ChainLine returns a chain in one line, its parts joined by arrows. A part that is not
// proven is called likely. It is empty for no links.
func ChainLine(links []Link) string {
	var b strings.Builder
	for i, p := range ChainParts(links) {
		if i > 0 {
			b.WriteString(" -> ")
		}
		if p.Likely {
			b.WriteString("likely ")
		}
		b.WriteString(p.Text)
	}
	return b.String()
}
