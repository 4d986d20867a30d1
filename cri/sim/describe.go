package sim

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"maps"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

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
