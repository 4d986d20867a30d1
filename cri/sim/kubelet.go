package sim

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// startPod makes a pod and lets the kubelet start it: the sandbox, then the
// init containers one after another, then the others. A kubelet that is full of pods
// which it cannot get rid of, or start, does not take it.
func (w *world) startPod(spec podSpec) *pod {
	p := w.newPod(spec)
	if ill := w.kubelet.ill(); len(w.pods) > mostPods && (ill.blind || ill.notReady) {
		w.removePod(p)
		return p
	}
	w.meet(p)
	w.after(w.between(150*time.Millisecond, 450*time.Millisecond), func() {
		if !p.deleting {
			w.kubelet.set.Ask(w.now, p.key())
			w.work()
		}
	})
	return p
}

// networkRetry is how long a worker waits before it tries again to make a sandbox for which there
// is no network.
const networkRetry = 10 * time.Second

// sync has a pod's worker do what the pod needs next. Once too often does no harm, and
// makes no difference to what happens later.
func (w *world) sync(p *pod) {
	a := &act{pod: p, parts: 1}
	p.act = a
	switch s := p.sandbox(); {
	case p.deleting:
		w.terminate(a)
	case p.over:
	case s == nil:
		w.startSandbox(a, 0)
	case !s.ready():
		w.renew(a, s)
	default:
		w.syncContainers(a)
	}
	w.finish(a)
}

func (w *world) startSandbox(a *act, attempt uint32) {
	if w.kubelet.ill().noNetwork && !a.pod.spec.hostNetwork {
		w.after(networkRetry, func() { w.tell(a.pod) })
		return
	}
	w.expect(a.pod, pleg.Started, "", "", actionTime)
	w.newSandbox(a.pod, attempt, w.clock)
	w.during(a, w.between(250*time.Millisecond, 600*time.Millisecond), func() { w.syncContainers(a) })
}

// syncContainers starts and restarts what is to run in the sandbox.
func (w *world) syncContainers(a *act) {
	p, s := a.pod, a.pod.sandbox()
	if !s.ready() { // it has died since, of which an event tells
		return
	}
	for i := range p.spec.init {
		if !w.syncContainer(a, &p.spec.init[i], onFailure) {
			return
		}
	}
	done := true
	for i := range p.spec.containers {
		done = w.syncContainer(a, &p.spec.containers[i], p.spec.restart) && done
	}
	if done { // of its own accord, for good: the kubelet stops the sandbox
		p.over = true
		w.expect(p, pleg.Died, s.status.Id, "", actionTime)
		w.during(a, w.between(400*time.Millisecond, 900*time.Millisecond), func() { w.stopSandbox(s) })
	}
}

// syncContainer starts or restarts a container if it has to, and reports
// whether it has ended for good.
func (w *world) syncContainer(a *act, spec *containerSpec, policy restartPolicy) bool {
	p, c := a.pod, a.pod.latest(spec.name)
	switch {
	case c == nil:
		w.launch(a, spec)
		return false
	case !c.exited():
		return false
	case policy == never, policy == onFailure && c.status.ExitCode == 0:
		return true
	case p.rests[spec.name] == resting:
		return false
	}
	wait := time.Duration(0)
	if p.rests[spec.name] != rested {
		wait = p.restartIn(spec.name, c.ended, w.now)
	}
	if wait > 0 {
		p.rests[spec.name] = resting
		w.after(wait, func() {
			p.rests[spec.name] = rested
			w.tell(p)
		})
		return false
	}
	delete(p.rests, spec.name)
	w.launch(a, spec)
	return false
}

// launch creates and starts a container, unless the sandbox that it is meant for has
// gone by then.
func (w *world) launch(a *act, spec *containerSpec) {
	s := a.pod.sandbox()
	w.expect(a.pod, pleg.Started, "", spec.name, actionTime)
	w.during(a, w.between(80*time.Millisecond, 250*time.Millisecond), func() {
		if !s.ready() {
			w.kubelet.set.Withdraw(w.now, a.pod.key())
			return
		}
		c := w.newContainer(a.pod, spec, w.clock)
		if !spec.life.stuck {
			w.during(a, w.between(150*time.Millisecond, 500*time.Millisecond), func() { w.startContainer(c) })
		}
	})
}

// startContainer starts a created container and lets it live its life.
func (w *world) startContainer(c *container) {
	if !c.sandbox.ready() {
		w.kubelet.set.Withdraw(w.now, c.pod.key())
		return
	}
	w.run(c, w.clock)
	if l := c.spec.life; l.runs > 0 {
		w.after(l.runs, func() { w.exitContainer(c, l.exit) })
	}
}

// exitContainer ends a container that runs.
func (w *world) exitContainer(c *container, how exit) {
	if c.runs() {
		w.end(c, how, w.clock)
	}
}

// prune removes the dead containers of one name but for the newest.
func (w *world) prune(p *pod, name string) {
	kept := false
	for _, c := range slices.Backward(slices.Clone(p.containers)) {
		if c.spec.name != name || !c.exited() {
			continue
		}
		if kept {
			w.remove(c)
		}
		kept = true
	}
	w.pruneSandboxes(p)
}

// pruneSandboxes removes replaced sandboxes that hold no container any more.
func (w *world) pruneSandboxes(p *pod) {
	for _, s := range slices.Clone(p.sandboxes) {
		used := slices.ContainsFunc(p.containers, func(c *container) bool { return c.sandbox == s })
		if s != p.sandbox() && !s.ready() && !used {
			w.removeSandbox(s)
		}
	}
}

// replaceSandbox lets a pod's sandbox die, as when its pause process is killed.
// When the kubelet sees that it kills the containers and starts over in a new sandbox.
func (w *world) replaceSandbox(p *pod) {
	if s := p.sandbox(); !p.deleting && s != nil && s.ready() {
		w.stopSandbox(s)
	}
}

// renew kills what runs of a pod whose sandbox has died, and starts it anew.
func (w *world) renew(a *act, dead *sandbox) {
	last := 700 * time.Millisecond
	for _, c := range a.pod.running() {
		takes := w.between(150*time.Millisecond, 900*time.Millisecond)
		w.kill(a, c, takes, 137)
		last = max(last, takes)
	}
	w.during(a, last+w.between(300*time.Millisecond, 700*time.Millisecond), func() { w.startSandbox(a, dead.status.Metadata.Attempt+1) })
}

// kill has a container end, which takes so long.
func (w *world) kill(a *act, c *container, takes time.Duration, code int32) {
	w.expect(a.pod, pleg.Died, c.status.Id, c.spec.name, takes+actionTime)
	w.during(a, takes, func() { w.exitContainer(c, exit{code: code}) })
}

// deletePod has the kubelet know that a pod is to go.
func (w *world) deletePod(p *pod) {
	if p.deleting {
		return
	}
	p.deleting = true
	w.cutShort(p)
	w.tell(p)
}

// terminate stops a pod's containers with its grace period. To go on from there its worker
// needs a status that is newer than that, as a kubelet's does.
func (w *world) terminate(a *act) {
	p, last := a.pod, time.Duration(0)
	if p.killed {
		w.tearDown(a)
		return
	}
	for _, c := range p.running() {
		takes, code := c.spec.life.stops+w.between(50*time.Millisecond, 300*time.Millisecond), c.spec.life.stopCode
		if takes > p.graceful() {
			takes, code = p.graceful(), 137
		}
		w.kill(a, c, takes, code)
		last = max(last, takes)
	}
	w.during(a, last+w.between(50*time.Millisecond, 200*time.Millisecond), func() {
		p.killed = true
		w.kubelet.set.Ask(w.now, p.key())
	})
}

// tearDown stops the sandboxes of a pod whose containers have ended and
// removes first the containers, then the sandboxes.
func (w *world) tearDown(a *act) {
	p := a.pod
	for _, s := range p.sandboxes {
		if s.ready() {
			w.expect(p, pleg.Died, s.status.Id, "", actionTime)
		}
		w.stopSandbox(s)
	}
	w.during(a, w.between(600*time.Millisecond, 1400*time.Millisecond), func() {
		for _, c := range slices.Clone(p.containers) {
			if !c.exited() {
				w.expect(p, pleg.Died, c.status.Id, c.spec.name, actionTime)
			}
			w.expect(p, pleg.Removed, c.status.Id, c.spec.name, actionTime)
			w.remove(c)
		}
		w.during(a, w.between(900*time.Millisecond, 1800*time.Millisecond), func() { w.removePod(p) })
	})
}

// placePod makes a pod that has been running for the duration age already,
// with as many restarts as given behind its first container. Where somebody has
// been looking on, only a pod that was there can have been: others start now.
func (w *world) placePod(spec podSpec, age time.Duration, restarts uint32) *pod {
	if w.before != nil {
		if p := w.keep(spec); p != nil {
			return p
		}
		return w.startPod(spec)
	}
	p := w.newPod(spec)
	born := w.clock.Add(-age)
	w.newSandbox(p, 0, born)
	born = born.Add(w.between(400*time.Millisecond, 900*time.Millisecond))
	for i := range p.spec.init {
		c := w.placeContainer(p, &p.spec.init[i], born)
		born = time.Unix(0, c.status.StartedAt).Add(w.between(time.Second, 4*time.Second))
		w.end(c, exit{}, born)
	}
	for i := range p.spec.containers {
		c := &p.spec.containers[i]
		if i == 0 && restarts > 0 {
			w.placeCrashed(p, c, age, restarts)
			continue
		}
		w.placeContainer(p, c, born)
	}
	w.adopt(p)
	return p
}

// placeCrashed places a container that last crashed some time ago, and the
// dead one before it.
func (w *world) placeCrashed(p *pod, spec *containerSpec, age time.Duration, restarts uint32) {
	crash := w.clock.Add(-w.between(age/4, age/2))
	p.attempts[spec.name] = restarts - 1
	w.end(w.placeContainer(p, spec, crash.Add(-age/8)), exit{code: 1}, crash)
	w.placeContainer(p, spec, crash.Add(time.Second))
}

func (w *world) placeContainer(p *pod, spec *containerSpec, created time.Time) *container {
	c := w.newContainer(p, spec, created)
	w.run(c, created.Add(w.between(90*time.Millisecond, 400*time.Millisecond)))
	return c
}
