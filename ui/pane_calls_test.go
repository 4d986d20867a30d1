package ui

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/ui/calls"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/text"
)

// fields returns what the pane shows of an operation.
func fields(s *Stage, op string) string {
	return strings.Join(strings.Fields(strings.TrimPrefix(s.Row(op+" "), op)), " ")
}

// busy gives all operations a past of two minutes: each takes longer than the one before, now
// and then much longer, and one call of lists failed for a while.
func busy(s *engine.Snapshot) *engine.Snapshot {
	for i := range s.Calls {
		c := &s.Calls[i]
		for n := range 120 {
			took := time.Duration((1+i)*(300+n*n%53*40)) * time.Microsecond
			if (n+i)%41 == 7 {
				took *= 90
			}
			if i == 5 && n > 100 && n < 110 {
				took = time.Duration(n-100) * time.Second
			}
			at := answers.Second{At: s.Started.Add(time.Duration(3480+n) * time.Second), Count: 1, Slowest: took}
			if i == 2 && n >= 60 && n < 64 {
				at.Errors = 1
			}
			c.Seconds = append(c.Seconds, at)
		}
	}
	return s
}

func TestCallsGolden(t *testing.T) {
	sweep := SweepOf(330, true)
	sweep.Began, sweep.Ended = Ago(3*time.Minute), Ago(177*time.Second)
	s := busy(Probed(sweep))
	s.Policy = answers.Policy{ListTimeout: 2 * time.Minute, CallTimeout: 2 * time.Second}
	s.Calls[0], s.Calls[3] = answers.Calls{}, answers.Calls{Op: call.ListContainers, InFlight: 1}
	NewStage(calls.New(pane.Settings{}), With(View(s), Findings()...), 118, 35).Press("G").Golden(t, "hung")
	for _, snap := range []*engine.Snapshot{busy(Healthy()), busy(Failing()), Streamed(), Hostile()} {
		for _, size := range Sizes {
			NewStage(calls.New(pane.Settings{}), View(snap), size[0], size[1]).Press(">", ">", "j").Check(t)
		}
	}
}

// TestBelow holds that errors by gRPC code are to be seen on a narrow screen, too, and
// what the columns there have no room for.
func TestBelow(t *testing.T) {
	snap := Healthy()
	snap.Calls[5] = answers.Calls{
		Op: call.ContainerStatus, Count: 40, Errors: 3, Gone: 2, Max: 3 * time.Second, RequestBytes: 3000, ResponseBytes: 50_000,
		ByCode:  []answers.CodeCount{{Code: "Unknown", Count: 2}, {Code: "DeadlineExceeded", Count: 1}},
		LastErr: &call.Error{Op: call.ContainerStatus, Kind: call.ErrOther, Code: "Unknown", Text: "ttrpc: closed"}, LastErrAt: Ago(5 * time.Second),
	}
	s := NewStage(calls.New(pane.Settings{}), View(snap), 76, 20).Press("G")
	for _, want := range []string{
		"ContainerStatus errors: Unknown 2 DeadlineExceeded 1; 5s ago Unknown: ttrpc:",
		"closed",
		"ContainerStatus: 40 calls, the longest 3.0s, 2 gone; received 48K, sent 2.9K",
	} {
		if got := s.Row(want); got != want {
			t.Errorf("%q, want %q:\n%s", got, want, s.Text())
		}
	}
}

// TestWords holds what is said of one call, of a probe that fails, and of what was answered
// a few seconds ago; what is known of an operation only where the keys are.
func TestWords(t *testing.T) {
	snap := Healthy()
	snap.Calls[0] = answers.Calls{Op: call.Version, Count: 1, Max: 2 * time.Second, P50: 2 * time.Second, LastOK: Ago(9 * time.Second)}
	snap.Probes = []answers.Outcome{{Flight: call.Flight{Op: call.Status}, At: Noon, Err: context.DeadlineExceeded}}
	s := NewStage(calls.New(pane.Settings{}), View(snap), 118, 20)
	for _, want := range []string{"Version: 1 call, the longest 2.0s", "Status fails: "} {
		if s.Row(want) == "" {
			t.Errorf("no line says %q:\n%s", want, s.Text())
		}
	}
	if got := fields(s, "Version"); !strings.HasPrefix(got, "now 2.0s ") {
		t.Errorf("Version: %q", got)
	}
	if line := s.Lines()[1]; !strings.Contains(line, s.V.Theme.Selected.With(s.V.Theme.Warn).On) {
		t.Errorf("what took 2 s is not loud in %q", line)
	}
	l, s := text.Line{}, NewStage(calls.New(pane.Settings{}), View(snap), 118, 9)
	for y := range 9 {
		l.Begin(118)
		s.Draw(&l, y, false)
	}
	if strings.Contains(string(l.Buf), "the longest") {
		t.Error("what is under a cursor is said where no cursor is seen")
	}
}

// TestTry holds that a call that was asked for again is not taken for the first, whose
// age is another: what hangs has hung for longer.
func TestTry(t *testing.T) {
	snap := Healthy()
	snap.InFlight = []call.Flight{{Op: call.ListContainers, Since: Ago(77 * time.Second)}}
	snap.Calls[3].InFlight = 1
	if got := fields(NewStage(calls.New(pane.Settings{}), View(snap), 150, 20), "ListContainers"); !strings.Contains(got, " 1 1m17s ") {
		t.Errorf("the first: %q", got)
	}
	snap.Failure = &answers.Failure{Flight: call.Flight{Op: call.ListContainers}, Err: context.DeadlineExceeded, InRow: 1}
	snap.InFlight[0].Since = Ago(400 * time.Millisecond)
	if got := fields(NewStage(calls.New(pane.Settings{}), View(snap), 150, 20), "ListContainers"); !strings.Contains(got, " 1 3248 ") {
		t.Errorf("one that is just out: %q", got)
	}
	snap.InFlight[0].Since = Ago(77 * time.Second)
	for w, want := range map[int]string{40: "1 1m17s ", 78: " 1 1m17s ", 118: " 1 1m17s 2nd try ", 150: " 1 1m17s 2nd try "} {
		if got := fields(NewStage(calls.New(pane.Settings{}), View(snap), w, 20), "ListContainers"); !strings.Contains(got, want) {
			t.Errorf("the second, in %d cells: %q, want %q", w, got, want)
		}
	}
	snap.Probes = []answers.Outcome{{Flight: call.Flight{Op: call.Version}, At: Noon, Took: time.Millisecond}}
	if s := NewStage(calls.New(pane.Settings{}), View(snap), 78, 20); s.Row("while ListContainers (2nd try) hangs: Version 1ms answers") == "" {
		t.Errorf("no line says which try it is:\n%s", s.Text())
	}
}

// TestStreams holds that how the event sources stand is told below the calls, and that a
// stream that is open is no call that hangs.
func TestStreams(t *testing.T) {
	s := NewStage(calls.New(pane.Settings{}), View(Streamed()), 78, 24)
	for _, want := range []string{"EVENT SOURCE  STATE", "cgroup        ▲ lost            now       407      9    30s", "DRIFT    SEEN", "cri: broke last with: Unavailable"} {
		if s.Row(want) == "" {
			t.Errorf("no line says %q:\n%s", want, s.Text())
		}
	}
	if got := fields(s, "GetContainerEvents"); !strings.Contains(got, " 1 open ") {
		t.Errorf("the stream: %q", got)
	}
	if least := s.Info().Wanted; least < 8+2+2+1+3 {
		t.Errorf("the pane can make use of %d lines", least)
	}
	off := Healthy()
	off.Sources = []sources.SourceState{{Source: sources.FromCRI}}
	if got := NewStage(calls.New(pane.Settings{}), View(off), 78, 24).Text(); got != NewStage(calls.New(pane.Settings{}), View(Healthy()), 78, 24).Text() {
		t.Errorf("where they are off:\n%s", got)
	}
}

// TestCursorIsOnWhatHangs holds that the cursor begins on the operation that hangs, and stays where a
// person puts it.
func TestCursorIsOnWhatHangs(t *testing.T) {
	s := NewStage(calls.New(pane.Settings{}), View(Healthy()), 118, 9)
	on := func(want string) {
		t.Helper()
		if got := s.Subject().Operation; got != want {
			t.Errorf("the cursor is on %s, want %s", got, want)
		}
	}
	on("Version")
	s.V = View(Hung())
	s.Refresh()
	on("ContainerStatus")
	s.Press("up")
	s.Refresh()
	on("PodSandboxStatus")
}
