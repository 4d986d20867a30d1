package engine

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
)

// Requests is what somebody asked for since the last [Requested]. Equal requests become one,
// so that a key that is hit often takes no more memory.
type Requests struct {
	Paused     bool // the state that is wanted, asked for now or before
	Relist     bool
	Reinspect  []pleg.UID    // each pod once, in the order asked
	Period     time.Duration // 0: as it is
	CheckAll   CheckAll
	SetStreams bool
	Streams    []ledger.Source // event sources that are wanted from now on, if SetStreams
	Held       bool            // all of them are closed for a while, asked for now or before
}

// A CheckAll is what was asked for last about the check of all objects.
type CheckAll uint8

// The requests about the check of all objects.
const (
	CheckAllAsIs CheckAll = iota
	CheckAllBegins
	CheckAllEnds
)

// reinspect asks for a pod, if nobody has asked for it yet.
func (r *Requests) reinspect(uid pleg.UID) {
	if !slices.Contains(r.Reinspect, uid) {
		r.Reinspect = append(r.Reinspect, uid)
	}
}
