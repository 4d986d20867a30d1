package lines

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plegtop/plegtop/cri/sim"
	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
)

// TestAStoppedReaderBlocksNobody holds that neither a source that says a lot nor the
// relist waits for a reader that reads nothing: both go on. When it goes on, too, it gets
// the whole story: what was lost is counted in it.
func TestAStoppedReaderBlocksNobody(t *testing.T) {
	server, client := demo(t, sim.Config{Scenario: "tour"})
	var said atomic.Uint64
	flood := func(ctx context.Context, deliver func(pleg.Upstream)) error {
		for ctx.Err() == nil {
			for range 100 {
				deliver(pleg.Upstream{Signal: pleg.SignalStarted, ID: strconv.FormatUint(said.Load(), 36), At: time.Now()})
				said.Add(1)
			}
			time.Sleep(5 * ms)
		}
		return context.Cause(ctx)
	}
	eng, err := engine.New(engine.Config{
		Runtime: client, Clock: server, Period: 100 * ms, Streams: []engine.Stream{{Source: ledger.FromCgroup, On: true, Run: flood}},
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

	for feed, late := eng.Feed(), time.After(time.Minute); ; { // nobody reads
		u, err := feed.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if n := u.Snapshot.Relists.Count; n >= 5 && said.Load() >= 5000 && u.Snapshot.Sources[0].State == engine.StreamConnected {
			break
		}
		select {
		case <-late:
			t.Fatalf("beside a reader that has stopped: %d events, %+v", said.Load(), u.Snapshot.Relists)
		default:
		}
	}
	var all strings.Builder
	for lines := bufio.NewReader(r); ; {
		line, err := lines.ReadString('\n')
		if all.WriteString(line); errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(line, `"kind":"event"`) {
			cancel()
		}
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	got := validLines(t, all.String())
	if got["source"] != 2 || got["drift"] != 1 || got["event"] == 0 || !strings.Contains(all.String(), `"state":"ended"`) {
		t.Errorf("lines %v", got)
	}
}
