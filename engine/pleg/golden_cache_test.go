package pleg

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"
)

type cacheTrace struct {
	Name    string
	Evented bool `json:"evented_gate"`
	Steps   []struct {
		In  cacheIn
		Out cacheOut
	}
}

type cacheIn struct {
	Op     string
	ID     UID
	MS     int64
	Label  string
	Waiter int
}

type cacheOut struct {
	Updated  bool
	Got      *cacheAnswer
	Resolved []cacheAnswer
	Pending  []int
}

type cacheAnswer struct {
	Waiter     int
	Label, Err string
}

// TestPodCacheGolden holds the cache against the kubelet's own.
func TestPodCacheGolden(t *testing.T) {
	traces, steps := 0, 0
	eachTrace(t, cacheSchema, func(t *testing.T, trace cacheTrace) {
		traces++
		p := cachePlayer{
			clock:   clock{start: time.UnixMilli(1_700_000_000_000)},
			cache:   NewCache(trace.Evented),
			waiters: map[Ticket]int{},
		}
		for i, step := range trace.Steps {
			steps++
			got, err := p.play(step.In)
			if err != nil {
				t.Errorf("%s step %d: %v", trace.Name, i, err)
				return
			}
			if diff := diffLoosely(step.Out, got); diff != "" {
				t.Errorf("%s step %d %+v (-kubelet +cache):\n%s", trace.Name, i, step.In, diff)
				return
			}
		}
	})
	if traces == 0 {
		t.Error("no trace was read")
	}
	t.Logf("%d cache traces, %d steps", traces, steps)
}

// A cachePlayer plays a trace. A status carries its label as the pod's name.
type cachePlayer struct {
	clock
	cache   *Cache
	waiters map[Ticket]int // that were not served yet, by their names in the trace
}

func (p *cachePlayer) play(in cacheIn) (cacheOut, error) {
	var out cacheOut
	at := p.at(in.MS)
	switch in.Op {
	case "set":
		out.Updated = p.cache.Set(in.ID, &PodStatus{PodRef: PodRef{UID: in.ID, Name: in.Label}}, nil, at)
	case "set_error":
		out.Updated = p.cache.Set(in.ID, nil, errors.New(in.Label), at)
	case "delete":
		p.cache.Delete(in.ID)
	case "update_time":
		p.cache.UpdateTime(at)
	case "get":
		st, err := p.cache.Get(in.ID)
		out.Got = new(answered(0, st, err))
	case "wait":
		ticket, served := p.cache.Subscribe(in.ID, at)
		if served {
			st, err := p.cache.Get(in.ID)
			out.Resolved = append(out.Resolved, answered(in.Waiter, st, err))
			break
		}
		p.waiters[ticket] = in.Waiter
	default:
		return out, fmt.Errorf("operation %q is not known", in.Op)
	}
	for _, a := range p.cache.Served() {
		label := answered(p.waiters[a.Ticket], a.Status, nil)
		label.Err = a.Err
		out.Resolved = append(out.Resolved, label)
		delete(p.waiters, a.Ticket)
	}
	waiting := 0
	for _, list := range p.cache.Waiting {
		waiting += len(list)
	}
	if waiting != len(p.waiters) {
		return out, fmt.Errorf("%d wait, want %d", waiting, len(p.waiters))
	}
	out.Pending = slices.Sorted(maps.Values(p.waiters))
	return out, nil
}

func answered(waiter int, st *PodStatus, err error) cacheAnswer {
	a := cacheAnswer{Waiter: waiter, Label: "<nil>"}
	if st != nil {
		a.Label = st.Name
	}
	if err != nil {
		a.Err = err.Error()
	}
	return a
}
