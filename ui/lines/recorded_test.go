package lines

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/record"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/ui/rewind"
)

// hungNight is the recording of 22 minutes, in which the status of one container hangs from 7 min to
// 20 min.
const hungNight = "../../engine/record/testdata/nights/hung.plegrec"

// damaged returns a copy of that recording, changed.
func damaged(t *testing.T, change func([]byte) []byte) (path string) {
	t.Helper()
	b, err := os.ReadFile(hungNight)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "night.plegrec")
	if err := os.WriteFile(path, change(b), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// live returns what diagnosis says of the recording, played from its beginning as a live feed.
func live(t *testing.T) *diagnose.Live {
	t.Helper()
	return diagnose.NewLive(played{opened(t, hungNight, "").recording.Play(time.Time{})}, "unix:///run/containerd/containerd.sock")
}

func opened(t *testing.T, path, at string) *Recorded {
	t.Helper()
	recording, moment, err := rewind.Open(t.Context(), path, at, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { recording.Close() })
	return NewRecorded(recording, moment)
}

// watched returns what watch wrote live.
func watched(t *testing.T, o Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := Watch(t.Context(), &out, live(t), o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// What watch writes of a recording is what it wrote live, to the letter.
func TestWatchOfARecording(t *testing.T) {
	for _, o := range []Options{{}, {JSON: true}} {
		var out bytes.Buffer
		if _, err := opened(t, hungNight, "").Watch(t.Context(), &out, o); err != nil {
			t.Fatal(err)
		}
		want := watched(t, o)
		if diff := cmp.Diff(want, out.String()); diff != "" || !strings.Contains(want, "pleg-unhealthy") {
			t.Errorf("%+v (-live +played):\n%s", o, diff)
		}
	}
}

// From a moment on it begins with what holds then, and goes on as live.
func TestWatchFromAMomentOn(t *testing.T) {
	var out bytes.Buffer
	if _, err := opened(t, hungNight, "-10m").Watch(t.Context(), &out, Options{}); err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(out.String(), "\n")
	if !strings.HasPrefix(first, "00:12:00.") || !strings.Contains(first, "headline: AT RISK") || !strings.Contains(rest, " finding began: critical inspect-hung") {
		t.Errorf("begins with %q, and goes on\n%s", first, rest)
	}
	const health = "PLEG is not healthy: pleg was last seen active 3m0s ago"
	if live := watched(t, Options{}); strings.Count(live, health) != strings.Count(out.String(), health) {
		t.Errorf("goes on otherwise than live:\n%s", &out)
	}
}

// Of a damaged recording all is written that can be read, and it is said up to when that is.
func TestWatchOfADamagedRecording(t *testing.T) {
	path := damaged(t, func(b []byte) []byte {
		b[bytes.LastIndex(b, []byte("SEGM"))] ^= 0xff // where the last segment begins
		return b
	})
	var out bytes.Buffer
	code, err := opened(t, path, "").Watch(t.Context(), &out, Options{})
	if code != ExitWarning || err == nil || !strings.Contains(err.Error(), "the recording can be read up to 2000-01-01 ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v", err)
	}
	if !strings.Contains(out.String(), "inspect-hung") {
		t.Errorf("written:\n%s", &out)
	}
	if code, err := opened(t, path, "-10s").Check(t.Context(), &out, CheckOptions{}); code == ExitCannotTell && err == nil {
		t.Error("a check of a damaged moment gives no reason")
	}
	if code, err := opened(t, path, "").Bench(t.Context(), &out, CheckOptions{}); code != ExitWarning || err == nil || !strings.Contains(err.Error(), "can be read up to 2000-01-01 ") {
		t.Errorf("bench: exit code %d, %v", code, err)
	}
}

// So is one that ends in the middle, as while its writer goes on: that is no fault of what was written.
func TestARecordingThatEndsInTheMiddle(t *testing.T) {
	path := damaged(t, func(b []byte) []byte { return b[:len(b)-64] })
	const said = "the file ends in the middle: its writer was killed, or it still writes"
	var out bytes.Buffer
	if code, err := opened(t, path, "").Watch(t.Context(), &out, Options{}); code != ExitOK || !errors.Is(err, record.ErrCut) || !strings.Contains(err.Error(), "the recording can be read up to 2000-01-01 ") || !strings.Contains(err.Error(), said) {
		t.Errorf("watch: %v", err)
	}
	if !strings.Contains(out.String(), "\n00:21:") {
		t.Errorf("written:\n%s", &out)
	}
	for at, says := range map[string]bool{"": true, "-1s": false, "-0s": true} {
		if code, err := opened(t, path, at).Check(t.Context(), &out, CheckOptions{}); code == ExitCannotTell || says != errors.Is(err, record.ErrCut) {
			t.Errorf("check at %q: exit code %d, %v", at, code, err)
		}
	}
	if code, err := opened(t, path, "").Bench(t.Context(), &out, CheckOptions{}); code != ExitOK || !errors.Is(err, record.ErrCut) {
		t.Errorf("bench: exit code %d, %v", code, err)
	}
}

// The verdict of a moment is that of what was shown then.
func TestCheckOfARecording(t *testing.T) {
	end := opened(t, hungNight, "").last
	feed := live(t)
	var all []diagnose.Update
	for {
		u, err := feed.Next(t.Context())
		if err != nil {
			break
		}
		all = append(all, u)
	}
	at := func(d time.Duration) (last diagnose.Update) {
		for _, u := range all {
			if !u.Snapshot.At.After(end.Add(-d)) {
				last = u
			}
		}
		return last
	}
	for _, tt := range []struct {
		at   string
		back time.Duration
		code int
	}{{"", 0, ExitWarning}, {"-9m30s", 9*time.Minute + 30*time.Second, ExitCritical}, {"-19m", 19 * time.Minute, ExitOK}} {
		u := at(tt.back)
		o := CheckOptions{JSON: true, Source: "replay", Node: "worker-17", Endpoint: "unix:///run/containerd/containerd.sock"}
		want, _ := o.Answer(u)
		var out bytes.Buffer
		code, err := opened(t, hungNight, tt.at).Check(t.Context(), &out, CheckOptions{JSON: true})
		if err != nil || code != tt.code || code != ExitCode(u) {
			t.Errorf("at %q: exit code %d, %v, want %d", tt.at, code, err, tt.code)
		}
		if diff := cmp.Diff(string(want), out.String()); diff != "" {
			t.Errorf("at %q (-live +played):\n%s", tt.at, diff)
		}
		if err := valid(out.Bytes()); err != nil {
			t.Errorf("at %q: %v", tt.at, err)
		}
	}
}

// What bench says of a recording is what its events, its drift and its looks at the node say.
func TestBenchOfARecording(t *testing.T) {
	const drifted = "../../engine/record/testdata/event-drift.plegrec"
	var out bytes.Buffer
	if code, err := opened(t, drifted, "").Bench(t.Context(), &out, CheckOptions{JSON: true}); code != ExitOK || err != nil {
		t.Fatalf("exit code %d, %v", code, err)
	}
	validBench(t, out.Bytes())
	var got struct {
		Source string
		Rows   []struct {
			Source                    string
			Transitions, MissedOf     uint64
			Missed                    *uint64
			LagP50Seconds, ForSeconds float64
		}
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Source != "replay" || len(got.Rows) != 2 {
		t.Fatalf("%s", &out)
	}
	none, cri := got.Rows[0], got.Rows[1]
	if none.Source != "none" || none.Missed == nil || *none.Missed != 0 || none.MissedOf != none.Transitions || none.LagP50Seconds < 0.1 || none.LagP50Seconds > 1 {
		t.Errorf("the relist: %+v", none)
	}
	if cri.Source != "cri" || cri.Missed == nil || *cri.Missed != 188 || cri.MissedOf != 505 || cri.LagP50Seconds != none.LagP50Seconds { // its stream comes after the relist
		t.Errorf("the stream: %+v", cri)
	}
	out.Reset()
	if code, err := opened(t, drifted, "-30s").Bench(t.Context(), &out, CheckOptions{}); code != ExitOK || err != nil || !strings.Contains(out.String(), "(30s) on demo-node") {
		t.Errorf("from a moment on: exit code %d, %v: %s", code, err, &out)
	}
}

// Each run and each period has rows of its own, which say when they are of, and costs are what the node says.
func TestBenchOfSeveralRuns(t *testing.T) {
	var all []*stretch
	for i, period := range []time.Duration{time.Second, 5 * time.Second} {
		s := newStretch(period)
		for n := range 10 {
			u := second(60*i + n)
			u.Snapshot.Period, u.Snapshot.Health.ListedAt = period, u.Snapshot.At
			u.Snapshot.Sources = []sources.SourceState{{Source: sources.FromCgroup, State: sources.StreamConnected}, {Source: sources.FromCRI, State: sources.StreamLost}}
			u.Snapshot.Evidence = &evidence.Report{Usage: []evidence.Usage{{Name: "containerd", CPU: 0.5}, {Name: "plegtop", CPU: 0.25}}}
			both := map[sources.Source]time.Duration{sources.FromCgroup: u.Snapshot.At.Sub(noon), sources.FromRelist: u.Snapshot.At.Sub(noon) + 300*ms}
			s.take(t.Context(), engine.Update{Snapshot: u.Snapshot, Events: []engine.Event{transitionOf(strconv.Itoa(n), u.Snapshot.At.Sub(noon), ms, both)}})
		}
		all = append(all, s)
	}
	var rows []string
	for _, s := range all {
		for _, m := range s.finish(true) {
			o := m.object(false)
			rows = append(rows, strings.Join(append(o.cells(), o.Remarks...), " "))
		}
	}
	want := []string{
		"1s none 301ms 301ms 9 0 of 9 0.0 25.00% 50.00% from 12:00:00 for 9s",
		"1s cgroup 1ms 1ms 9 0 of 0 0.0 25.00% 50.00% from 12:00:00 for 9s",
		"5s none 301ms 301ms 9 0 of 9 0.0 25.00% 50.00% from 12:01:00 for 9s",
		"5s cgroup 1ms 1ms 9 0 of 0 0.0 25.00% 50.00% from 12:01:00 for 9s",
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}
