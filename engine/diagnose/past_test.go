package diagnose

import (
	"slices"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/past"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A witness stands for the machine: from one snapshot after the other it records what a machine records while it
// happens.
type witness struct {
	past.Keeper
	last   *engine.Snapshot // nil before the first
	counts past.Counts
	report *evidence.Report
	shown  *engine.Snapshot // that has what is remembered; may be nil
	scope  answers.Scope    // of the last snapshot that was diagnosed
}

func newWitness() *witness { return new(witness) }

// Add records a snapshot and its events.
func (w *witness) Add(u engine.Update) {
	s := u.Snapshot

	first := w.last == nil
	if !first {
		w.comesBack(s)
	}
	if first || s.Health.Flips < w.last.Health.Flips { // another engine
		w.Keeper, w.last, w.counts = past.Keeper{}, &engine.Snapshot{Channel: s.Channel}, past.Counts{}
	}
	for left := s.Health.Flips - w.last.Health.Flips; left > 0; left-- {
		w.Judged(s.Health.Healthy == (left%2 == 1), s.Health.Since)
	}
	for _, e := range u.Events {
		if e.Delivery == pleg.Discarded {
			w.Lost(e.Event, s.At)
		}
	}
	if s.Failure != nil && w.last.Failure == nil {
		w.ListFailed(*s.Failure)
	}
	if s.Failure == nil && w.last.Failure != nil {
		w.ListCameBack(s.At)
	}
	w.outages(s)
	if c := (&Facts{Snapshot: s}).Sums(call.Status); first || c.Count != (&Facts{Snapshot: w.last}).Sums(call.Status).Count {
		if !c.LastErrAt.After(c.LastOK) {
			w.StatusTook(c.Last)
		}
	}
	w.Idle(idle(s), s.At)
	w.last = s
	w.show(w.shown)
}

// show gives a snapshot what the witness remembers.
func (w *witness) show(s *engine.Snapshot) {
	if w.shown = s; s != nil {
		s.Memory = w.Read()
	}
}

// comesBack records whether an answer since the last snapshot shows that the runtime is back. An answer that came at
// once shows that only if there could be no answer before.
func (w *witness) comesBack(s *engine.Snapshot) {
	if !slices.ContainsFunc(s.Calls, func(c answers.Calls) bool {
		if !c.LastOK.After(w.last.At) || c.Op == call.Version || c.Op == call.GetContainerEvents {
			return false
		}
		switch w.scope {
		case answers.Refused:
			return true
		case answers.Silent:
			return c.Op != call.Status || c.Last >= answers.Late
		case answers.NoStatus:
			return c.Op.AboutObject()
		case answers.TooEarly:
			return c.Last >= answers.Late
		}
		return false
	}) {
		return
	}
	back := past.Comeback{At: s.At}
	for i, f := range s.Failures() {
		if f != nil {
			back.InRow[i] = f.InRow
		}
	}
	w.CameBack(back)
}

// diagnosed records what is wrong at a snapshot.
func (w *witness) diagnosed(s *engine.Snapshot) {
	v := factsOf(Input{Snapshot: s, Evidence: s.Evidence})
	w.scope = v.Scope
	for i := range v.Statuses {
		w.Hung(v.Statuses[i].ID, s.At)
	}
}

// AddReport records a look at the node.
func (w *witness) AddReport(r *evidence.Report) {
	if r == nil || r == w.report {
		return
	}
	w.report = r
	w.Looked(r, func(yield func(string) bool) {
		for _, p := range w.last.Pods {
			for _, c := range seenOf(p).Containers {
				if c.State == pleg.Running && !yield(c.ID) {
					return
				}
			}
		}
	})
	w.show(w.shown)
}

func (w *witness) outages(s *engine.Snapshot) {
	was := w.counts
	w.counts = past.Counts{}
	for i := range s.Calls {
		c := &s.Calls[i]
		if c.Op >= call.PodSandboxStatus {
			continue
		}
		w.counts.All += c.Count
		for _, n := range c.ByCode {
			if n.Code == "Unavailable" {
				w.counts.Failed += n.Count
			}
		}
	}
	switch {
	case w.counts.Failed > was.Failed:
		w.WentAway(s.At, was)
	case s.Failure == nil && s.StatusErr == nil:
		w.IsThere()
	}
	w.Counted(w.counts)
}

// idle reports whether nothing is wrong with our own relists.
func idle(s *engine.Snapshot) bool {
	h := &s.Health
	return !s.Paused && h.Healthy && s.Failure == nil && !h.ListedAt.IsZero() && h.ListAge(s.At) <= answers.FreshFor && s.Relists.Last <= answers.FreshFor
}

// remember gives each snapshot, one after the other, what a machine remembers by then.
func remember(all []engine.Update) []engine.Update {
	w := newWitness()
	all = slices.Clone(all)
	for i := range all {
		if all[i].Snapshot == nil {
			continue
		}
		w.Add(all[i])
		w.AddReport(all[i].Snapshot.Evidence)
		s := *all[i].Snapshot
		s.Memory = w.Read()
		all[i].Snapshot = &s
		w.diagnosed(&s)
	}
	return all
}
