package diagnose

import (
	"fmt"
	"slices"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

// networkPods begin the names of the pods that set up the network of a node: one of a DaemonSet
// on each. Their namespace differs from one installation to the next.
var networkPods = []string{
	"antrea-agent-", "aws-node-", "azure-cni-", "calico-node-", "canal-", "cilium-", "kindnet-", "kube-flannel-", "kube-ovn-cni-",
	"kube-router-", "ovnkube-node-", "sdn-", "weave-net-",
}

// notOnEachNode begin the names of pods of the same programs that set up no node's network.
var notOnEachNode = []string{"cilium-envoy-", "cilium-operator-", "cilium-test-"}

// networkPod returns the pod of this node that sets up its network; nil if none is known to. Of
// several instances the one that runs counts.
func (v *view) networkPod() (found *engine.Pod) {
	for _, p := range v.Pods {
		isOne := beginsAs(p.Name, networkPods) && !beginsAs(p.Name, notOnEachNode)
		runs := slices.ContainsFunc(seen(p).Sandboxes, func(s pleg.Sandbox) bool { return s.State == pleg.Running })
		if isOne && (runs || found == nil) {
			found = p
		}
	}
	return found
}

// networkState says how the pod is that sets up the network, since a step is about to end it; nothing
// where it is not known.
func (v *view) networkState() string {
	p := v.networkPod()
	if p == nil {
		return ""
	}
	all, running := seen(p).Containers, 0
	for _, c := range all {
		if c.State == pleg.Running {
			running++
		}
	}
	return fmt.Sprintf("the pod that sets up the network is %s: %d of %d containers running", p.PodRef, running, len(all))
}

// networkValues are what commands about the network of this node need: its agent's container and pod.
func (v *view) networkValues() Values {
	values, p := Values{}, v.networkPod()
	if p == nil {
		return values
	}
	values["namespace"], values["name"] = one(p.Namespace), one(p.Name)
	all := seen(p)
	if i := slices.IndexFunc(all.Containers, func(c pleg.Container) bool { return c.State == pleg.Running }); i >= 0 {
		values["agentId"] = short(all.Containers[i].ID)
	}
	if len(all.Sandboxes) > 0 {
		values["sandbox"] = short(all.Sandboxes[0].ID)
	}
	return values
}
