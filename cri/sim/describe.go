package sim

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"maps"
	"strconv"
	"time"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// The kubelet's labels, by which it knows its own containers again.
const (
	labelPodName       = "io.kubernetes.pod.name"
	labelPodNamespace  = "io.kubernetes.pod.namespace"
	labelPodUID        = "io.kubernetes.pod.uid"
	labelContainerName = "io.kubernetes.container.name"
)

// describe sets what never changes about s, and its line in the list.
func (s *sandbox) describe() {
	p := s.pod
	s.labels = map[string]string{labelPodName: p.spec.name, labelPodNamespace: p.spec.namespace, labelPodUID: p.uid}
	maps.Copy(s.labels, p.spec.labels)
	s.annotations = map[string]string{
		"kubernetes.io/config.seen":   s.created.UTC().Format(time.RFC3339Nano),
		"kubernetes.io/config.source": "api",
	}
	s.list()
}

func (s *sandbox) list() {
	s.listed = &cri.PodSandbox{
		Id: s.id, Metadata: s.metadata(), State: s.state(), CreatedAt: s.created.UnixNano(),
		Labels: s.labels, Annotations: s.annotations,
	}
}

func (s *sandbox) metadata() *cri.PodSandboxMetadata {
	p := s.pod
	return &cri.PodSandboxMetadata{Name: p.spec.name, Namespace: p.spec.namespace, Uid: p.uid, Attempt: s.attempt}
}

func (s *sandbox) state() cri.PodSandboxState {
	if s.ready {
		return cri.PodSandboxState_SANDBOX_READY
	}
	return cri.PodSandboxState_SANDBOX_NOTREADY
}

func (s *sandbox) status() *cri.PodSandboxStatus {
	network := cri.NamespaceMode_POD
	if s.pod.spec.hostNetwork {
		network = cri.NamespaceMode_NODE
	}
	return &cri.PodSandboxStatus{
		Id: s.id, Metadata: s.metadata(), State: s.state(), CreatedAt: s.created.UnixNano(),
		Network: &cri.PodSandboxNetworkStatus{Ip: s.ip},
		Linux: &cri.LinuxPodSandboxStatus{Namespaces: &cri.Namespace{
			Options: &cri.NamespaceOption{Network: network, Pid: cri.NamespaceMode_CONTAINER},
		}},
		Labels: s.labels, Annotations: s.annotations,
	}
}

// describe sets what never changes about c, and its line in the list.
func (c *container) describe() {
	p := c.pod
	c.labels = map[string]string{
		labelContainerName: c.spec.name, labelPodName: p.spec.name, labelPodNamespace: p.spec.namespace, labelPodUID: p.uid,
	}
	c.annotations = map[string]string{
		"io.kubernetes.container.hash":                     shortHash(c.spec.name + c.spec.image),
		"io.kubernetes.container.restartCount":             strconv.Itoa(int(c.attempt)),
		"io.kubernetes.container.terminationMessagePath":   "/dev/termination-log",
		"io.kubernetes.container.terminationMessagePolicy": "File",
		"io.kubernetes.pod.terminationGracePeriod":         strconv.Itoa(int(p.graceful().Seconds())),
	}
	c.list()
}

func (c *container) list() {
	id := imageID(c.spec.image)
	c.listed = &cri.Container{
		Id: c.id, PodSandboxId: c.sandbox.id, Metadata: c.metadata(),
		Image: &cri.ImageSpec{Image: id, UserSpecifiedImage: c.spec.image}, ImageRef: id, ImageId: id,
		State: c.state, CreatedAt: c.created.UnixNano(), Labels: c.labels, Annotations: c.annotations,
	}
}

func (c *container) metadata() *cri.ContainerMetadata {
	return &cri.ContainerMetadata{Name: c.spec.name, Attempt: c.attempt}
}

func (c *container) status() *cri.ContainerStatus {
	p := c.pod
	s := &cri.ContainerStatus{
		Id: c.id, Metadata: c.metadata(), State: c.state,
		CreatedAt: c.created.UnixNano(), StartedAt: nanos(c.started), FinishedAt: nanos(c.finished),
		Image: &cri.ImageSpec{Image: c.spec.image}, ImageRef: imageID(c.spec.image), ImageId: imageID(c.spec.image),
		Labels: c.labels, Annotations: c.annotations, StopSignal: cri.Signal_SIGNAL_SIGTERM,
		LogPath: fmt.Sprintf("/var/log/pods/%s_%s_%s/%s/%d.log", p.spec.namespace, p.spec.name, p.uid, c.spec.name, c.attempt),
		Mounts: []*cri.Mount{{
			ContainerPath: "/etc/hosts", HostPath: "/var/lib/kubelet/pods/" + p.uid + "/etc-hosts",
		}},
		Resources: &cri.ContainerResources{Linux: &cri.LinuxContainerResources{
			CpuPeriod: 100000, CpuShares: 102, MemoryLimitInBytes: 256 << 20, OomScoreAdj: 992,
		}},
	}
	if c.state == cri.ContainerState_CONTAINER_EXITED {
		s.ExitCode, s.Reason, s.Message = c.exit.code, cmp.Or(c.exit.reason, reasonFor(c.exit.code)), c.exit.message
	}
	return s
}

// reasonFor returns the runtime's word for an exit code.
func reasonFor(code int32) string {
	if code == 0 {
		return "Completed"
	}
	return "Error"
}

// nanos returns t as CRI gives times: 0 where there is none.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
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
