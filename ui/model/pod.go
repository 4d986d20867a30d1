package model

import (
	"strconv"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
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
		return say.Reason(p.Pod.StatusErr)
	case p.State == diagnose.PodDead:
		for _, c := range p.Now {
			if p.Died(c.ID) && len(p.Dead) == 1 {
				return of(c.Name, diagnose.DiedUnseen)
			}
		}
		return diagnose.DiedUnseen
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
			return of(c.Name, why)
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
	case diagnose.PodDead:
		return s.Unseen, t.Bad
	case diagnose.PodUnknown:
		return s.Unknown, t.Warn
	}
	return s.Bad, t.Bad
}
