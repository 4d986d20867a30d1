package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/pleg"
)

// What the kubelet says, to the letter. (kubelet 1.25 to 1.37: runtime.go,
// updateRuntimeUp, and the Ready condition of package nodestatus.)
const (
	statusNotChecked = "container runtime status check may not have completed yet"
	runtimeDown      = "container runtime is down"
	runtimeNotReady  = "container runtime not ready"
	networkNotReady  = "container runtime network not ready"
	networkUnknown   = "network state unknown" // of a kubelet that had no Status yet
	plegNotHealthy   = "PLEG is not healthy"

	readyReason    = "KubeletReady"
	notReadyReason = "KubeletNotReady"
	readyMessage   = "kubelet is posting ready status"
)

// A chain is the kubelet's chain of health checks at one moment, in the order
// in which it is gone through. A part is empty where all is well.
type chain struct{ down, pleg, runtime, network string }

// ready returns the node's Ready condition. That the kubelet has other reasons
// as well, such as its disks, is nothing that can be seen over CRI.
func (c chain) ready() (ready bool, reason, message string) {
	if text := aggregate(c.down, c.pleg, c.runtime, c.network); text != "" {
		return false, notReadyReason, text
	}
	return true, readyReason, readyMessage
}

// aggregate joins error texts as Kubernetes does: the empty ones left out,
// equal ones once, and brackets only around several.
func aggregate(texts ...string) string {
	var said []string
	for _, text := range texts {
		if text != "" && !slices.Contains(said, text) {
			said = append(said, text)
		}
	}
	if len(said) < 2 {
		return strings.Join(said, "")
	}
	return "[" + strings.Join(said, ", ") + "]"
}

// unmet returns what the kubelet says of a condition that is not met, or that
// the runtime did not name at all; empty if it is met. Of two with one name the
// first counts.
func unmet(what string, conditions []pleg.Condition, name string) string {
	for _, c := range conditions {
		if c.Type != name {
			continue
		}
		if c.Status {
			return ""
		}
		return fmt.Sprintf("%s: %s=%t reason:%s message:%s", what, c.Type, c.Status, c.Reason, c.Message)
	}
	return what + ": <nil>"
}
