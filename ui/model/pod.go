package model

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// A Pod is what is shown of one pod: how it stands, and what follows from that for all
// panes. Texts in it are not cleaned.
type Pod struct {
	*diagnose.Standing
	Remark string // why a container ended, or what fails: from the runtime

	asked  int  // the filter that was asked last
	passed bool // what it said
	parts  []Part
}

// NewPod returns what is shown of a pod that is not of the list: as it was last.
func NewPod(p *engine.Pod) *Pod { return newPod(diagnose.StandingOf(p)) }

func newPod(of *diagnose.Standing) *Pod {
	p := &Pod{Standing: of}
	p.Remark = p.explain()
	return p
}

// explain returns the text that says most about what is wrong: how a container ended, behind what
// else is found of the pod. Of a pod with one container that is not named: it is clear which.
func (p *Pod) explain() string {
	of := func(container, what string) string {
		return theme.When(container == "" || len(p.Now) < 2, what, container+": "+what)
	}
	switch {
	case p.Out != nil:
		return of(p.Out.Container, p.Problem)
	case p.Pod.StatusErr != nil:
		return say.Reason(p.Pod.StatusErr)
	}
	for _, c := range p.Now {
		st := p.End(c)
		if st == nil || st.ExitCode == 0 {
			continue
		}
		why := st.Reason
		if why == "Error" { // as of all that ended so
			why = st.Message
		}
		if why != "" {
			beside := p.Trouble.Beside
			return beside + theme.When(beside == "", "", "; ") + of(c.Name, why)
		}
	}
	return p.Problem
}

// Says returns Word in at most nine cells, and of a call that hangs for how long.
func (p *Pod) Says(at time.Time) string {
	if p.State != diagnose.PodHung {
		return p.Word()
	}
	switch out := p.Out.Elapsed(at).Round(time.Second); {
	case out < 1000*time.Second:
		return "hung " + strconv.Itoa(int(out/time.Second)) + "s"
	case out < 1000*time.Minute:
		return "hung " + strconv.Itoa(int(out/time.Minute)) + "m"
	default:
		return "hung " + text.Age(out)
	}
}

// Look returns the look of what Word says.
func (p *Pod) Look(t *theme.Theme) (symbol string, st theme.Style) {
	s := &t.Symbols
	if p.FoundOnly() {
		return say.SeverityLook(t, p.Trouble.Severity)
	}
	switch p.State {
	case diagnose.PodRunning:
		return s.Running, t.Good
	case diagnose.PodCompleted:
		return s.Exited, t.Dim
	case diagnose.PodEmpty, diagnose.PodExited:
		return s.Exited, t.Text
	case diagnose.PodUnlisted:
		return s.Unknown, t.Dim
	case diagnose.PodCreated:
		return s.Created, t.Info
	case diagnose.PodUnknown:
		return s.Unknown, t.Warn
	}
	return s.Bad, t.Bad
}

// A Part is a sandbox or a container of a pod.
type Part struct {
	Sandbox bool
	Last    bool // the last sandbox, or the last container below it
	ID      string
	Name    string // of a container
	State   pleg.State
	Attempt uint32
	Created time.Time
	Image   string                // of a container
	Status  *pleg.ContainerStatus // of a container, if the cache has one
}

// Parts returns what the pod holds: each sandbox, the oldest first, and below it its
// containers by name, the newest of each first. Those whose sandbox is not listed come
// below the newest one. It is worked out when it is asked for first, and not to be
// changed.
func (p *Pod) Parts() []Part {
	if p.parts == nil {
		p.parts = p.branches()
	}
	return p.parts
}

// Hangs reports whether the call that hangs is about a part of the pod.
func (p *Pod) Hangs(part *Part) bool { return p.Out != nil && p.Out.ID != "" && p.Out.ID == part.ID }

func (p *Pod) branches() []Part {
	sandboxes, containers := p.sorted()
	newest := max(len(sandboxes)-1, 0)
	places := make(map[string]int, len(sandboxes))
	for i, s := range sandboxes {
		places[s.ID] = i
	}
	below := make([][]*pleg.Container, newest+1)
	for _, c := range containers {
		i, listed := places[c.SandboxID]
		if !listed {
			i = newest
		}
		below[i] = append(below[i], c)
	}
	rows := make([]Part, 0, len(sandboxes)+len(containers))
	for i, leaves := range below {
		if i < len(sandboxes) {
			s := sandboxes[i]
			rows = append(rows, Part{
				Sandbox: true, Last: i == newest, ID: s.ID, State: s.State, Attempt: s.Attempt, Created: s.CreatedAt,
			})
		}
		for j, c := range leaves {
			rows = append(rows, Part{
				ID: c.ID, Name: c.Name, State: c.State, Attempt: c.Attempt, Created: c.CreatedAt, Image: c.Image,
				Last: j == len(leaves)-1, Status: p.Status(c.ID),
			})
		}
	}
	return rows
}

// sorted returns the sandboxes, the oldest first, and the containers by name.
func (p *Pod) sorted() (sandboxes []pleg.Sandbox, containers []*pleg.Container) {
	sandboxes = slices.Clone(p.Seen.Sandboxes)
	slices.SortStableFunc(sandboxes, func(a, b pleg.Sandbox) int {
		return cmp.Or(cmp.Compare(a.Attempt, b.Attempt), a.CreatedAt.Compare(b.CreatedAt))
	})
	for i := range p.Seen.Containers {
		containers = append(containers, &p.Seen.Containers[i])
	}
	slices.SortFunc(containers, func(a, b *pleg.Container) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), diagnose.NewestFirst(a, b))
	})
	return sandboxes, containers
}
