package lines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/plegtop/plegtop/cri"
	"github.com/plegtop/plegtop/cri/sim"
	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/evidence"
	look "github.com/plegtop/plegtop/engine/host"
	"github.com/plegtop/plegtop/engine/record"
)

const (
	faster      = 12 // times than the real one goes the clock of a scenario
	scenarioFor = 30 * time.Second
	mostSlow    = 4 * scenarioFor // where a machine is too busy for that to show anything
	atOnce      = 6
)

// Events, findings and headlines of a replay are those that there were live, to the letter, in
// each scenario of the demo; also where somebody sets the clock on the wall forth and back.
func TestEveryScenarioIsReplayed(t *testing.T) {
	var all errgroup.Group
	all.SetLimit(atOnce)
	var events, troubled atomic.Int64
	for _, sc := range sim.Scenarios() {
		all.Go(func() error {
			recording, seen, err := recordScenario(t.Context(), sc.Name)
			if err != nil {
				return fmt.Errorf("%s: %w", sc.Name, err)
			}
			live := writtenOf(t, seen)
			again, err := playedAs(recording, seen)
			if diff := cmp.Diff(live, writtenOf(t, again)); diff != "" || err != nil {
				return fmt.Errorf("%s: %v (-live +played):\n%.4000s", sc.Name, err, diff)
			}
			events.Add(int64(strings.Count(live, `"kind":"event"`)))
			if strings.Contains(live, `"kind":"finding"`) {
				troubled.Add(1)
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		t.Error(err)
	}
	if events.Load() < 100 || troubled.Load() < int64(len(sim.Scenarios())/2) {
		t.Errorf("only %d events, and something was found in %d scenarios", events.Load(), troubled.Load())
	}
}

// recordScenario has an engine watch a scenario, and returns its recording and what a reader of
// its feed saw.
func recordScenario(ctx context.Context, name string) (*record.Recording, []engine.Update, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server, err := sim.Start(ctx, sim.Config{Scenario: name, Seed: 1, Clock: faster})
	if err != nil {
		return nil, nil, err
	}
	defer server.Close()
	client, err := cri.Dial(server.Endpoint())
	if err != nil {
		return nil, nil, err
	}
	defer client.Close()
	clock := &setClock{Server: server, began: server.Now()}
	recorder := record.NewRecorder(record.Options{Ring: time.Hour})
	c := engine.Config{Runtime: client, Clock: clock, Workers: server.Workers, Tape: recorder}
	if root := server.HostRoot(); root != "" {
		node, err := look.New(look.Config{Root: root, Endpoint: server.Endpoint(), Offline: true})
		if err != nil {
			return nil, nil, err
		}
		c.Look = func(ctx context.Context, ask engine.Looking) (*evidence.Report, error) {
			r := node.Look(ctx, ask.Deep, ask.Missed...)
			return &r, nil
		}
	}
	eng, err := engine.New(c)
	if err != nil {
		return nil, nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- eng.Run(ctx) }()
	var seen []engine.Update
	events := 0
	for feed := eng.Feed(); ; {
		u, err := feed.Next(context.WithoutCancel(ctx))
		if err != nil {
			return recorder.Recording(), seen, <-ended
		}
		seen = append(seen, u)
		events += len(u.Events)
		if at := u.Snapshot.At.Sub(clock.began); at >= scenarioFor && events >= 20 || at >= mostSlow {
			cancel()
		}
	}
}

// A setClock is that of a server whose wall clock is set an hour forth after a third of the time,
// and two hours back after another one.
type setClock struct {
	*sim.Server
	began time.Time
}

func (c *setClock) Now() time.Time {
	now := c.Server.Now()
	switch third := now.Sub(c.began) / (scenarioFor / 3); {
	case third == 1:
		return wallSet(now, time.Hour)
	case third > 1:
		return wallSet(now, -time.Hour)
	}
	return now
}

// wallSet returns a time whose wall clock was set by whole seconds, and whose monotonic reading is
// as it was; there is no other way to make one (package time keeps the seconds above 30 bits).
func wallSet(t time.Time, by time.Duration) time.Time {
	*(*uint64)(unsafe.Pointer(&t)) += uint64(by/time.Second) << 30
	return t
}

// seenFeed is a feed of what was seen.
type seenFeed struct{ all []engine.Update }

func (f *seenFeed) Next(context.Context) (engine.Update, error) {
	if len(f.all) == 0 {
		return engine.Update{}, engine.ErrStopped
	}
	u := f.all[0]
	f.all = f.all[1:]
	return u, nil
}

// writtenOf is what watch writes of updates.
func writtenOf(t *testing.T, all []engine.Update) string {
	var out bytes.Buffer
	if err := Watch(t.Context(), &out, diagnose.NewLive(&seenFeed{all}, "unix:///run/demo.sock"), Options{JSON: true}); err != nil {
		t.Error(err)
	}
	return out.String()
}

// playedAs returns the updates of a recording as a reader has them who misses the same snapshots:
// the newest wins, also on a slow machine.
func playedAs(r *record.Recording, seen []engine.Update) (all []engine.Update, err error) {
	p := r.Play(time.Time{})
	defer p.Close()
	var events []engine.Event
	for len(all) < len(seen) {
		s, err := p.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		if events = append(events, s.Events...); s.Snapshot.Seq == seen[len(all)].Snapshot.Seq {
			all = append(all, engine.Update{Snapshot: s.Snapshot, Events: events})
			events = nil
		}
	}
	return all, nil
}
