// Package podlist says how each pod stands, and which are shown in what order, for all
// panes alike. It belongs to one goroutine.
package podlist

import (
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A Pod is what is shown of one pod, worked out when it changed.
type Pod struct {
	Pod *engine.Pod
}

// A List is all pods, and those that are shown.
type List struct {
	Shown    []*Pod // in their order: the worst first unless a person sorts
	Troubled int    // pods with a problem, shown or not
	Hung     int    // those of them with a call that hangs
}

// Observe takes over the pods of s, and what is wrong with them.
func (l *List) Observe(s *engine.Snapshot, troubles map[pleg.UID]diagnose.Trouble) {}

// Filter chooses the pods that are shown; nil for all. Timed says that which they are
// can change though they do not.
func (l *List) Filter(show func(p *Pod, at time.Time) bool, timed bool) {}

// Find returns a pod by its UID, or nil.
func (l *List) Find(uid pleg.UID) *Pod { return nil }
