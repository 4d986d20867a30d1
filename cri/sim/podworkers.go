package sim

import (
	"slices"
	"time"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/podworker"
)

// A kubelet is what wakes the small kubelet's pod workers: a PLEG of its own, which sees
// at once all that has changed, and looks only when there is something to see.
type kubelet struct {
	set      *podworker.Set
	statuses *pleg.Cache
	deaf     bool         // its workers expect nothing
	blind    func() bool  // whether its lists hang; nil: never
	unseen   []pleg.Event // since its last relist
	told     []*pod       // of which its workers are to be told with the next relist
	relists  bool         // one is to come
	began    time.Time
}

const (
	relistPeriod = 300 * time.Millisecond // also to see whether the lists still hang

	// relistOff is how far its relists are off the moments at which scripts do something:
	// so there is no question which came first.
	relistOff = 77777 * time.Microsecond

	// actionTime is how long the event of anything that a worker does may take to come.
	actionTime = 5 * time.Second

	// mostPods is how many pods a kubelet takes that does not get rid of any, since its lists hang.
	mostPods = 500
)

func newKubelet(now time.Time) kubelet {
	statuses := pleg.NewCache(false)
	return kubelet{set: podworker.New(statuses, true, true), statuses: statuses, began: now.Add(relistOff)}
}

func (p *pod) key() pleg.UID { return pleg.UID(p.uid) }

// meet gives a pod a worker.
func (w *world) meet(p *pod) {
	w.kubelet.set.Add(w.now, pleg.PodRef{UID: p.key(), Namespace: p.spec.namespace, Name: p.spec.name})
}

// adopt gives a worker to a pod that has been running, and so was synced before.
func (w *world) adopt(p *pod) {
	w.meet(p)
	w.kubelet.set.Ask(w.now, p.key())
	for uid, more := w.kubelet.set.Next(w.now); more; uid, more = w.kubelet.set.Next(w.now) {
		w.kubelet.set.Done(w.now, uid)
	}
}

// tell has the worker of a pod know, with the next relist, that there is something to do
// of which no event tells.
func (w *world) tell(p *pod) {
	w.kubelet.told = append(w.kubelet.told, p)
	w.wantRelist()
}

// expect has the worker of a pod expect an event of what it is about to do within d.
func (w *world) expect(p *pod, kind pleg.Kind, id, name string, d time.Duration) {
	if w.kubelet.deaf {
		return
	}
	w.kubelet.set.Expect(p.key(), podworker.Expectation{Kind: kind, ID: id, Container: name, Until: w.now.Add(d)})
	w.after(d, func() {
		if due := w.kubelet.set.Due(); !due.IsZero() && !w.now.Before(due) {
			w.kubelet.set.Advance(w.now)
			w.wantRelist()
		}
	})
}

// see has the kubelet's next relist see a transition.
func (w *world) see(kind cri.ContainerEventType, s *sandbox, c *container) {
	if kind == cri.ContainerEventType_CONTAINER_CREATED_EVENT || !w.kubelet.set.Known(s.pod.key()) {
		return
	}
	e := pleg.Event{ObjectRef: pleg.ObjectRef{Pod: pleg.PodRef{UID: s.pod.key(), Namespace: s.pod.spec.namespace, Name: s.pod.spec.name}, ID: s.id, Sandbox: true}, At: w.clock}
	if c != nil {
		e.ID, e.Container, e.Sandbox = c.id, c.spec.name, false
	}
	switch kind {
	case cri.ContainerEventType_CONTAINER_STARTED_EVENT:
		e.Kind, e.From, e.To = pleg.Started, pleg.Created, pleg.Running
	case cri.ContainerEventType_CONTAINER_STOPPED_EVENT:
		e.Kind, e.From, e.To = pleg.Died, pleg.Running, pleg.Exited
		if c != nil {
			e.Exited, e.ExitCode = true, c.exit.code
		}
	case cri.ContainerEventType_CONTAINER_DELETED_EVENT:
		if c != nil && c.state != cri.ContainerState_CONTAINER_EXITED { // nobody saw its end
			died := e
			died.Kind, died.From, died.To = pleg.Died, pleg.Created, pleg.Exited
			w.kubelet.unseen = append(w.kubelet.unseen, died)
		}
		e.Kind, e.From, e.To = pleg.Removed, pleg.Exited, pleg.Absent
	}
	w.kubelet.unseen = append(w.kubelet.unseen, e)
	w.wantRelist()
}

// wantRelist has the kubelet relist soon. Its relists do not depend on who wants them:
// the same happens whether workers are woken often or seldom.
func (w *world) wantRelist() {
	if w.kubelet.relists {
		return
	}
	w.kubelet.relists = true
	since := w.now.Sub(w.kubelet.began)
	w.after((since/relistPeriod+1)*relistPeriod-since, w.relist)
}

// relist hands on what the kubelet sees now, to workers who then have a newer status.
// While its lists hang they have none.
func (w *world) relist() {
	k := &w.kubelet
	k.set.Advance(w.now)
	for _, p := range k.told {
		k.set.Ask(w.now, p.key())
	}
	for _, r := range k.set.Reports() { // it has a look at what has become of it
		k.set.Ask(w.now, r.Pod.UID)
	}
	k.told, k.relists = nil, false
	if k.blind != nil && k.blind() {
		w.wantRelist()
		w.work()
		return
	}
	seen := k.unseen
	k.unseen = nil
	for _, e := range seen {
		k.set.Event(w.now, e)
		if p := w.pod(string(e.Pod.UID)); p != nil && e.Kind == pleg.Died && !e.Sandbox && !p.deleting {
			w.after(w.between(150*time.Millisecond, 400*time.Millisecond), func() { w.prune(p, e.Container) })
		}
	}
	k.statuses.UpdateTime(w.now)
	k.set.Advance(w.now)
	w.work()
}

// work has all workers sync that can, in the order of their pods, whoever was woken first.
func (w *world) work() {
	ready := map[pleg.UID]bool{}
	for uid, more := w.kubelet.set.Next(w.now); more; uid, more = w.kubelet.set.Next(w.now) {
		ready[uid] = true
	}
	if len(ready) > 0 {
		for _, p := range slices.Clone(w.pods) {
			if ready[p.key()] {
				w.sync(p)
			}
		}
	}
	if w.kubelet.set.Waits() {
		w.wantRelist()
	}
}

// An act is one sync of a pod that is under way.
type act struct {
	pod   *pod
	parts int // of it that have not ended
}

// during has do happen once d has passed, as a part of a sync, unless that was cut short.
func (w *world) during(a *act, d time.Duration, do func()) {
	a.parts++
	w.after(d, func() {
		if a.pod.act == a {
			do()
			w.finish(a)
		}
	})
}

// finish ends a part of a sync, and with the last one the sync.
func (w *world) finish(a *act) {
	if a.parts--; a.parts > 0 || a.pod.act != a {
		return
	}
	a.pod.act = nil
	w.kubelet.set.Done(w.now, a.pod.key())
	w.work()
}

// cutShort ends the sync of a pod that is under way: what it was about to do is not done.
func (w *world) cutShort(p *pod) {
	if p.act == nil {
		return
	}
	p.act = nil
	w.kubelet.set.Withdraw(w.now, p.key())
	w.kubelet.set.Done(w.now, p.key())
}

// listsHang reports whether a list of all pods would hang.
func (sn *scene) listsHang() bool {
	return slices.ContainsFunc(sn.rules, func(r *rule) bool {
		return r.hangs && (r.matches(Call{Method: "ListPodSandbox"}) || r.matches(Call{Method: "ListContainers"}))
	})
}

// A shown is what [Server.Workers] returned last, and what that was made of.
type shown struct {
	all, from []*podworker.Worker
	pace      pace
}

// Workers returns how the small kubelet's pod workers stand, by the server's clock. While
// the script is frozen what they expect does not run out. It returns at once and costs
// little where nothing has changed.
func (s *Server) Workers() podworker.Workers {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := &s.scene.kubelet
	read, p := k.set.Read(), s.scene.pace
	read.Expecting = !k.deaf
	if p.frozen {
		p.clock, p.frozen = s.Now(), false
	}
	if len(read.All) != len(s.shown.from) || len(read.All) > 0 && &read.All[0] != &s.shown.from[0] || p != s.shown.pace {
		s.shown = shown{from: read.All, all: slices.Clone(read.All), pace: p}
		for i, w := range s.shown.all {
			shown := *w
			p.show(&shown)
			s.shown.all[i] = &shown
		}
	}
	read.All = s.shown.all
	return read
}

// show changes the script's times of a worker into the clock's.
func (p pace) show(w *podworker.Worker) {
	for _, at := range []*time.Time{&w.Since, &w.After, &w.LastAt} {
		if !at.IsZero() {
			*at = p.clockAt(*at)
		}
	}
	w.Expected = slices.Clone(w.Expected)
	for i := range w.Expected {
		w.Expected[i].Until = p.clockAt(w.Expected[i].Until)
	}
}
