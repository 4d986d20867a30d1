package sim

import (
	"cmp"
	"time"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// The functions in this file are what a runtime does when it is told to: each
// is one transition, at once. When they are called is the kubelet's affair.

// newPod makes a pod known; nothing of it exists yet.
func (w *world) newPod(spec podSpec) *pod {
	p := &pod{
		spec: spec, uid: w.uid(),
		attempts: map[string]uint32{}, backoffs: map[string]*backoff{}, rests: map[string]rest{},
	}
	w.pods = append(w.pods, p)
	return p
}

// newSandbox creates a sandbox for p and makes it ready.
func (w *world) newSandbox(p *pod, attempt uint32, created time.Time) *sandbox {
	s, id, ip := &sandbox{pod: p}, w.id(), ""
	s.pid = w.pid()
	s.shim = w.claim(s.pid - 1)
	if !p.spec.hostNetwork && !w.unplugged {
		ip = w.address()
	}
	s.become(p.newStatus(id, attempt, created, ip))
	p.sandboxes = append(p.sandboxes, s)
	w.sandboxes = append(w.sandboxes, s)
	w.sandboxOf[s.status.Id] = s
	w.changed(cri.ContainerEventType_CONTAINER_CREATED_EVENT, s, nil)
	w.changed(cri.ContainerEventType_CONTAINER_STARTED_EVENT, s, nil)
	return s
}

// newContainer creates a container in the newest sandbox of p.
func (w *world) newContainer(p *pod, spec *containerSpec, created time.Time) *container {
	c := &container{pod: p, sandbox: p.sandbox(), spec: spec}
	c.become(c.sandbox.newStatus(w.id(), spec, p.attempts[spec.name], created))
	p.attempts[spec.name]++
	p.containers = append(p.containers, c)
	w.containers = append(w.containers, c)
	w.containerOf[c.status.Id] = c
	w.changed(cri.ContainerEventType_CONTAINER_CREATED_EVENT, c.sandbox, c)
	return c
}

func (w *world) run(c *container, started time.Time) {
	c.pid = w.pid()
	c.become(changed(c.status, func(is *cri.ContainerStatus) {
		is.State, is.StartedAt = cri.ContainerState_CONTAINER_RUNNING, started.UnixNano()
	}))
	w.changed(cri.ContainerEventType_CONTAINER_STARTED_EVENT, c.sandbox, c)
}

func (w *world) end(c *container, how exit, finished time.Time) {
	delete(w.pids, c.pid)
	c.ended, c.pid = w.now, 0
	c.become(changed(c.status, func(is *cri.ContainerStatus) {
		is.State, is.FinishedAt = cri.ContainerState_CONTAINER_EXITED, finished.UnixNano()
		is.ExitCode, is.Reason, is.Message = how.code, cmp.Or(how.reason, reasonFor(how.code)), how.message
	}))
	w.changed(cri.ContainerEventType_CONTAINER_STOPPED_EVENT, c.sandbox, c)
}

// stopSandbox makes a sandbox not ready; its containers stay as they are.
func (w *world) stopSandbox(s *sandbox) {
	if !s.ready() {
		return
	}
	delete(w.pids, s.pid)
	s.pid = 0
	s.fall()
	w.changed(cri.ContainerEventType_CONTAINER_STOPPED_EVENT, s, nil)
}

// fall makes a sandbox not ready, without an address.
func (s *sandbox) fall() {
	s.become(changed(s.status, func(is *cri.PodSandboxStatus) {
		is.State, is.Network = cri.PodSandboxState_SANDBOX_NOTREADY, &cri.PodSandboxNetworkStatus{}
	}))
}

// remove takes a container off the node, whatever its state. It does nothing
// for one that is gone.
func (w *world) remove(c *container) {
	if w.containerOf[c.status.Id] != c {
		return
	}
	delete(w.containerOf, c.status.Id)
	delete(w.pids, c.pid)
	w.containers = drop(w.containers, c)
	c.pod.containers = drop(c.pod.containers, c)
	w.changed(cri.ContainerEventType_CONTAINER_DELETED_EVENT, c.sandbox, c)
}

// removeSandbox takes a sandbox off the node, whatever its state, and leaves
// its containers behind. It does nothing for one that is gone.
func (w *world) removeSandbox(s *sandbox) {
	if w.sandboxOf[s.status.Id] != s {
		return
	}
	delete(w.sandboxOf, s.status.Id)
	delete(w.pids, s.pid)
	delete(w.pids, s.shim)
	w.sandboxes = drop(w.sandboxes, s)
	s.fall()
	s.pod.sandboxes = drop(s.pod.sandboxes, s)
	w.changed(cri.ContainerEventType_CONTAINER_DELETED_EVENT, s, nil)
}

// removePod takes all of a pod off the node at once and forgets it.
func (w *world) removePod(p *pod) {
	p.deleting = true
	for len(p.containers) > 0 {
		w.remove(p.containers[0])
	}
	for len(p.sandboxes) > 0 {
		w.removeSandbox(p.sandboxes[0])
	}
	w.pods = drop(w.pods, p)
	p.act = nil
	w.kubelet.set.Remove(p.key())
}

// pid returns a free process id.
func (w *world) pid() uint32 { return w.claim(2000 + w.rng.Uint32N(60000)) }

// claim returns the process id, or the next that is free.
func (w *world) claim(pid uint32) uint32 {
	for w.pids[pid] {
		pid++
	}
	w.pids[pid] = true
	return pid
}
