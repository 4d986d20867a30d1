package past

import (
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

const (
	// listsEvery and listsKept are how closely, and how far back, the sizes of lists are
	// remembered: a minute's rise is noise, half an hour's is a trend.
	listsEvery = 15 * time.Second
	listsKept  = 120
)

// ListSizes says how many bytes the answers of both lists had at one time.
type ListSizes struct {
	At                    time.Time
	Sandboxes, Containers uint64
}

// Of returns how large the answer of one list was; 0 for any other call.
func (s ListSizes) Of(op call.Operation) uint64 {
	switch op {
	case call.ListPodSandbox:
		return s.Sandboxes
	case call.ListContainers:
		return s.Containers
	}
	return 0
}

// Listed takes down how large the answers of two lists were that succeeded.
func (k *Keeper) Listed(s ListSizes) {
	if n := len(k.now.Lists); n == 0 || s.At.Sub(k.now.Lists[n-1].At) >= listsEvery {
		k.now.Lists = keep(k.now.Lists, s, listsKept)
	}
}
