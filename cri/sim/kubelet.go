package sim

import (
	"slices"
	"time"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// startPod makes a pod and lets the kubelet start it: the sandbox, then the
// init containers one after another, then the others.
func (w *world) startPod(spec podSpec) *pod {
	p := w.newPod(spec)
	w.after(w.between(150*time.Millisecond, 450*time.Millisecond), func() { w.startSandbox(p, 0) })
	return p
}

func (w *world) startSandbox(p *pod, attempt uint32) {
	if p.deleting {
		return
	}
	w.newSandbox(p, attempt, w.wall())
	w.after(w.between(250*time.Millisecond, 600*time.Millisecond), func() { w.sync(p) })
}

// sync does what the pod p needs next. Calling it once too often does no harm.
func (w *world) sync(p *pod) {
	s := p.sandbox()
	if p.deleting || p.spec.manual || s == nil || !s.ready {
		return
	}
	for i := range p.spec.init {
		if !w.syncContainer(p, &p.spec.init[i], onFailure) {
			return
		}
	}
	done := true
	for i := range p.spec.containers {
		done = w.syncContainer(p, &p.spec.containers[i], p.spec.restart) && done
	}
	if done { // of its own accord, for good: the kubelet stops the sandbox
		w.after(w.between(400*time.Millisecond, 900*time.Millisecond), func() { w.stopSandbox(s) })
	}
}

// syncContainer starts or restarts a container if it has to, and reports
// whether it has ended for good.
func (w *world) syncContainer(p *pod, spec *containerSpec, policy restartPolicy) bool {
	c := p.latest(spec.name)
	switch {
	case p.pending[spec.name]:
		return false
	case c == nil:
		w.launch(p, spec, 0)
		return false
	case c.state != cri.ContainerState_CONTAINER_EXITED:
		return false
	case policy == never, policy == onFailure && c.exit.code == 0:
		return true
	}
	w.launch(p, spec, p.restartIn(spec.name, c.ended, w.now))
	return false
}

// launch creates and starts a container once wait has passed, unless the
// sandbox that it is meant for has gone by then.
func (w *world) launch(p *pod, spec *containerSpec, wait time.Duration) {
	s := p.sandbox()
	p.pending[spec.name] = true
	w.after(wait+w.between(80*time.Millisecond, 250*time.Millisecond), func() {
		p.pending[spec.name] = false
		if p.deleting || p.sandbox() != s || !s.ready {
			return
		}
		c := w.newContainer(p, spec, w.wall())
		if !spec.life.stuck {
			w.after(w.between(150*time.Millisecond, 500*time.Millisecond), func() { w.startContainer(c) })
		}
	})
}

// startContainer starts a created container and lets it live its life.
func (w *world) startContainer(c *container) {
	if c.state != cri.ContainerState_CONTAINER_CREATED || c.pod.deleting || !c.sandbox.ready {
		return
	}
	w.run(c, w.wall())
	if l := c.spec.life; l.runs > 0 {
		w.after(l.runs, func() { w.exitContainer(c, l.exit) })
	}
}

// exitContainer ends a running container and lets the kubelet see to it.
func (w *world) exitContainer(c *container, how exit) {
	if c.state != cri.ContainerState_CONTAINER_RUNNING {
		return
	}
	w.end(c, how, w.wall())
	if c.pod.deleting || c.pod.spec.manual {
		return
	}
	w.after(w.between(150*time.Millisecond, 300*time.Millisecond), func() { w.sync(c.pod) })
	w.after(w.between(300*time.Millisecond, 700*time.Millisecond), func() { w.prune(c.pod, c.spec.name) })
}

// prune removes the dead containers of one name but for the newest.
func (w *world) prune(p *pod, name string) {
	kept := false
	for _, c := range slices.Backward(slices.Clone(p.containers)) {
		if c.spec.name != name || c.state != cri.ContainerState_CONTAINER_EXITED {
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
		if s != p.sandbox() && !s.ready && !used {
			w.removeSandbox(s)
		}
	}
}

// replaceSandbox lets a pod's sandbox die, as when its pause process is killed.
// The kubelet kills the containers and starts over in a new sandbox.
func (w *world) replaceSandbox(p *pod) {
	s := p.sandbox()
	if p.deleting || s == nil || !s.ready {
		return
	}
	w.stopSandbox(s)
	last := time.Second
	for _, c := range p.running() {
		takes := w.between(300*time.Millisecond, 1100*time.Millisecond)
		w.after(takes, func() { w.exitContainer(c, exit{code: 137}) })
		last = max(last, takes)
	}
	w.after(last+w.between(300*time.Millisecond, 700*time.Millisecond), func() { w.startSandbox(p, s.attempt+1) })
}

// deletePod stops a pod's containers with its grace period, then the sandbox,
// then removes all of it.
func (w *world) deletePod(p *pod) {
	if p.deleting {
		return
	}
	p.deleting = true
	last := time.Duration(0)
	for _, c := range p.running() {
		takes, code := c.spec.life.stops+w.between(50*time.Millisecond, 300*time.Millisecond), c.spec.life.stopCode
		if takes > p.graceful() {
			takes, code = p.graceful(), 137
		}
		w.after(takes, func() { w.exitContainer(c, exit{code: code}) })
		last = max(last, takes)
	}
	w.after(last+w.between(200*time.Millisecond, 500*time.Millisecond), func() { w.tearDown(p) })
}

// tearDown stops the sandboxes of a pod whose containers have ended and
// removes first the containers, then the sandboxes.
func (w *world) tearDown(p *pod) {
	for _, s := range p.sandboxes {
		w.stopSandbox(s)
	}
	w.after(w.between(600*time.Millisecond, 1400*time.Millisecond), func() {
		for _, c := range slices.Clone(p.containers) {
			w.remove(c)
		}
		w.after(w.between(900*time.Millisecond, 1800*time.Millisecond), func() { w.removePod(p) })
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
	born := w.wall().Add(-age)
	w.newSandbox(p, 0, born)
	born = born.Add(w.between(400*time.Millisecond, 900*time.Millisecond))
	for i := range p.spec.init {
		c := w.placeContainer(p, &p.spec.init[i], born)
		born = c.started.Add(w.between(time.Second, 4*time.Second))
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
	return p
}

// placeCrashed places a container that last crashed some time ago, and the
// dead one before it.
func (w *world) placeCrashed(p *pod, spec *containerSpec, age time.Duration, restarts uint32) {
	crash := w.wall().Add(-w.between(age/4, age/2))
	p.attempts[spec.name] = restarts - 1
	w.end(w.placeContainer(p, spec, crash.Add(-age/8)), exit{code: 1}, crash)
	w.placeContainer(p, spec, crash.Add(time.Second))
}

func (w *world) placeContainer(p *pod, spec *containerSpec, created time.Time) *container {
	c := w.newContainer(p, spec, created)
	w.run(c, created.Add(w.between(90*time.Millisecond, 400*time.Millisecond)))
	return c
}
