package sim

import (
	"slices"
	"time"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A podSpec is what the kubelet was told about a pod.
type podSpec struct {
	namespace, name string
	labels          map[string]string
	hostNetwork     bool
	init            []containerSpec // run one after another before the others
	containers      []containerSpec
	restart         restartPolicy
	grace           time.Duration // to end in after SIGTERM; 0: 30 s
	manual          bool          // the kubelet keeps its hands off
}

// A containerSpec is one container of a podSpec.
type containerSpec struct {
	name, image string
	life        life
}

// A life is what a container does once it was created. The zero value runs
// until it is told to stop and then ends at once with exit code 0.
type life struct {
	stuck    bool          // is created and never started
	runs     time.Duration // 0: until it is stopped
	exit     exit          // of its own accord, after runs
	stops    time.Duration // from SIGTERM to the end; beyond the grace period it is killed
	stopCode int32
}

// An exit is how a container ended.
type exit struct {
	code            int32
	reason, message string // empty reason: as the runtime names the code
}

type restartPolicy uint8

const (
	always restartPolicy = iota
	onFailure
	never
)

// A pod is what the kubelet knows of one pod, and what exists of it.
type pod struct {
	spec       podSpec
	uid        string
	sandboxes  []*sandbox   // oldest first; like the next
	containers []*container // of all sandboxes
	attempts   map[string]uint32
	backoffs   map[string]*backoff
	rests      map[string]rest // before a restart; containers by name
	act        *act            // the sync under way; nil: none
	over       bool            // all of it has ended, for good
	deleting   bool
	killed     bool     // and all its containers have ended
	shown      pleg.Pod // as lists show it, at no time; zero where it has changed since the last
}

// A sandbox is one pod sandbox.
type sandbox struct {
	status    *cri.PodSandboxStatus // as the runtime tells it; replaced, never changed
	listed    *cri.PodSandbox       // the same as a list shows it, likewise
	pod       *pod
	pid, shim uint32
	born      time.Time // of its processes, by the world's clock
}

func (s *sandbox) ready() bool { return s.status.State == cri.PodSandboxState_SANDBOX_READY }

// A container is one container.
type container struct {
	status  *cri.ContainerStatus // as the runtime tells it; replaced, never changed
	listed  *cri.Container       // the same as a list shows it, likewise
	pod     *pod
	sandbox *sandbox
	spec    *containerSpec
	ended   time.Time // when it finished, by the script
	pid     uint32
	born    time.Time // of its process, by the world's clock
	fate    fate
}

func (c *container) runs() bool   { return c.status.State == cri.ContainerState_CONTAINER_RUNNING }
func (c *container) exited() bool { return c.status.State == cri.ContainerState_CONTAINER_EXITED }

func (p *pod) ref() string { return p.spec.namespace + "/" + p.spec.name }

// sandbox returns the newest sandbox of p, or nil.
func (p *pod) sandbox() *sandbox {
	if len(p.sandboxes) == 0 {
		return nil
	}
	return p.sandboxes[len(p.sandboxes)-1]
}

// latest returns the newest container of that name, or nil.
func (p *pod) latest(name string) *container {
	for _, c := range slices.Backward(p.containers) {
		if c.spec.name == name {
			return c
		}
	}
	return nil
}

// running returns the containers of p that run, oldest first.
func (p *pod) running() []*container {
	return slices.DeleteFunc(slices.Clone(p.containers), func(c *container) bool { return !c.runs() })
}

// graceful returns how long p's containers have to end in.
func (p *pod) graceful() time.Duration {
	if p.spec.grace > 0 {
		return p.spec.grace
	}
	return 30 * time.Second
}

// A rest is what a back-off asks of a container that has died.
type rest uint8

const (
	resting rest = iota + 1
	rested       // enough
)

// A backoff is the kubelet's patience with one crashing container.
type backoff struct {
	delay time.Duration
	at    time.Time // of the last restart
}

// The kubelet's limits for a backoff: it doubles from first to most, and is
// forgotten once a container has lasted twice the most.
const (
	firstBackoff = 10 * time.Second
	mostBackoff  = 5 * time.Minute
)

// restartIn returns how long from now the container of that name, which ended
// at the moment ended of the script, has to wait for its restart, and lets its back-off grow.
// The first restart is immediate.
func (p *pod) restartIn(name string, ended, now time.Time) time.Duration {
	b := p.backoffs[name]
	if b == nil || ended.Sub(b.at) > 2*mostBackoff {
		p.backoffs[name] = &backoff{delay: firstBackoff, at: now}
		return 0
	}
	wait := max(0, ended.Add(b.delay).Sub(now))
	b.delay = min(2*b.delay, mostBackoff)
	b.at = now.Add(wait)
	return wait
}
