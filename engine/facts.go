package engine

import (
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/kubelet"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
)

// seen returns what the kubelet's clocks must know of the calls.
func (m *Model) seen() kubelet.Seen {
	s := kubelet.Seen{
		ListReturned: m.relists.ReturnedAt, Relists: m.relistedOnce(), EndsBy: m.endsBy(),
		StatusAt: m.status.StatusAt, StatusFailed: m.known.StatusErr != nil, VersionOK: m.sums.Of(call.Version).LastOK,
	}
	for _, f := range m.calls.Flights() {
		switch {
		case f.By == call.ByRelist:
			s.RelistOut = sooner(s.RelistOut, f.Since)
			if r := m.relists.Now; f.Op.IsList() && r != nil && !r.ofOne() && !r.Listed {
				s.ListOut = f.Since
			}
		case f.By == call.ByStatusLoop && f.Op == call.Status:
			s.StatusOut = f.Since
		}
	}
	if f := m.known.Failure; f != nil {
		s.RelistFailing = f.First.Add(-f.Took())
	}
	for _, f := range m.known.Failures() {
		s.Mute = s.Mute || f != nil && call.KindOf(f.Err) == call.ErrSilent
	}
	return s
}

// health returns the verdict on PLEG, and its reasons.
func (m *Model) health(at time.Time) kubelet.Health {
	h := m.kubelet.Health(at)
	h.SettledAt = m.relists.SettledAt
	return h
}

// healthy reports whether PLEG is healthy.
func (m *Model) healthy() bool { return m.kubelet.PLEG.Healthy }

// facts returns what the event sources must know of the relists.
func (m *Model) facts() sources.Facts {
	f := sources.Facts{
		Records: records{m}, Listed: m.core.ListedAt(), ListedBefore: m.listedBefore(),
		Period: m.start.Period, UsualLists: m.known.UsualList, Paused: m.kubelet.Paused(), Resumed: m.resumed,
		ListsBack: m.relists.ListsBack,
	}
	return f
}

// records is what the relist knows of ids and pods.
type records struct{ m *Model }

// Object returns the object that has an id, and its state as of the last relist that settled it.
func (r records) Object(id string) (ref pleg.ObjectRef, settled pleg.State, known bool) {
	p, ref := r.m.pods.find(id)
	if p == nil {
		return ref, settled, false
	}
	was, _ := find(p.Old, id)
	return ref, was.State, true
}

// Pod returns a pod as it was last listed; nil if there is none.
func (r records) Pod(uid pleg.UID) *pleg.Pod {
	if p := r.m.pods.ByUID[uid]; p != nil {
		return p.Seen()
	}
	return nil
}

// Status returns the pod's last inspection; nil if that failed.
func (r records) Status(uid pleg.UID) (*pleg.PodStatus, bool) {
	entry, known := r.m.core.Cache().Entry(uid)
	return entry.Status, known
}
