//go:build linux

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"google.golang.org/grpc/backoff"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// quickRetry lets a Kubelet find a restarted runtime at once.
var quickRetry = backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.5, MaxDelay: 500 * time.Millisecond}

// A Container is what a [Kubelet] is to run in a pod.
type Container struct {
	Name    string
	Attempt uint32   // how many containers of this name came before
	Args    []string // of the workload program; none: it pauses
	Memory  int64    // limit in bytes; 0: none
	Volume  string   // folder of the node that it has at /volume; empty: none
}

// Create creates a container, which is then in the state created, and returns
// its id.
func (k *Kubelet) Create(ctx context.Context, p *Pod, c Container) (string, error) {
	r, err := k.rt.CreateContainer(ctx, &criv1.CreateContainerRequest{
		PodSandboxId: p.Sandbox, SandboxConfig: p.config, Config: c.config(p),
	})
	if err != nil {
		return "", fmt.Errorf("create container %s of pod %s: %w", c.Name, p.Name, err)
	}
	return r.ContainerId, nil
}

// Start starts a created container.
func (k *Kubelet) Start(ctx context.Context, id string) error {
	if _, err := k.rt.StartContainer(ctx, &criv1.StartContainerRequest{ContainerId: id}); err != nil {
		return fmt.Errorf("start container %s: %w", id, err)
	}
	return nil
}

// Run creates and starts a container and returns its id.
func (k *Kubelet) Run(ctx context.Context, p *Pod, c Container) (string, error) {
	id, err := k.Create(ctx, p, c)
	if err != nil {
		return "", err
	}
	return id, k.Start(ctx, id)
}

// Stop asks a container to end and kills it when the grace time is over.
func (k *Kubelet) Stop(ctx context.Context, id string, grace time.Duration) error {
	_, err := k.rt.StopContainer(ctx, &criv1.StopContainerRequest{ContainerId: id, Timeout: int64(grace / time.Second)})
	if err != nil {
		return fmt.Errorf("stop container %s: %w", id, err)
	}
	return nil
}

// Remove removes a container.
func (k *Kubelet) Remove(ctx context.Context, id string) error {
	if _, err := k.rt.RemoveContainer(ctx, &criv1.RemoveContainerRequest{ContainerId: id}); err != nil {
		return fmt.Errorf("remove container %s: %w", id, err)
	}
	return nil
}

// PID returns the process id of a running container's first process. It uses
// the verbose status, which plegtop itself never asks for.
func (k *Kubelet) PID(ctx context.Context, id string) (int, error) {
	r, err := k.rt.ContainerStatus(ctx, &criv1.ContainerStatusRequest{ContainerId: id, Verbose: true})
	if err != nil {
		return 0, fmt.Errorf("find process of container %s: %w", id, err)
	}
	var info struct{ PID int }
	if err := json.Unmarshal([]byte(r.Info["info"]), &info); err != nil {
		return 0, fmt.Errorf("find process of container %s: read its verbose status: %w", id, err)
	}
	if info.PID <= 0 {
		return 0, fmt.Errorf("find process of container %s: the runtime names none", id)
	}
	return info.PID, nil
}

func (c Container) config(p *Pod) *criv1.ContainerConfig {
	labels := podLabels(p.Name, p.UID)
	labels["io.kubernetes.container.name"] = c.Name
	var mounts []*criv1.Mount
	if c.Volume != "" {
		mounts = append(mounts, &criv1.Mount{HostPath: c.Volume, ContainerPath: "/volume"})
	}
	return &criv1.ContainerConfig{
		Metadata:    &criv1.ContainerMetadata{Name: c.Name, Attempt: c.Attempt},
		Image:       &criv1.ImageSpec{Image: Image, UserSpecifiedImage: Image},
		Command:     append([]string{"/workload"}, c.Args...),
		Mounts:      mounts,
		Labels:      labels,
		Annotations: containerAnnotations(c.Attempt),
		LogPath:     fmt.Sprintf("%s_%d.log", c.Name, c.Attempt),
		Linux: &criv1.LinuxContainerConfig{
			Resources: &criv1.LinuxContainerResources{
				CpuShares: 2, OomScoreAdj: 1000, MemoryLimitInBytes: c.Memory, MemorySwapLimitInBytes: c.Memory,
			},
			SecurityContext: &criv1.LinuxContainerSecurityContext{
				NamespaceOptions: p.config.Linux.SecurityContext.NamespaceOptions,
			},
		},
	}
}
