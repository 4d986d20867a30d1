package past

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// LossShown is how long after the last discarded event the losses are still shown. The kubelet looks at
	// each pod again within about a minute, whatever became of its events. Five minutes give people time to see
	// it.
	LossShown = 5 * time.Minute
	// losersMost is how many pods are remembered by name, and lossIDs is how many containers of each: one storm
	// may lose events of every pod.
	losersMost = 500
	lossIDs    = 3
)

// Losses says which events found no room in the kubelet's channel, from the first one after a quiet time on.
type Losses struct {
	Total       uint64
	First, Last time.Time
	Pods        map[pleg.PodRef]Loss
}

// A Loss is what one pod lost.
type Loss struct {
	Total uint64
	Kinds map[pleg.Kind]uint64
	IDs   []string // names of the first few containers
}

// Lost notes an event that was discarded.
func (k *Keeper) Lost(e pleg.Event, at time.Time) {
	l := k.losses(at)
	l.Total++
	l.Last = at
	pod, known := l.Pods[e.Pod]
	if !known && len(l.Pods) >= losersMost {
		return
	}
	pod.Total++
	pod.Kinds = maps.Clone(pod.Kinds)
	if pod.Kinds == nil {
		pod.Kinds = make(map[pleg.Kind]uint64)
	}
	pod.Kinds[e.Kind]++
	if name := cmp.Or(e.Container, e.ID); len(pod.IDs) < lossIDs && !slices.Contains(pod.IDs, name) {
		pod.IDs = append(slices.Clip(pod.IDs), name)
	}
	l.Pods[e.Pod] = pod
}

// losses returns the losses of now, in a copy that may be written to.
func (k *Keeper) losses(at time.Time) *Losses {
	switch l := k.now.Losses; {
	case l == nil || at.Sub(l.Last) > LossShown:
		k.own = &Losses{First: at, Pods: make(map[pleg.PodRef]Loss)}
	case k.own == nil:
		now := *l
		now.Pods = maps.Clone(l.Pods)
		k.own = &now
	}
	k.now.Losses = k.own
	return k.own
}

// Unnamed returns how many events were lost of pods that are not remembered.
func (l *Losses) Unnamed() uint64 {
	named := uint64(0)
	for _, pod := range l.Pods {
		named += pod.Total
	}
	return l.Total - named
}
