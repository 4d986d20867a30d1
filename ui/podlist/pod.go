package podlist

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/wording"
)

// A Pod is what is shown of one pod, worked out when it changed. Texts in it are not
// cleaned.
type Pod struct {
	Pod  *engine.Pod
	Seen *pleg.Pod    // what the runtime listed last of it
	Out  *call.Flight // the call about it that hangs, or nil

	Trouble  diagnose.Trouble
	State    State
	Problem  string // in a few words; empty if nothing is wrong
	Running  int    // containers that run
	Wanted   int    // containers that are there to run: all but those that ended well
	Restarts uint32 // of the container that was restarted most
	Exit     int32  // of the container that ended last, if HasExit
	HasExit  bool
	Created  time.Time // of its first sandbox, or else container; zero where the runtime does not say
	Remark   string    // why a container ended, or what fails: from the runtime

	Now  []*pleg.Container             // the newest of each name, in the order of their names
	Dead map[string]ledger.UnseenDeath // who of it has died, though the runtime listed last that they run, by id; nil for nobody

	rank     uint8
	asked    int  // the filter that was asked last
	passed   bool // what it said
	statuses pleg.Lookup
	parts    []Part
}

// New works out what is shown of p, about which a call hangs unless out is nil.
func New(p *engine.Pod, out *call.Flight, t diagnose.Trouble) *Pod { return newPod(p, out, t, nil) }

// newPod is New where event sources have seen some of the node die.
func newPod(p *engine.Pod, out *call.Flight, t diagnose.Trouble, dead *ledger.Dead) *Pod {
	f := &Pod{Pod: p, Seen: p.Seen(), Out: out, Trouble: t, Problem: t.Text, statuses: p.Status.Lookup()}
	f.Dead = diedIn(f.Seen, dead)
	switch {
	case out != nil:
		f.Problem = out.Op.String() + " hangs"
	case f.Dead != nil && t.Text == "":
		f.Problem = DiedUnseen
	}
	f.newest()
	f.count()
	f.State = f.classify()
	f.Remark = f.explain()
	f.rank = f.rankOf()
	return f
}

// DiedUnseen is what is wrong with who has died, as only an event source saw.
const DiedUnseen = "died unseen"

// diedIn returns those of a pod who have died, though it was listed last that they run.
func diedIn(p *pleg.Pod, dead *ledger.Dead) (of map[string]ledger.UnseenDeath) {
	note := func(id string, listed pleg.State) {
		if death := dead.Of(id); death != nil && listed != pleg.Exited {
			if of == nil {
				of = make(map[string]ledger.UnseenDeath)
			}
			of[id] = *death
		}
	}
	if dead == nil {
		return nil
	}
	for i := range p.Sandboxes {
		note(p.Sandboxes[i].ID, p.Sandboxes[i].State)
	}
	for i := range p.Containers {
		note(p.Containers[i].ID, p.Containers[i].State)
	}
	return of
}

// died reports whether c has died, as only an event source saw.
func (p *Pod) died(c *pleg.Container) bool {
	_, died := p.Dead[c.ID]
	return died
}

// newest finds the newest container of each name, and how old the pod is.
func (p *Pod) newest() {
	of := make(map[string]int)
	for i := range p.Seen.Containers {
		c := &p.Seen.Containers[i]
		p.Restarts = max(p.Restarts, c.Attempt)
		switch at, known := of[c.Name]; {
		case !known:
			of[c.Name] = len(p.Now)
			p.Now = append(p.Now, c)
		case newer(c, p.Now[at]) < 0:
			p.Now[at] = c
		}
	}
	slices.SortFunc(p.Now, func(a, b *pleg.Container) int { return strings.Compare(a.Name, b.Name) })
	for i := range p.Seen.Sandboxes {
		p.older(p.Seen.Sandboxes[i].CreatedAt)
	}
	if !p.Created.IsZero() {
		return
	}
	for i := range p.Seen.Containers {
		p.older(p.Seen.Containers[i].CreatedAt)
	}
}

// older takes in when a part of the pod was made.
func (p *Pod) older(made time.Time) {
	if !made.IsZero() && (p.Created.IsZero() || made.Before(p.Created)) {
		p.Created = made
	}
}

// newer is the order of containers of one name, the newest first.
func newer(a, b *pleg.Container) int {
	return cmp.Or(cmp.Compare(b.Attempt, a.Attempt), b.CreatedAt.Compare(a.CreatedAt), strings.Compare(a.ID, b.ID))
}

func (p *Pod) count() {
	var ended time.Time
	for _, c := range p.Now {
		st := p.end(c)
		switch {
		case p.died(c):
			p.Wanted++
		case c.State == pleg.Running:
			p.Running++
			p.Wanted++
		case st == nil || st.ExitCode != 0:
			p.Wanted++
		}
		if st != nil && !st.FinishedAt.Before(ended) {
			p.Exit, p.HasExit, ended = st.ExitCode, true, st.FinishedAt
		}
	}
	if p.Running == 0 && p.Wanted == 0 {
		p.Wanted = len(p.Now)
	}
}

// explain returns the text that says most about what is wrong. Of a pod with one
// container that is not named: it is clear which.
func (p *Pod) explain() string {
	of := func(container, what string) string {
		if container == "" || len(p.Now) < 2 {
			return what
		}
		return container + ": " + what
	}
	switch {
	case p.Out != nil:
		return of(p.Out.Container, p.Problem)
	case p.Pod.StatusErr != nil:
		return wording.Reason(p.Pod.StatusErr)
	case p.State == Dead:
		if i := slices.IndexFunc(p.Now, p.died); i >= 0 && len(p.Dead) == 1 {
			return of(p.Now[i].Name, DiedUnseen)
		}
		return DiedUnseen
	}
	for _, c := range p.Now {
		st := p.end(c)
		if st == nil || st.ExitCode == 0 {
			continue
		}
		why := st.Reason
		if why == "Error" { // as of all that ended so
			why = st.Message
		}
		if why != "" {
			return of(c.Name, why)
		}
	}
	return p.Problem
}

// end returns how c ended; nil if it has not, or if the cache holds a status from
// before its end, as it does until the pod has been inspected.
func (p *Pod) end(c *pleg.Container) *pleg.ContainerStatus {
	if st := p.statuses.Container(c.ID); c.State == pleg.Exited && st != nil && st.State == pleg.Exited {
		return st
	}
	return nil
}
