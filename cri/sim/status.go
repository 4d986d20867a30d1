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

func (r runtimeService) Status(_ context.Context, q *cri.StatusRequest) (*cri.StatusResponse, error) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	answer := &cri.StatusResponse{
		Status:          &cri.RuntimeStatus{Conditions: r.s.scene.conditions()},
		RuntimeHandlers: []*cri.RuntimeHandler{{Name: "", Features: &cri.RuntimeHandlerFeatures{}}, {Name: "runc", Features: &cri.RuntimeHandlerFeatures{}}},
		Features:        &cri.RuntimeFeatures{SupplementalGroupsPolicy: true},
	}
	if q.GetVerbose() {
		answer.Info = map[string]string{
			"config": `{"containerd":{"defaultRuntimeName":"runc"},"cgroupDriver":"systemd"}`, "golang": `"go1.26.8"`,
			"lastCNILoadStatus": "OK", "lastCNILoadStatus.default": "OK",
		}
		if r.s.scene.networkBad {
			const text = "cni config load failed: no network config found in /etc/cni/net.d: cni plugin not initialized: failed to load cni config"
			answer.Info["lastCNILoadStatus"], answer.Info["lastCNILoadStatus.default"] = text, text
		}
	}
	return answer, nil
}

func (r runtimeService) RuntimeConfig(context.Context, *cri.RuntimeConfigRequest) (*cri.RuntimeConfigResponse, error) {
	return &cri.RuntimeConfigResponse{Linux: &cri.LinuxRuntimeConfiguration{CgroupDriver: cri.CgroupDriver_SYSTEMD}}, nil
}
