package diagnose

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A Standing says how a pod is: its state, its problem, the call that hangs, its rank in a list, and the figures behind
// that. It is worked out when the pod changes, or when a finding about it changes, and is not changed afterwards. No
// text in it is cleaned.
type Standing struct {
	Pod  *engine.Pod
	Seen *pleg.Pod    // what the runtime last listed of the pod
	Out  *call.Flight // the call about it that hangs, or nil

	Trouble  Trouble
	State    PodState
	Problem  string // in a few words; empty if nothing is wrong
	Rank     Rank   // how bad it is
	Running  int    // containers that run
	Wanted   int    // containers that should run: all except those that ended well
	Restarts uint32 // restarts of the container that was restarted most
	Exit     int32  // exit code of the container that ended last, if HasExit
	HasExit  bool
	Created  time.Time // when its first sandbox was made, or its first container if it has none; zero if the runtime does not say

	Now []*pleg.Container // the newest container of each name, sorted by name

	statuses pleg.Lookup
}

// StandingOf returns the standing of a pod without findings and without a call that hangs, for example of a pod that
// has gone.
func StandingOf(p *engine.Pod) *Standing { return newStanding(p, nil, Trouble{}, false) }

// newStanding returns the standing of a pod. out is the call about it that hangs, or nil. unlisted says that no list of
// containers has been answered yet.
func newStanding(p *engine.Pod, out *call.Flight, t Trouble, unlisted bool) *Standing {
	f := &Standing{Pod: p, Seen: seenOf(p), Out: out, Trouble: t, Problem: t.Text, statuses: p.Status.Lookup()}
	if out != nil {
		f.Problem = out.Op.String() + " hangs"
	}
	f.newest()
	f.count()
	f.State = f.classify()
	if unlisted && f.State == PodEmpty {
		f.State = PodUnlisted
	}
	f.Rank = f.rank()
	return f
}

// newest sets the newest container of each name, and when the pod was made.
func (p *Standing) newest() {
	of := make(map[string]int)
	for i := range p.Seen.Containers {
		c := &p.Seen.Containers[i]
		p.Restarts = max(p.Restarts, c.Attempt)
		switch at, known := of[c.Name]; {
		case !known:
			of[c.Name] = len(p.Now)
			p.Now = append(p.Now, c)
		case NewestFirst(c, p.Now[at]) < 0:
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

// older sets when the pod was made, if this part of the pod is older than all before.
func (p *Standing) older(made time.Time) {
	if !made.IsZero() && (p.Created.IsZero() || made.Before(p.Created)) {
		p.Created = made
	}
}

// NewestFirst compares two containers of one name, for [slices.SortFunc]: the newest comes first.
func NewestFirst(a, b *pleg.Container) int {
	return cmp.Or(cmp.Compare(b.Attempt, a.Attempt), b.CreatedAt.Compare(a.CreatedAt), strings.Compare(a.ID, b.ID))
}

func (p *Standing) count() {
	var ended time.Time
	for _, c := range p.Now {
		st := p.End(c)
		switch {
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

// Status returns the status of a container from the last inspection, by its id; nil if it is not there.
func (p *Standing) Status(id string) *pleg.ContainerStatus { return p.statuses.Container(id) }

// End returns how a container of the pod ended. It is nil if the container has not ended. It is also nil if the cached
// status is from before the end; then the pod has not been inspected since.
func (p *Standing) End(c *pleg.Container) *pleg.ContainerStatus {
	if st := p.Status(c.ID); c.State == pleg.Exited && st != nil && st.State == pleg.Exited {
		return st
	}
	return nil
}
