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

// growth remembers how large the answers of both lists were.
type growth struct {
	sizes []listSizes // oldest first, at most growthKept
}

type listSizes struct {
	at                    time.Time
	sandboxes, containers uint64
}

func (l listSizes) of(op call.Operation) uint64 {
	if op == call.ListPodSandbox {
		return l.sandboxes
	}
	return l.containers
}

func (g *growth) add(u engine.Update) {
	s := u.Snapshot
	if n := len(g.sizes); n > 0 && s.At.Sub(g.sizes[n-1].at) < growthEvery || s.Failure != nil {
		return
	}
	now := listSizes{s.At, sums(s, call.ListPodSandbox).LastResponseBytes, sums(s, call.ListContainers).LastResponseBytes}
	if now.sandboxes == 0 && now.containers == 0 {
		return
	}
	if len(g.sizes) == growthKept {
		g.sizes = append(g.sizes[:0], g.sizes[1:]...)
	}
	g.sizes = append(g.sizes, now)
}

// forecast says how fast a list grows and when it will be full; empty if that
// is not known yet or if it does not grow.
func (g *growth) forecast(op call.Operation, n uint64, at time.Time) string {
	if len(g.sizes) == 0 {
		return ""
	}
	first := g.sizes[0]
	seen := at.Sub(first.at)
	if was := first.of(op); seen >= growthSpan && n > was && was > 0 {
		perMinute := float64(n-was) / seen.Minutes()
		if n >= listLimit {
			return fmt.Sprintf("grows by %s a minute", size(uint64(perMinute)))
		}
		left := time.Duration(float64(listLimit-n) / perMinute * float64(time.Minute))
		return fmt.Sprintf("grows by %s a minute: full in about %s", size(uint64(perMinute)), span(max(0, left)))
	}
	return ""
}

// last says how large the list was when it last came through.
func (g *growth) last(op call.Operation) string {
	if len(g.sizes) == 0 {
		return ""
	}
	was := g.sizes[len(g.sizes)-1]
	if was.of(op) == 0 {
		return ""
	}
	return fmt.Sprintf("%s at %s, when it last came through", size(was.of(op)), clock(was.at))
}
