package diagnose

import (
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
)

const (
	// growthEvery and growthKept are how closely, and how far back, list sizes
	// are remembered: a minute's rise is noise, half an hour's is a trend.
	growthEvery = 15 * time.Second
	growthKept  = 120
	// growthSpan is the least time over which a rate is given.
	growthSpan = time.Minute
)

// growth remembers how large the answers of both lists were, oldest first.
type growth []listSizes

type listSizes struct {
	at    time.Time
	bytes map[call.Operation]uint64 // of the lists that had an answer
}

func (g *growth) add(u engine.Update) {
	s := u.Snapshot
	if n := len(*g); n > 0 && s.At.Sub((*g)[n-1].at) < growthEvery || s.Failure != nil {
		return
	}
	now := listSizes{s.At, make(map[call.Operation]uint64)}
	for i := range s.Calls {
		if c := &s.Calls[i]; aboutList(c.Op) && c.LastResponseBytes > 0 {
			now.bytes[c.Op] = c.LastResponseBytes
		}
	}
	if len(now.bytes) > 0 {
		*g = keep(*g, now, growthKept)
	}
}

// forecast says how fast a list grows and when it will be full; empty if that
// is not known yet or if it does not grow.
func (g growth) forecast(op call.Operation, n uint64, at time.Time) string {
	if len(g) == 0 {
		return ""
	}
	was, seen := g[0].bytes[op], at.Sub(g[0].at)
	if seen < growthSpan || n <= was || was == 0 {
		return ""
	}
	perMinute := float64(n-was) / seen.Minutes()
	grows := fmt.Sprintf("grows by %s a minute", size(uint64(perMinute)))
	if n >= listLimit {
		return grows
	}
	left := time.Duration(float64(listLimit-n) / perMinute * float64(time.Minute))
	return grows + ": full in about " + span(max(0, left))
}

// last says how large the list was when it last came through.
func (g growth) last(op call.Operation, at time.Time) string {
	if len(g) == 0 || g[len(g)-1].bytes[op] == 0 {
		return ""
	}
	was := g[len(g)-1]
	return fmt.Sprintf("%s at %s, when it last came through", size(was.bytes[op]), clock(was.at, at))
}
