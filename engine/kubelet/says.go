package kubelet

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// The kubelet's texts, to the letter. (kubelet 1.25 to 1.37: runtime.go, updateRuntimeUp, and the
// Ready condition of package nodestatus.)
const (
	statusNotChecked = "container runtime status check may not have completed yet"
	runtimeDown      = "container runtime is down"
	runtimeNotReady  = "container runtime not ready"
	networkNotReady  = "container runtime network not ready"
	networkUnknown   = "network state unknown" // of a kubelet that had no Status yet
	plegNotHealthy   = "PLEG is not healthy"
	neverListed      = "pleg has yet to be successful"

	readyReason    = "KubeletReady"
	notReadyReason = "KubeletNotReady"
	readyMessage   = "kubelet is posting ready status"
)

// refresh computes the parts of Says and PLEG that follow from the rest.
func (k *Kubelet) refresh() {
	k.PLEG.Verdict, k.PLEG.UnhealthyAt = k.verdict(), k.unhealthyAt()
	n := &k.Says
	n.Reason = notReadyReason
	if n.Ready {
		n.Reason, n.Message = readyReason, readyMessage
	}
	n.RuntimeDown, n.PLEG, n.PostingHeld = k.down(), k.plegErr(), k.ifLate(k.Poster.Asked)
	n.DownAt, n.HealthzAt = time.Time{}, time.Time{}
	if !k.Loop.Synced.IsZero() && !k.Paused() {
		n.DownAt = k.Loop.Synced.Add(call.StatusLasts)
	}
	if !n.LoopStopped.IsZero() {
		n.HealthzAt = n.LoopStopped.Add(healthzLasts)
	}
	n.Known, n.Next = k.knows(), k.next(k.changes())
}

// verdict returns what PLEG's own check says; empty if it is healthy.
func (k *Kubelet) verdict() string {
	if k.PLEG.ListedAt.IsZero() {
		return neverListed
	}
	return k.overdue()
}

// plegErr returns what the kubelet says of its PLEG; empty if that is healthy. Only a kubelet that
// starts would say that PLEG has yet to be successful.
func (k *Kubelet) plegErr() string {
	verdict := k.overdue()
	if k.Config.Starting {
		verdict = k.verdict()
	}
	if verdict == "" {
		return ""
	}
	return plegNotHealthy + ": " + verdict
}

// overdue returns what PLEG says of the age of the last good list; empty up to the threshold.
func (k *Kubelet) overdue() string {
	if err := pleg.Overdue(k.now().Sub(k.Listed), k.Config.Threshold); err != nil {
		return err.Error()
	}
	return ""
}

// unhealthyAt returns when PLEG becomes unhealthy; zero if that cannot happen, for example
// because the relist under way is late with an inspection but ends in time.
func (k *Kubelet) unhealthyAt() time.Time {
	at, ends := k.Listed.Add(k.Config.Threshold+1), k.Seen.EndsBy // an age that equals the threshold is healthy
	inTime := !ends.IsZero() && !k.ifLate(k.Seen.RelistOut).IsZero() && ends.Add(k.Config.Period+call.LateAfter).Before(at)
	if k.Paused() || !k.PLEG.Healthy || inTime {
		return time.Time{}
	}
	return at
}

// ifLate returns since when a call is out; zero if it is not out, or not late.
func (k *Kubelet) ifLate(out time.Time) time.Time {
	if age(k.At, out) < call.LateAfter {
		return time.Time{}
	}
	return out
}

// errs returns what the Ready condition would say if it were computed now; empty if the node is
// ready. The node may have other reasons, such as its disks. CRI does not show those.
func (k *Kubelet) errs() string {
	return aggregate(k.down(), k.plegErr(), k.Says.RuntimeErr, k.Says.NetworkErr)
}

// knows reports whether the kubelet's words come from calls that were seen, not from
// assumptions.
func (k *Kubelet) knows() bool {
	answered := k.Seen.Relists && !k.Seen.StatusAt.IsZero()
	granted := !k.Config.Starting && k.Says.Ready && k.Poster.Errs == "" && (k.Says.SyncedAt.IsZero() || k.PLEG.ListedAt.IsZero())
	return answered && !granted
}

// aggregate joins error texts as Kubernetes does: empty ones left out, equal ones once, and
// brackets only around several. (apimachinery NewAggregate.)
func aggregate(texts ...string) string {
	var errs []string
	for _, text := range texts {
		if text != "" && !slices.Contains(errs, text) {
			errs = append(errs, text)
		}
	}
	if len(errs) < 2 {
		return strings.Join(errs, "")
	}
	return "[" + strings.Join(errs, ", ") + "]"
}

// unmet returns what the kubelet says of a condition that is not met, or that the runtime did not
// name at all; empty if it is met. If two have the same name, the first counts.
func unmet(what string, conditions []pleg.Condition, name string) string {
	i := slices.IndexFunc(conditions, func(c pleg.Condition) bool { return c.Type == name })
	switch {
	case i < 0:
		return what + ": <nil>"
	case conditions[i].Status:
		return ""
	}
	c := conditions[i]
	return fmt.Sprintf("%s: %s=%t reason:%s message:%s", what, c.Type, c.Status, c.Reason, c.Message)
}
