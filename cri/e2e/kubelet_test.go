//go:build linux

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Image is the name of the image that up imports; Namespace the Kubernetes
// namespace of every pod that a [Kubelet] makes.
const (
	Image     = "docker.io/plegtop/workload:1"
	Namespace = "e2e"
)

// cgroupParent is where the pods' cgroups go, apart from those of a real
// kubelet on the same machine. The script up removes it.
const cgroupParent = "/plegtop-e2e"

// A Kubelet makes pods and takes them down over CRI, with the labels,
// annotations and order of calls of the real one. It does nothing by itself:
// no restart, no garbage collection. It is safe for concurrent use.
type Kubelet struct {
	conn *grpc.ClientConn
	rt   criv1.RuntimeServiceClient
	logs string
	pods atomic.Uint32
}

// A Pod is one pod that a [Kubelet] has made. Its fields don't change.
type Pod struct {
	Name, UID string
	Sandbox   string // the sandbox's id
	config    *criv1.PodSandboxConfig
}

// Connect returns a Kubelet for the runtime at the unix socket, which need not
// be up yet. Container logs go below the folder logs.
func Connect(socket, logs string) (*Kubelet, error) {
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: quickRetry}))
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", socket, err)
	}
	return &Kubelet{conn: conn, rt: criv1.NewRuntimeServiceClient(conn), logs: logs}, nil
}

// Close ends the connection. The pods stay.
func (k *Kubelet) Close() error { return k.conn.Close() }

// RunPod makes a pod with a ready sandbox and no containers, on the network of
// the host or on one of its own.
func (k *Kubelet) RunPod(ctx context.Context, name string, hostNetwork bool) (*Pod, error) {
	uid := k.newUID()
	config := podConfig(name, uid, hostNetwork)
	config.LogDirectory = filepath.Join(k.logs, Namespace+"_"+name+"_"+uid)
	if err := os.MkdirAll(config.LogDirectory, 0o755); err != nil {
		return nil, fmt.Errorf("make log folder of pod %s: %w", name, err)
	}
	r, err := k.rt.RunPodSandbox(ctx, &criv1.RunPodSandboxRequest{Config: config})
	if err != nil {
		return nil, fmt.Errorf("run sandbox of pod %s: %w", name, err)
	}
	return &Pod{Name: name, UID: uid, Sandbox: r.PodSandboxId, config: config}, nil
}

// newUID returns a UID that no earlier run has used, because a runtime may
// still hold that run's pods.
func (k *Kubelet) newUID() string {
	now := time.Now().UnixNano()
	return fmt.Sprintf("%08x-%04x-4000-8000-%012x", uint32(now>>32), uint16(now>>16), uint64(now&0xffff)<<32|uint64(k.pods.Add(1)))
}

// StopPod stops the sandbox and what still runs in it; the pod stays listed. A
// stop that fails is asked for again, as the kubelet does in a later sync:
// containerd 1.6 ends its connection to the shim of a container that has just
// died, and a stop of the pod that is on its way there fails ("ttrpc: closed").
func (k *Kubelet) StopPod(ctx context.Context, p *Pod) error {
	for syncs := 1; ; syncs++ {
		_, err := k.rt.StopPodSandbox(ctx, &criv1.StopPodSandboxRequest{PodSandboxId: p.Sandbox})
		if err == nil {
			return nil
		}
		if ctx.Err() != nil || syncs == 5 {
			return fmt.Errorf("stop pod %s: %w", p.Name, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// RemovePod removes a stopped pod and its containers.
func (k *Kubelet) RemovePod(ctx context.Context, p *Pod) error {
	if _, err := k.rt.RemovePodSandbox(ctx, &criv1.RemovePodSandboxRequest{PodSandboxId: p.Sandbox}); err != nil {
		return fmt.Errorf("remove pod %s: %w", p.Name, err)
	}
	return nil
}

// Pods returns the pods in [Namespace] that the runtime lists, of this run and
// of earlier ones, in no order.
func (k *Kubelet) Pods(ctx context.Context) ([]*Pod, error) {
	r, err := k.rt.ListPodSandbox(ctx, &criv1.ListPodSandboxRequest{})
	if err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	var pods []*Pod
	for _, s := range r.Items {
		if m := s.GetMetadata(); m.GetNamespace() == Namespace {
			pods = append(pods, &Pod{Name: m.Name, UID: m.Uid, Sandbox: s.Id})
		}
	}
	return pods, nil
}

// RemoveAll stops and removes every pod of [Kubelet.Pods]. It goes on after a
// failure and returns all of them.
func (k *Kubelet) RemoveAll(ctx context.Context) error {
	pods, err := k.Pods(ctx)
	for _, p := range pods {
		err = errors.Join(err, k.StopPod(ctx, p), k.RemovePod(ctx, p))
	}
	return err
}

// Ready returns nil once the runtime says that it and its network are ready.
func (k *Kubelet) Ready(ctx context.Context) error {
	r, err := k.rt.Status(ctx, &criv1.StatusRequest{}, grpc.WaitForReady(true))
	if err != nil {
		return fmt.Errorf("ask for the runtime's status: %w", err)
	}
	for _, c := range r.GetStatus().GetConditions() {
		if !c.Status && (c.Type == criv1.RuntimeReady || c.Type == criv1.NetworkReady) {
			return errors.New(c.Type + " is false: " + c.Reason + ": " + c.Message)
		}
	}
	return nil
}

func podConfig(name, uid string, hostNetwork bool) *criv1.PodSandboxConfig {
	network := criv1.NamespaceMode_POD
	if hostNetwork {
		network = criv1.NamespaceMode_NODE
	}
	return &criv1.PodSandboxConfig{
		Metadata: &criv1.PodSandboxMetadata{Name: name, Namespace: Namespace, Uid: uid},
		Labels:   podLabels(name, uid),
		Annotations: map[string]string{
			"kubernetes.io/config.seen":   time.Now().Format(time.RFC3339Nano),
			"kubernetes.io/config.source": "api",
		},
		Linux: &criv1.LinuxPodSandboxConfig{
			CgroupParent: cgroupParent + "/pod" + uid,
			SecurityContext: &criv1.LinuxSandboxSecurityContext{
				NamespaceOptions: &criv1.NamespaceOption{Network: network, Pid: criv1.NamespaceMode_CONTAINER},
			},
		},
	}
}

func podLabels(name, uid string) map[string]string {
	return map[string]string{
		"io.kubernetes.pod.name":      name,
		"io.kubernetes.pod.namespace": Namespace,
		"io.kubernetes.pod.uid":       uid,
	}
}

func containerAnnotations(attempt uint32) map[string]string {
	return map[string]string{
		"io.kubernetes.container.hash":                     "5f0c3a11",
		"io.kubernetes.container.restartCount":             strconv.FormatUint(uint64(attempt), 10),
		"io.kubernetes.container.terminationMessagePath":   "/dev/termination-log",
		"io.kubernetes.container.terminationMessagePolicy": "File",
		"io.kubernetes.pod.terminationGracePeriod":         "30",
	}
}
