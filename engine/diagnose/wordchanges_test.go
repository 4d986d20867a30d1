package diagnose

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

// A stand is how a node is, as far as that matters to its kubelet.
type stand struct{ listed, healthy, ready, reached, lists, byTurns, hangs bool }

// standOf returns how the node is in a snapshot: whether there was a good list, PLEG's verdict, what is posted, whether
// the runtime is there, and whether its lists succeed or hang. If calls succeed and fail in turn, a call that succeeds
// after one that failed is no change of the node.
func standOf(s *engine.Snapshot) stand {
	v := factsOf(Input{Snapshot: s, Evidence: s.Evidence})
	now := stand{listed: !s.Health.ListedAt.IsZero(), healthy: s.Health.Healthy, ready: s.Node.Ready, byTurns: v.failsByTurns()}
	now.reached = now.byTurns || v.Scope != answers.Refused
	now.lists = now.byTurns || s.Failure == nil || s.Failure.InRow < v.Policy.Bounds().ListFails
	now.hangs = slices.ContainsFunc(s.InFlight, func(f call.Flight) bool { return f.By == call.ByRelist && f.Elapsed(s.At) >= answers.Hung })
	return now
}

// wordsOver runs a live engine over two minutes of a runtime that play controls, and returns the words of the headline
// and the states of the node, one after the other, as they change.
func wordsOver(t *testing.T, play func(r *faulty, at time.Duration)) (said []string, states []stand) {
	began := time.Now()
	n := &node{Snapshot: *healthy(5).after(began.Sub(now)).Snapshot}
	r := &faulty{lists: *n, flipped: map[string]bool{}, changed: make(chan struct{})}
	e, err := engine.New(engine.Config{Runtime: r, Look: r.look})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = e.Run(ctx) })
	live := NewLive(e.Feed(), "unix://"+ourSocket)
	last := ""
	running.Go(func() {
		for u, err := live.Next(ctx); err == nil; u, err = live.Next(ctx) {
			if now := standOf(u.Snapshot); !slices.Equal(states[max(len(states)-1, 0):], []stand{now}) {
				states = append(states, now)
			}
			if u.Headline.Word != last {
				last = u.Headline.Word
				said = append(said, u.Snapshot.At.Sub(began).Truncate(time.Second).String()+" "+last+": "+u.Headline.Text)
			}
			if strings.Contains(u.Headline.Text, "intermittently") && u.Headline.Clock.What != "" {
				t.Errorf("a clock for what each success stops: %+v", u.Headline)
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	for at := time.Duration(0); at < 2*time.Minute; at += time.Second {
		r.set(func() { play(r, at) })
		time.Sleep(time.Second)
	}
	cancel()
	running.Wait()
	return said, states
}

// The word of a headline does not change more often than the state of the node. One call in five that fails is one
// state. A runtime that comes and goes is another state, and so is a hang that lasts over the deadlines of its
// inspection.
func TestWordChangesWithTheState(t *testing.T) {
	down := func(op call.Operation, _ string) error {
		return &call.Error{Op: op, Kind: call.ErrUnavailable, Code: "Unavailable", Text: "connection refused"}
	}
	for name, play := range map[string]func(seed uint64) func(r *faulty, at time.Duration){
		"one call in five fails": func(seed uint64) func(*faulty, time.Duration) {
			errs := []call.Error{{Kind: call.ErrUnavailable, Code: "Unavailable"}, {Kind: call.ErrOther, Code: "Unknown"}, {Kind: call.ErrOther, Code: "Internal"}}
			chances := make(map[call.Operation]*rand.Rand) // of each, so that the order of calls beside each other changes nothing
			var mu sync.Mutex
			return func(r *faulty, _ time.Duration) {
				r.wrong = func(op call.Operation, _ string) error {
					mu.Lock()
					defer mu.Unlock()
					if chances[op] == nil {
						chances[op] = rand.New(rand.NewPCG(seed, uint64(op)))
					}
					chance := chances[op]
					if chance.IntN(5) > 0 {
						return nil
					}
					err := errs[chance.IntN(len(errs))]
					err.Op, err.Text = op, "broken"
					return &err
				}
			}
		},
		"away for 6 s in 20": func(uint64) func(*faulty, time.Duration) {
			return func(r *faulty, at time.Duration) {
				if r.wrong = nil; at%(20*time.Second) >= 8*time.Second && at%(20*time.Second) < 14*time.Second {
					r.wrong = down
				}
			}
		},
		"one container hangs": func(uint64) func(*faulty, time.Duration) {
			return func(r *faulty, at time.Duration) {
				if at == 5*time.Second {
					touch(1, hangsAt(func(op call.Operation, id string) bool { return op == call.ContainerStatus && id == "container-1-0" }))(r)
				}
			}
		},
	} {
		for seed := range uint64(5) {
			t.Run(fmt.Sprint(name, ", seed ", seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					said, states := wordsOver(t, play(seed))
					most := len(states) + answers.Outages - 1 // before it is known that lists fail by turns, HEALTHY shows in between
					if len(said) > most || strings.Contains(strings.Join(said, ""), "LOOP STOPPED") {
						t.Errorf("%d words, at most %d are wanted:\n%s", len(said), most, strings.Join(said, "\n"))
					}
				})
			})
		}
	}
}
