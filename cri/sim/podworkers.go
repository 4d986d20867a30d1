package sim

import (
	"errors"
	"slices"
	"time"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/podworker"
)

// A kubelet is what wakes the small kubelet's pod workers: a PLEG of its own, which relists
// only when there is something to see.
type kubelet struct {
	set     *podworker.Set
	core    *pleg.Core
	deaf    bool            // its workers expect nothing
	ails    func() ailments // what keeps it from its work; nil: nothing ever
	told    []*pod          // of which its workers are to be told with the next relist
	relists bool            // one is to come
	began   time.Time
}

// ailments are what of a runtime keeps a kubelet from its work.
type ailments struct {
	blind     bool // its lists hang
	notReady  bool // the runtime says that it is not ready: the sync loop skips every pod
	noNetwork bool // the runtime says so of its network: pods get a sandbox only on the host's
}

// ill returns what keeps it from its work now.
func (k *kubelet) ill() ailments {
	if k.ails == nil {
		return ailments{}
	}
	return k.ails()
}

const (
	relistPeriod = 300 * time.Millisecond // also to see whether the lists still hang

	// relistOff is how far its relists are off the moments at which scripts do something:
	// so there is no question which came first.
	relistOff = 77777 * time.Microsecond

	// actionTime is how long the event of anything that a worker does may take to come.
	actionTime = 5 * time.Second

	// mostPods is how many pods a kubelet takes that does not get rid of any, since its lists hang or
	// its sync loop skips them.
	mostPods = 500
)

func newKubelet(now time.Time) kubelet {
	core, err := pleg.New(pleg.Config{})
	if err != nil {
		panic("sim: the kubelet: " + err.Error()) // it is configured as any is
	}
	core.Attend(true)
	return kubelet{set: podworker.New(core.Cache(), true), core: core, began: now.Add(relistOff)}
}

func (p *pod) key() pleg.UID { return pleg.UID(p.uid) }

func (p *pod) name() pleg.PodRef {
	return pleg.PodRef{UID: p.key(), Namespace: p.spec.namespace, Name: p.spec.name}
}

// meet gives a pod a worker.
func (w *world) meet(p *pod) { w.kubelet.set.Add(w.now, p.name()) }

// adopt gives a worker to a pod that has been running, and so was listed and synced before.
func (w *world) adopt(p *pod) {
	w.meet(p)
	w.inspect(w.kubelet.core.BeginPod(w.now, p.listed()))
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

// seenAs are a kubelet's words for the runtime's.
var seenAs = map[cri.ContainerState]pleg.State{
	cri.ContainerState_CONTAINER_CREATED: pleg.Created, cri.ContainerState_CONTAINER_RUNNING: pleg.Running, cri.ContainerState_CONTAINER_EXITED: pleg.Exited,
}

// listed returns p as a kubelet's lists show it: the same pointer until something changes.
func (p *pod) listed() *pleg.Pod {
	if p.shown == nil {
		p.shown = p.list()
	}
	return p.shown
}

func (p *pod) list() *pleg.Pod {
	l := &pleg.Pod{PodRef: p.name()}
	for _, s := range p.sandboxes {
		state := pleg.Exited
		if s.ready() {
			state = pleg.Running
		}
		l.Sandboxes = append(l.Sandboxes, pleg.Sandbox{ID: s.status.Id, State: state})
	}
	for _, c := range p.containers {
		l.Containers = append(l.Containers, pleg.Container{ID: c.status.Id, Name: c.spec.name, State: seenAs[c.status.State], SandboxID: c.sandbox.status.Id})
	}
	return l
}

// inspected returns what an inspection of p finds.
func (p *pod) inspected() *pleg.PodStatus {
	status := &pleg.PodStatus{PodRef: p.name()}
	for _, c := range p.containers {
		status.Containers = append(status.Containers, pleg.ContainerStatus{ID: c.status.Id, Name: c.spec.name, State: seenAs[c.status.State], ExitCode: c.status.ExitCode})
	}
	return status
}

// list returns the pods that have workers, as a kubelet's lists show them.
func (w *world) list() []*pleg.Pod {
	all := make([]*pleg.Pod, 0, len(w.pods))
	for _, p := range w.pods {
		if w.kubelet.set.Known(p.key()) {
			all = append(all, p.listed())
		}
	}
	return all
}

// inspect takes a relist, which began with that, to its end, and returns its events.
func (w *world) inspect(err error) []pleg.Event {
	core := w.kubelet.core
	for next, more := core.Next(); more && err == nil; next, more = core.Next() {
		err = core.Settle(next.Pod.UID, w.now, w.pod(string(next.Pod.UID)).inspected(), nil)
	}
	if err = errors.Join(err, core.End()); err != nil {
		panic("sim: a relist: " + err.Error()) // one ends before the next begins
	}
	return core.Released()
}

// relist hands on what the kubelet sees now, to workers who then have a newer status.
// While its lists hang they have none.
func (w *world) relist() {
	k := &w.kubelet
	k.set.Advance(w.now)
	for _, p := range k.told {
		k.set.Ask(w.now, p.key())
	}
	for _, pod := range k.set.Overdue() { // it has a look at what has become of it
		k.set.Ask(w.now, pod)
	}
	k.told, k.relists = nil, false
	if k.ill().blind {
		w.wantRelist()
		w.work()
		return
	}
	for _, e := range w.inspect(k.core.Begin(w.now, w.list())) {
		e.At = w.clock
		k.set.Event(w.now, e)
		if p := w.pod(string(e.Pod.UID)); p != nil && e.Kind == pleg.Died && !e.Sandbox && !p.deleting {
			w.after(w.between(150*time.Millisecond, 400*time.Millisecond), func() { w.prune(p, e.Container) })
		}
	}
	k.set.Advance(w.now)
	w.work()
}

// work has all workers sync that can, in the order of their pods, whoever was woken first. While
// the sync loop skips every pod, what is under way goes on and nothing begins.
func (w *world) work() {
	if w.kubelet.ill().notReady {
		w.wantRelist()
		return
	}
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

// ailments returns what of the runtime keeps the kubelet from its work now.
func (sn *scene) ailments() ailments {
	blind := slices.ContainsFunc(sn.rules, func(r *Rule) bool {
		return r.Hangs && (r.matches(Call{Method: "ListPodSandbox"}) || r.matches(Call{Method: "ListContainers"}))
	})
	return ailments{blind: blind, notReady: sn.runtimeBad, noNetwork: sn.networkBad}
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
