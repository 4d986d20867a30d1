package sim

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
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
	killed     bool      // and all its containers have ended
	shown      *pleg.Pod // as lists show it; nil after it has changed
}

// A sandbox is one pod sandbox.
type sandbox struct {
	status    *cri.PodSandboxStatus // as the runtime tells it; replaced, never changed
	listed    *cri.PodSandbox       // the same as a list shows it, likewise
	pod       *pod
	pid, shim uint32
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

// The kubelet's labels, by which it knows its own containers again.
const (
	labelPodName       = "io.kubernetes.pod.name"
	labelPodNamespace  = "io.kubernetes.pod.namespace"
	labelPodUID        = "io.kubernetes.pod.uid"
	labelContainerName = "io.kubernetes.container.name"
)

// newStatus returns the status of a sandbox of p that has just been made, ready.
func (p *pod) newStatus(id string, attempt uint32, created time.Time, ip string) *cri.PodSandboxStatus {
	labels := map[string]string{labelPodName: p.spec.name, labelPodNamespace: p.spec.namespace, labelPodUID: p.uid}
	maps.Copy(labels, p.spec.labels)
	network := cri.NamespaceMode_POD
	if p.spec.hostNetwork {
		network = cri.NamespaceMode_NODE
	}
	return &cri.PodSandboxStatus{
		Id: id, State: cri.PodSandboxState_SANDBOX_READY, CreatedAt: created.UnixNano(), Network: &cri.PodSandboxNetworkStatus{Ip: ip},
		Metadata: &cri.PodSandboxMetadata{Name: p.spec.name, Namespace: p.spec.namespace, Uid: p.uid, Attempt: attempt},
		Linux: &cri.LinuxPodSandboxStatus{Namespaces: &cri.Namespace{
			Options: &cri.NamespaceOption{Network: network, Pid: cri.NamespaceMode_CONTAINER},
		}},
		Labels: labels, Annotations: map[string]string{
			"kubernetes.io/config.seen":   created.UTC().Format(time.RFC3339Nano),
			"kubernetes.io/config.source": "api",
		},
	}
}

// become gives s another status.
func (s *sandbox) become(is *cri.PodSandboxStatus) {
	s.status = is
	s.listed = &cri.PodSandbox{
		Id: is.Id, Metadata: is.Metadata, State: is.State, CreatedAt: is.CreatedAt, Labels: is.Labels, Annotations: is.Annotations,
	}
}

// newStatus returns the status of a container of s that has just been made.
func (s *sandbox) newStatus(id string, spec *containerSpec, attempt uint32, created time.Time) *cri.ContainerStatus {
	p, image := s.pod, imageID(spec.image)
	return &cri.ContainerStatus{
		Id: id, Metadata: &cri.ContainerMetadata{Name: spec.name, Attempt: attempt}, State: cri.ContainerState_CONTAINER_CREATED,
		CreatedAt: created.UnixNano(), Image: &cri.ImageSpec{Image: spec.image}, ImageRef: image, ImageId: image,
		Labels: map[string]string{
			labelContainerName: spec.name, labelPodName: p.spec.name, labelPodNamespace: p.spec.namespace, labelPodUID: p.uid,
		},
		Annotations: map[string]string{
			"io.kubernetes.container.hash":                     shortHash(spec.name + spec.image),
			"io.kubernetes.container.restartCount":             strconv.Itoa(int(attempt)),
			"io.kubernetes.container.terminationMessagePath":   "/dev/termination-log",
			"io.kubernetes.container.terminationMessagePolicy": "File",
			"io.kubernetes.pod.terminationGracePeriod":         strconv.Itoa(int(p.graceful().Seconds())),
		},
		StopSignal: cri.Signal_SIGNAL_SIGTERM, Resources: resources,
		LogPath: fmt.Sprintf("/var/log/pods/%s_%s_%s/%s/%d.log", p.spec.namespace, p.spec.name, p.uid, spec.name, attempt),
		Mounts: []*cri.Mount{{
			ContainerPath: "/etc/hosts", HostPath: "/var/lib/kubelet/pods/" + p.uid + "/etc-hosts",
		}},
	}
}

// resources are those of every container.
var resources = &cri.ContainerResources{Linux: &cri.LinuxContainerResources{
	CpuPeriod: 100000, CpuShares: 102, MemoryLimitInBytes: 256 << 20, OomScoreAdj: 992,
}}

// become gives c another status.
func (c *container) become(is *cri.ContainerStatus) {
	c.status = is
	c.listed = &cri.Container{
		Id: is.Id, PodSandboxId: c.sandbox.status.Id, Metadata: is.Metadata, State: is.State, CreatedAt: is.CreatedAt,
		Image: &cri.ImageSpec{Image: is.ImageId, UserSpecifiedImage: is.Image.Image}, ImageRef: is.ImageRef, ImageId: is.ImageId,
		Labels: is.Labels, Annotations: is.Annotations,
	}
}

// changed returns a message that differs from another by what change sets in it, and shares
// the rest with that.
func changed[M proto.Message](was M, change func(M)) M {
	is := was.ProtoReflect().New()
	was.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		is.Set(f, v)
		return true
	})
	m := is.Interface().(M)
	change(m)
	return m
}

// reasonFor returns the runtime's word for an exit code.
func reasonFor(code int32) string {
	if code == 0 {
		return "Completed"
	}
	return "Error"
}

func imageID(image string) string {
	sum := sha256.Sum256([]byte(image))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func shortHash(s string) string {
	h := fnv.New32a()
	h.Write([]byte(s))
	return fmt.Sprintf("%08x", h.Sum32())
}
