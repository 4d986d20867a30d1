package sim

import (
	"context"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// conditions returns what Status says.
func (sn *scene) conditions() []*cri.RuntimeCondition {
	network := &cri.RuntimeCondition{Type: "NetworkReady", Status: true}
	if sn.networkBad {
		network = &cri.RuntimeCondition{
			Type: "NetworkReady", Reason: "NetworkPluginNotReady",
			Message: "Network plugin returns error: cni plugin not initialized",
		}
	}
	runtime := &cri.RuntimeCondition{Type: "RuntimeReady", Status: true}
	if sn.runtimeBad {
		runtime = &cri.RuntimeCondition{
			Type: "RuntimeReady", Reason: "ContainerdNotReady",
			Message: "Containerd grpc server is not serving",
		}
	}
	return []*cri.RuntimeCondition{
		runtime, network, {Type: "ContainerdHasNoDeprecationWarnings", Status: true},
	}
}

func (r runtimeService) Version(context.Context, *cri.VersionRequest) (*cri.VersionResponse, error) {
	return &cri.VersionResponse{
		Version: "0.1.0", RuntimeName: "containerd", RuntimeVersion: "v2.4.2", RuntimeApiVersion: "v1",
	}, nil
}

func (r runtimeService) Status(context.Context, *cri.StatusRequest) (*cri.StatusResponse, error) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return &cri.StatusResponse{Status: &cri.RuntimeStatus{Conditions: r.s.scene.conditions()}}, nil
}
