package call

import (
	"cmp"
	"errors"
	"slices"
	"time"
)

// An Extent says how much of the runtime is in trouble.
type Extent uint8

// The extents, the least first.
const (
	Fine        Extent = iota // no call hangs, except Status or Version alone; a call may fail with its own error
	TooEarly                  // a call is late, and nothing says yet whether others are answered
	AllSlow                   // calls run out of time only because all calls take long
	ObjectsHang               // the status of single sandboxes or containers hangs
	ListHangs                 // a list hangs, and other calls are answered
	NoObject                  // no status of any sandbox or container is answered
	Silent                    // no call that is about containers is answered
	Refused                   // nobody is there, or lists and Status are all answered with an error
)

const (
	// refusedInRow is how many errors in a row are no accident if the runtime is there.
	refusedInRow = 3
	// allHung is how many objects of an operation must hang, while none is answered, until we say
	// that the operation hangs and not the objects.
	allHung = 8
)

// A Hang is a target that gives no answer.
type Hang struct {
	Flight      // the call that is out, or the last one; but Since is the start of the first unanswered call in a row
	Out    bool // a call for it is out
	Sure   bool // it hangs for too long to be just slow
	InRow  int  // how many calls for it ran out of time in a row
}

// Hanging returns all targets that give no answer: Version, Status and lists first, then
// objects, the longest hang first. The caller may keep them. It also reports whether a call ran
// out of time only because all calls take long.
func (t *Table) Hanging(at time.Time) (all []Hang, slow bool) {
	for _, c := range t.Out {
		if s := t.outState(c.Flight, at); s >= Late {
			h := Hang{Flight: c.Flight, Out: true, Sure: s == Hung}
			h.Since = latest(h.Since, t.Back)
			all = append(all, h)
		}
	}
	note := func(k *Known) {
		object := k.Flight.Op.AboutObject()
		switch {
		case !k.RanOut || k.Flight.Since.Before(t.Back) || object && at.Sub(k.At) > FreshFor:
		case k.Took() < 3*t.usual(k.Flight.Op), t.Busy && k.At.Sub(k.First) < CriticalAfter:
			slow = true
		default:
			all = t.join(all, k)
		}
	}
	for op := range GetContainerEvents {
		note(&t.Ops[op].Last)
		if op.AboutObject() {
			for _, k := range t.Ops[op].Troubled {
				note(k)
			}
		}
	}
	slices.SortFunc(all, func(a, b Hang) int {
		if a.Op.AboutObject() != b.Op.AboutObject() {
			return cmp.Compare(a.Op, b.Op)
		}
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Op, b.Op), cmp.Compare(a.target(), b.target()))
	})
	return all, slow
}

// join adds a target whose last call ran out of time. If a new call for the target is out, the
// target still hangs since its earlier calls.
func (t *Table) join(all []Hang, k *Known) []Hang {
	i := slices.IndexFunc(all, func(h Hang) bool { return h.sameTarget(k.Flight) })
	if i < 0 {
		out := slices.ContainsFunc(t.Out, func(c OutCall) bool { return c.Flight.sameTarget(k.Flight) })
		i, all = len(all), append(all, Hang{Flight: k.Flight, Out: out})
	}
	h := &all[i]
	h.Sure, h.InRow, h.Since = true, k.InRow, latest(k.First, t.Back)
	return all
}

// Extent says how much of the runtime is in trouble at a moment. It returns the widest extent
// that the calls show.
func (t *Table) Extent(at time.Time) Extent {
	if extent := t.refused(); extent != Fine {
		return extent
	}
	hangs, slow := t.Hanging(at)
	r := reading{Table: t, at: at}
	for i := range hangs {
		switch h := &hangs[i]; {
		case h.Op.AboutObject():
			r.objects = append(r.objects, h)
		case h.Op.IsList() && r.list == nil:
			r.list = h
		default:
			r.itself = append(r.itself, h)
		}
	}
	blamed, early := r.blame()
	switch {
	case r.silent():
		return Silent
	case r.noObject():
		return NoObject
	case r.list != nil && r.list.Sure:
		return ListHangs
	case blamed:
		return ObjectsHang
	case r.list != nil || early:
		return TooEarly
	case slow:
		return AllSlow
	}
	return Fine
}

// refused returns Refused if a list, Status or Version finds nobody there, or if lists and
// Status are answered with errors again and again. In both cases nothing but Version has
// succeeded since. It returns Silent if the socket takes connections and sends nothing.
func (t *Table) refused() Extent {
	list, status := &t.Ops[ListPodSandbox].Last, &t.Ops[Status].Last
	if second := &t.Ops[ListContainers].Last; second.fails() {
		list = second
	}
	all := []*Known{list, status, &t.Ops[Version].Last}
	all = slices.DeleteFunc(all, func(k *Known) bool { return !k.fails() || !errors.Is(k.Err, ErrUnavailable) })
	if len(all) == 0 {
		if !list.fails() || !status.fails() || max(list.InRow, status.InRow) < refusedInRow {
			return Fine
		}
		all = []*Known{list, status}
	}
	extent, since := Silent, time.Time{}
	for _, k := range all {
		since = latest(since, k.Failed)
		if k.Err.Kind != ErrSilent {
			extent = Refused
		}
	}
	if slices.ContainsFunc(t.Ops[Status:GetContainerEvents], func(a Answers) bool { return a.Good.After(since) }) {
		return Fine
	}
	return extent
}

// fails reports whether a call failed at once with an error that may mean a dead runtime. An
// error about the size of the answer, for example, does not.
func (k *Known) fails() bool {
	return k.Err != nil && k.Err.Kind != ErrDeadline && k.Err.Kind != ErrTooLarge && k.Err.Kind != ErrUnreadable
}

// A reading has all that hangs at one moment.
type reading struct {
	*Table
	at      time.Time
	list    *Hang   // a list; nil if none hangs
	itself  []*Hang // Status and Version
	objects []*Hang
}

// silent reports whether nothing about containers is answered. Two kinds of call must hang: a
// call that the runtime answers from memory and a call about its containers; or a list and the
// objects of two pods. The objects of one pod do not suffice: they may share a shim.
func (r *reading) silent() bool {
	if r.list == nil && len(r.objects) == 0 {
		return false
	}
	fresh := func(h *Hang) time.Time { return latest(h.Since, r.at.Add(-FreshFor)) }
	for _, h := range r.itself {
		if !r.answered(fresh(h), ListPodSandbox) {
			return true
		}
	}
	return r.list != nil && ofTwoPods(r.objects) && !r.answered(fresh(r.list), PodSandboxStatus)
}

// noObject reports whether more than single objects hang. Many objects of one operation hang
// and none was answered, or the objects of two pods hang and none was answered since.
func (r *reading) noObject() bool {
	for op := PodSandboxStatus; op <= ContainerStatus; op++ {
		of := slices.DeleteFunc(slices.Clone(r.objects), func(h *Hang) bool { return h.Op != op })
		if len(of) >= allHung && !r.Ops[op].Answered.After(of[0].Since) {
			return true
		}
	}
	return ofTwoPods(slices.DeleteFunc(slices.Clone(r.objects), func(h *Hang) bool { return r.answered(h.Since, PodSandboxStatus) }))
}

func ofTwoPods(objects []*Hang) bool {
	return slices.ContainsFunc(objects, func(h *Hang) bool { return h.Pod.UID != objects[0].Pod.UID })
}

// blame reports whether an object is to blame for its hanging call, and whether it is too early
// to blame another object. If some object was answered meanwhile, the blame is certain.
// Otherwise the call must still be out, must not be a probe, and must not be early.
func (r *reading) blame() (blamed, early bool) {
	for _, h := range r.objects {
		if r.answered(h.Since, PodSandboxStatus) || h.Out && h.By != ByProbe && !r.early(h) {
			blamed = true
		} else {
			early = true
		}
	}
	return blamed, early
}

// probesBegin is how long a call is out, at most, when the first probe goes out.
const probesBegin = LateAfter + 300*time.Millisecond

// early reports whether it is too early to blame an object. Perhaps nothing at all is answered:
// the probes that will show it are still out themselves.
func (r *reading) early(h *Hang) bool {
	took := r.at.Sub(h.Since)
	probing := func(first Operation) bool {
		return slices.ContainsFunc(r.Out, func(c OutCall) bool {
			f := c.Flight
			return f.Op >= first && f.Op < GetContainerEvents && (f.By == ByProbe || f.By == BySweep || f.By == ByStatusLoop)
		})
	}
	if r.Ops[Status].Answered.After(h.Since) { // only another object's answer is still unknown
		return took < HungAfter+2*LateAfter && probing(PodSandboxStatus)
	}
	return took < probesBegin || took < HungAfter+LateAfter && probing(Version)
}

// answered reports whether a call of the operation first, or of a later operation, was answered
// after a moment, with or without an error.
func (t *Table) answered(since time.Time, first Operation) bool {
	return slices.ContainsFunc(t.Ops[first:GetContainerEvents], func(a Answers) bool { return a.Answered.After(since) })
}

// comesBack reports whether a call that succeeds now is the first answer of a runtime that had
// answered nothing. All calls that were out come back then, one after the other, and the first
// answer would accuse the calls behind it. Version says nothing: a runtime answers it in any
// state. A list says nothing either while no status is answered.
func (t *Table) comesBack(f Flight, at time.Time) bool {
	first := ListPodSandbox
	switch {
	case f.Op == Version || f.Op == GetContainerEvents:
		return false
	case f.Op.AboutObject():
		first = PodSandboxStatus
	}
	if t.answered(at.Add(-LateAfter), first) { // the usual case, and a cheap check
		return false
	}
	late := t.outState(f, at) >= Late
	switch extent := t.Extent(at); {
	case extent == Refused:
		return true
	case f.Op == Status && !late: // it is answered from memory
		return false
	case extent == Silent, extent == NoObject && f.Op.AboutObject():
		return true
	}
	return late && !t.answered(f.Since, Status)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
