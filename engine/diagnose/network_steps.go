package diagnose

import (
	"fmt"
	"slices"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/flavour"
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

// networkFolders returns where the network plugins have their configuration and programs.
func (v *view) networkFolders() string {
	switch v.flavours()[0].Name {
	case "k3s": // RKE2 has the same socket
		return "/var/lib/rancher/k3s/agent/etc/cni/net.d /etc/cni/net.d"
	case "MicroK8s":
		return flavour.SnapData + "/args/cni-network"
	}
	return "/etc/cni/net.d /opt/cni/bin"
}

// networkLook returns the step that shows the configuration of the network.
func (v *view) networkLook() Step {
	return Step{Text: "the network's configuration: without a file the plugin has not written it; of several the first counts", Command: "ls -l " + v.networkFolders()}
}

// networkLogs returns the step that shows what the network plugin of this node says; none where it is
// not known.
func (v *view) networkLogs() []Step {
	p := v.networkPod()
	if p == nil {
		return nil
	}
	all := seen(p).Containers
	i := slices.IndexFunc(all, func(c pleg.Container) bool { return c.State == pleg.Running })
	if i < 0 {
		return nil
	}
	return []Step{{Text: "what the network plugin says", Command: v.crictl("logs", "--tail=50", all[i].ID)}}
}

// networkSteps returns the steps that set up the network of a node anew: the pod that does that is
// the likely cause, and the runtime reads the configuration when it starts.
func (v *view) networkSteps(first ...Step) []Step {
	pod := v.networkPod()
	if pod == nil {
		return append(first, v.restart("reads the network's configuration again; "+v.restartRisk()))
	}
	return append(first,
		Step{Text: "how the pod does that sets up the network", Command: v.crictl("pods", "--namespace="+pod.Namespace, "--name=^"+pod.Name+"$")},
		Step{If: "only if its log names a fault", Text: "restarts what sets up the network; pods that run keep theirs", Command: deletePod(pod.PodRef, ""), Risky: true},
		v.restart("reads the configuration again; "+v.restartRisk()).when("if its pod runs and it is not enough"),
	)
}

// endPod returns the step that ends a pod whose containers may never end.
func endPod(p pleg.PodRef) Step {
	return Step{Text: "ends only this pod; its owner creates it again", Command: deletePod(p, "--force "), Risky: true}
}

// deletePod returns the command that has the owner of a pod make it anew.
func deletePod(p pleg.PodRef, flags string) string {
	command := "kubectl delete pod " + flags
	if p.Namespace != "" {
		command += "-n " + quote(p.Namespace) + " "
	}
	return command + "-- " + quote(p.Name)
}
