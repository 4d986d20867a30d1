package pleg

import (
	"errors"
	"fmt"
	"time"
)

var errNeverListed = errors.New("pleg has yet to be successful")

// Healthy returns nil if the kubelet would call its PLEG healthy at now, or an
// error with the kubelet's exact text. What counts is the start of the last
// relist whose lists succeeded; a list age that equals the threshold is still
// healthy. As in the kubelet, the call moves what [Core.LastSeen] returns.
func (c *Core) Healthy(now time.Time) error {
	if c.listedAt.IsZero() {
		return errNeverListed
	}
	c.lastSeen = time.Unix(c.listedAt.Unix(), 0)
	if age := now.Sub(c.listedAt); age > c.threshold {
		return fmt.Errorf("pleg was last seen active %v ago; threshold is %v", age, c.threshold)
	}
	return nil
}

// ListedAt returns the start of the last relist of all pods whose lists
// succeeded, and zero before the first.
func (c *Core) ListedAt() time.Time { return c.listedAt }

// LastSeen returns the kubelet's metric pleg_last_seen_seconds: ListedAt in
// whole seconds, as of the last call of [Core.Healthy], not of the last relist.
// Zero stands for a metric that was never set.
func (c *Core) LastSeen() time.Time { return c.lastSeen }

// Gauges are the kubelet's metrics of what runs, as of the last relist of all
// pods.
type Gauges struct {
	RunningPods int // running_pods: with a running sandbox

	// Containers is running_containers by state. A state that no container has
	// any more keeps its last figure, as in the kubelet.
	Containers [Unknown + 1]int
}

// Gauges returns the kubelet's metrics of what runs.
func (c *Core) Gauges() Gauges { return c.gauges }

// count counts a list. The kubelet counts lines: a pod that is listed twice
// counts twice.
func (g *Gauges) count(pods []Pod) {
	var containers [Unknown + 1]int
	g.RunningPods = 0
	for i := range pods {
		for j := range pods[i].Containers {
			containers[min(pods[i].Containers[j].State.listed(), Unknown)]++
		}
		if pods[i].running() {
			g.RunningPods++
		}
	}
	for s, n := range containers {
		if n > 0 {
			g.Containers[s] = n
		}
	}
}

func (p *Pod) running() bool {
	for i := range p.Sandboxes {
		if p.Sandboxes[i].State == Running {
			return true
		}
	}
	return false
}
