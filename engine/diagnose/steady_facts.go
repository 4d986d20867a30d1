package diagnose

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

// overtaken reports whether a finding may come from a look that is older than the last news about its subject: the
// runtime has come back since then, or answers for the subject again, or does not list it any more. Such a finding does
// not begin before the next look.
func (f *Facts) overtaken(o *Finding) bool {
	looked, known := f.lookedAt()
	if !known || ruleOf(o.ID).Needs == Unpaused {
		return false
	}
	id := o.Subject.ID
	switch {
	case f.LookOld, f.Memory.Hung[id].After(looked) && !f.objectHangs(id), f.Gone.Since(id).After(looked):
		return true
	case id == "" || o.Subject.ofNoPod() || !f.Health.ListedAt.After(looked):
		return false
	case o.Subject.Sandbox: // a sandbox is listed only when its network is there; Gone knows a sandbox that has gone
		return false
	}
	p := f.Pod(o.Subject.Pod)
	if p == nil {
		return true
	}
	_, listed := p.Find(id)
	return !listed
}

// objectHangs reports whether the status of an object hangs.
func (f *Facts) objectHangs(id string) bool {
	return slices.ContainsFunc(f.Statuses, func(h answers.Hang) bool { return h.ID == id })
}

// isOver reports whether a finding has been gone for long enough.
func (f *Facts) isOver(h *held) bool {
	switch {
	case h.seen.Equal(f.at()):
		h.gone, h.flips = time.Time{}, h.flips || h.hidden
		return false
	case !h.begun:
		return true
	case h.gone.IsZero():
		h.gone = f.at()
	}
	gone := f.at().Sub(h.gone)
	h.hidden = h.hidden || gone >= lingering
	return gone >= f.endsAfter(h)
}

// endsAfter returns how long a finding must stay gone before it ends. If only Status or a look shows it, that is asked
// every five seconds, and the first answer without the trouble is enough.
func (f *Facts) endsAfter(h *held) time.Duration {
	r, status := ruleOf(h.key.ID), f.Sums(call.Status).LastOK
	switch {
	case r.Turns && h.flips:
		return endStatusAgainAfter
	case r.Turns:
		return endStatusAfter
	case f.blind(h):
		return endBlindAfter
	case h.again:
		return endAgainAfter
	case h.finding.Subject.Operation == call.Status.String() && !status.Before(h.seen), r.Needs == Nothing && !f.Look.At.Before(h.seen):
		return 0
	}
	return endAfter
}

// blind reports whether the last look could not see the thing that a finding is about.
func (f *Facts) blind(h *held) bool {
	if ruleOf(h.key.ID).Needs != Nothing {
		return false
	}
	switch h.key.ID {
	case StoreFailing, DiskFull:
		of := &f.Look.Disk
		if h.finding.Store == stateFolder {
			of = &f.Look.State
		}
		return of.Missing != "" && !of.Broken
	}
	return f.Look.Processes.Missing != ""
}

// isHidden reports whether a finding is not shown any more, though its end may not be reported yet: it has been gone
// for a relist, or calls refute it.
func (f *Facts) isHidden(h *held) bool {
	return !h.gone.IsZero() && h.hidden && !h.flips && !f.blind(h) || f.refutes(h)
}

// refutes reports whether the calls that a finding is about were answered well since it was last seen, or the runtime
// has come back since. The next seconds show whether the finding is over.
func (f *Facts) refutes(h *held) bool {
	o, r := &h.finding, ruleOf(h.finding.ID)
	switch {
	case h.seen.Equal(f.at()), r.Turns && h.flips:
		return false
	case r.Needs != Unpaused:
		return h.seen.Before(f.Memory.Back.At)
	case h.reported < Critical && o.Since.IsZero():
		return false
	}
	by := r.RefutedBy
	if by == nil {
		by = call.Operation.IsList
	}
	answered := false
	for i := range f.Calls {
		c := &f.Calls[i]
		if o.Subject.Operation == c.Op.String() || o.Subject.Operation == "" && by(c.Op) {
			answered = answered || !c.LastOK.Before(h.seen)
		}
	}
	if o.Subject.ofNoPod() {
		return answered
	}
	p := f.Pod(o.Subject.Pod)
	return p == nil || p.StatusErr == nil && p.InspectedAt.After(h.seen)
}
