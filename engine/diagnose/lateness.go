package diagnose

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
)

// asOfLeast is how old a list must be for that to be told: younger ones may be so
// between two relists that succeed.
const asOfLeast = 5 * time.Second

// AsOf returns when the pods of a snapshot were listed, if that is old because a relist
// hangs or fails; else zero.
func AsOf(s *engine.Snapshot) time.Time {
	hangs := slices.ContainsFunc(s.InFlight, func(f call.Flight) bool { return f.By == call.ByRelist && Late(s, f) })
	if !hangs && s.Failure == nil || s.Health.ListAge(s.At) < asOfLeast {
		return time.Time{}
	}
	return s.Health.ListedAt
}
