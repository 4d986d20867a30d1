package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/waits"
)

// An Answer is what a person needs first about the worst thing that is wrong: who waits for whom, what checks it, and
// what ends it. Every view shows it below the headline.
type Answer struct {
	Finding        // the finding at the root of the worst one; its ID is empty if nothing is wrong
	Chain   []Link // from the kubelet's relist if a chain leads from there, else the finding's own chain
	Check   Step   // a step that changes nothing, and shows whether the end of the chain is right; zero if there is none
	Act     Step   // a step that ends it, or says in words what to do if no command does; zero if there is none
}

// Answer returns the answer to what is wrong at the time of the update. It is safe for concurrent use.
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
		} else if u.Headline.ofPart && ruleOf(f.ID).App { // the headline is about something that is no finding yet
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

// headed returns the finding that the headline is about, and whether it is over. It returns a finding without an ID if
// there is no finding of that ID, among those that hold and those that have ended.
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

// Affected returns how many pods the critical findings are about, and names a few of them. If they are about no pod, it
// returns all pods of the node. It is empty if nothing is critical.
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

// RootCause returns the finding at the root of the worst of all. all must not be empty.
func RootCause(all []Finding) Finding {
	of := Worst(all)
	f := all[slices.IndexFunc(all, func(f Finding) bool { return f.Severity == of })]
	if i := slices.IndexFunc(all, func(c Finding) bool { return c.Key() == f.CauseKey }); i >= 0 {
		return all[i]
	}
	return f
}

// check returns the safe step that looks at the process nearest to the end of the chain. If there is none, it returns
// the first safe step; zero if no step is safe.
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

// names reports whether the number of a process is a word of a command.
func names(command, pid string) bool {
	words := strings.FieldsFunc(command, func(r rune) bool { return r < '0' || r > '9' })
	return pid != "" && slices.Contains(words, pid)
}

// act returns the step that cuts the chain. If there is none, it returns the first step that ends the finding, by a
// command or in words; zero if there is none.
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

// ChainParts returns a chain in parts. It leaves out a container that an earlier link has named, and the goroutine that
// answers a call if that only waits for the next link: "relist", "ListContainers", "status lock of pay/api-7d", "shim
// 4711", "runc update (10m)", "D in nfs4_do_setattr, server 10.0.0.9:/vol", "mount /data".
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
