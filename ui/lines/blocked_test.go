package lines

import (
	"bufio"
	"context"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plegtop/plegtop/cri/sim"
	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
)

// TestAStoppedReaderBlocksNobody holds that neither a source that says a lot nor the
// relist waits for a reader that reads nothing, and that this gets the whole story when it
// goes on: what was lost is counted in it.
func TestAStoppedReaderBlocksNobody(t *testing.T) {
	server, client := demo(t, sim.Config{Scenario: "churn"})
	var longest atomic.Int64 // that it took to deliver an event
	var said atomic.Uint64
	flood := func(ctx context.Context, deliver func(pleg.Upstream)) error {
		for ctx.Err() == nil {
			for range 100 {
				began := time.Now()
				deliver(pleg.Upstream{Signal: pleg.SignalStarted, ID: strconv.FormatUint(said.Add(1), 36), At: began})
				longest.Store(max(longest.Load(), int64(time.Since(began))))
			}
			time.Sleep(5 * ms)
		}
		return context.Cause(ctx)
	}
	eng, err := engine.New(engine.Config{
		Runtime: client, Clock: server, Period: 100 * ms, Streams: []engine.Stream{{Source: engine.FromCgroup, On: true, Run: flood}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { _ = eng.Run(ctx) }()
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- Watch(ctx, w, diagnose.NewLive(eng.Feed(), ""), Options{JSON: true})
		_ = w.Close()
	}()

	time.Sleep(2 * time.Second) // nobody reads
	u, err := eng.Feed().Next(ctx)
	if err != nil || u.Snapshot.Relists.Count < 5 {
		t.Errorf("%d relists beside a reader that has stopped: %v", u.Snapshot.Relists.Count, err)
	}
	if took := time.Duration(longest.Load()); took > 200*ms || said.Load() < 1000 {
		t.Errorf("of %d events one took %v to deliver", said.Load(), took)
	}
	go func() {
		time.Sleep(time.Second / 2)
		cancel()
	}()
	var all strings.Builder
	if _, err := bufio.NewReader(r).WriteTo(&all); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	got := validLines(t, all.String())
	if got["source"] != 2 || got["drift"] != 1 || got["event"] == 0 || !strings.Contains(all.String(), `"state":"ended"`) {
		t.Errorf("lines %v", got)
	}
}
