package lines

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/replay/replaytest"
)

// hungNight is a night of half an hour, in which the status of a container hangs from the sixth
// minute to the twentieth, and one of them ends in the seventh.
func hungNight(release pleg.Release) replaytest.Night {
	return replaytest.Night{
		Pods: 3, For: 30 * time.Minute, Segments: 4 * time.Minute, Changes: 7 * time.Minute, Release: release,
		Troubles: []replaytest.Trouble{{Op: call.ContainerStatus, From: 6 * time.Minute, To: 20 * time.Minute}},
	}
}

// recorded returns the file of a night, and what was seen of it live.
func recorded(t *testing.T, n replaytest.Night) (path string, seen []engine.Update) {
	t.Helper()
	recorder, seen := replaytest.Record(t, n)
	path = filepath.Join(t.TempDir(), "night.plegrec")
	if _, err := recorder.Save(path); err != nil {
		t.Fatal(err)
	}
	return path, seen
}

func opened(t *testing.T, path, at string) *Recorded {
	t.Helper()
	r, err := OpenRecorded(path, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
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

// watched returns what watch wrote live.
func watched(t *testing.T, seen []engine.Update, o Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := Watch(t.Context(), &out, diagnose.NewLive(&seenFeed{seen}, "unix:///run/containerd/containerd.sock"), o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// What watch writes of a recording is what it wrote live, to the letter.
func TestWatchOfARecording(t *testing.T) {
	path, seen := recorded(t, hungNight(28))
	for _, o := range []Options{{}, {JSON: true}} {
		var out bytes.Buffer
		if err := opened(t, path, "").Watch(t.Context(), &out, o); err != nil {
			t.Fatal(err)
		}
		want := watched(t, seen, o)
		if diff := cmp.Diff(want, out.String()); diff != "" || !strings.Contains(want, "pleg-unhealthy") {
			t.Errorf("%+v (-live +played):\n%s", o, diff)
		}
	}
}

// From a moment on it begins with what holds then, and goes on as live.
func TestWatchFromAMomentOn(t *testing.T) {
	path, seen := recorded(t, hungNight(28))
	var out bytes.Buffer
	if err := opened(t, path, "-18m").Watch(t.Context(), &out, Options{}); err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(out.String(), "\n")
	if !strings.HasPrefix(first, "00:12:00.") || !strings.Contains(first, "headline: AT RISK") || !strings.Contains(rest, " finding began: critical inspect-hung") {
		t.Errorf("begins with %q, and goes on\n%s", first, rest)
	}
	const health = "PLEG is not healthy: pleg was last seen active 3m0s ago"
	if live := watched(t, seen, Options{}); strings.Count(live, health) != strings.Count(out.String(), health) {
		t.Errorf("goes on otherwise than live:\n%s", &out)
	}
}

// Of a damaged recording all is written that can be read, and it is said up to when that is.
func TestWatchOfADamagedRecording(t *testing.T) {
	path, _ := recorded(t, hungNight(36))
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[bytes.LastIndex(b, []byte{0x5c, 0x2a, 0x4d, 0x18})] ^= 0xff // where the last segment begins
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = opened(t, path, "").Watch(t.Context(), &out, Options{})
	if err == nil || !strings.Contains(err.Error(), "the recording can be read up to 2000-01-01 ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v", err)
	}
	if !strings.Contains(out.String(), "inspect-hung") {
		t.Errorf("written:\n%s", &out)
	}
	if code, err := opened(t, path, "-10s").Check(t.Context(), &out, CheckOptions{}); code == ExitCannotTell && err == nil {
		t.Error("a check of a damaged moment gives no reason")
	}
}

// The verdict of a moment is that of what was shown then.
func TestCheckOfARecording(t *testing.T) {
	n := hungNight(28)
	n.Troubles[0].ID = "app-000"
	path, seen := recorded(t, n)
	end := opened(t, path, "").last
	live := diagnose.NewLive(&seenFeed{seen}, "unix:///run/containerd/containerd.sock")
	var all []diagnose.Update
	for {
		u, err := live.Next(t.Context())
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
	}{{"", 0, ExitWarning}, {"-17m30s", 17*time.Minute + 30*time.Second, ExitCritical}, {"-27m", 27 * time.Minute, ExitOK}} {
		u := at(tt.back)
		o := CheckOptions{JSON: true, Source: "replay", Node: "worker-17", Endpoint: "unix:///run/containerd/containerd.sock"}
		want := string(appendCheck(nil, u, o))
		var out bytes.Buffer
		code, err := opened(t, path, tt.at).Check(t.Context(), &out, CheckOptions{JSON: true})
		if err != nil || code != tt.code || code != ExitCode(u) {
			t.Errorf("at %q: exit code %d, %v, want %d", tt.at, code, err, tt.code)
		}
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("at %q (-live +played):\n%s", tt.at, diff)
		}
		if err := valid(out.Bytes()); err != nil {
			t.Errorf("at %q: %v", tt.at, err)
		}
	}
	if _, err := OpenRecorded(path, "noon"); err == nil || !strings.Contains(err.Error(), `want -10m, 2am`) {
		t.Errorf("a moment that is none: %v", err)
	}
}
