package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/record"
)

// bad is a night of 20 min: an inspection hangs, and later the lists do.
var bad = night{
	Pods: 8, For: 20 * time.Minute, Segments: 3 * time.Minute, Changes: 20 * time.Second,
	Troubles: []trouble{
		{Op: call.ContainerStatus, From: 5 * time.Minute, To: 6 * time.Minute},
		{Op: call.ListContainers, From: 12 * time.Minute, To: 16 * time.Minute},
	},
}

// straight is all that a recording shows, played from its beginning.
func straight(t *testing.T, r *record.Recording) (all []diagnose.Update) {
	t.Helper()
	p := r.Play(time.Time{})
	defer p.Close()
	live := diagnose.NewLive(p.Feed(), "")
	for {
		u, err := live.Next(t.Context())
		if errors.Is(err, engine.ErrStopped) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, u)
	}
}

// shown is what is seen of an update.
type shown struct {
	Snapshot *engine.Snapshot
	Headline diagnose.Headline
	Findings []diagnose.Finding
	Ended    []diagnose.Ended
	Turns    []diagnose.Turn
}

// differ compares what is seen of two updates.
func differ(want, got diagnose.Update) string {
	see := func(u diagnose.Update) shown { return shown{u.Snapshot, u.Headline, u.Findings, u.Ended, u.Turns} }
	x, y := see(want), see(got)
	if reflect.DeepEqual(x, y) {
		return ""
	}
	return cmp.Diff(x, y, cmp.Exporter(func(reflect.Type) bool { return true }), cmp.Comparer(func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) }))
}

// filmed returns the film of a night, to the end of which the scan has come, and what it shows
// from its beginning.
func filmed(t *testing.T, n night) (*Film, []diagnose.Update) {
	t.Helper()
	recorder, _ := recordNight(t, n)
	recording := recorder.Recording()
	f, err := New(recording, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	return f, straight(t, recording)
}

// Wherever one goes, one sees what was seen by who has played the film from its beginning, with
// the events before.
func TestASceneIsWhatWasSeen(t *testing.T) {
	f, want := filmed(t, bad)
	marks := marksOf(f)
	if len(marks) != len(want) {
		t.Fatalf("%d marks of %d moments", len(marks), len(want))
	}
	var events []engine.Event // that are shown
	reset := 0
	see := func(s Scene, err error, place int) {
		t.Helper()
		if err != nil || s.Place != place {
			t.Fatalf("scene of mark %d: at %d, %v", place, s.Place, err)
		}
		if s.Reset {
			events, reset = nil, reset+1
			if since := want[place].Snapshot.At.Sub(s.Updates[0].Snapshot.At); since < 2*time.Minute && s.Updates[0].Snapshot.Seq > 1 {
				t.Errorf("scene of mark %d begins %v before", place, since)
			}
		}
		for _, u := range s.Updates {
			events = append(events, u.Events...)
		}
		if n := len(s.Updates); n > 0 {
			if diff := differ(want[place], s.Updates[n-1]); diff != "" {
				t.Fatalf("mark %d (-want +got):\n%s", place, diff)
			}
		}
		var told []engine.Event
		for _, u := range want[:place+1] {
			told = append(told, u.Events...)
		}
		if diff := cmp.Diff(seqs(told), seqs(events)); diff != "" {
			t.Fatalf("events up to mark %d (-want +got):\n%s", place, diff)
		}
	}
	for _, place := range []int{0, 1, len(marks) - 1, len(marks) - 2, len(marks) / 2} {
		s, err := f.show(t.Context(), place)
		see(s, err, place)
	}
	chance := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		place := chance.IntN(len(marks))
		s, err := f.Seek(t.Context(), marks[place].At)
		see(s, err, place)
		for range chance.IntN(4) {
			if place++; place < len(marks) {
				s, err := f.Next(t.Context())
				see(s, err, place)
			}
		}
	}
	s, err := f.show(t.Context(), len(marks)-1)
	see(s, err, len(marks)-1)
	if _, err := f.Next(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("after the last moment: %v", err)
	}
	if reset < 20 || reset > 64 {
		t.Errorf("%d scenes of 65 began again", reset)
	}
}

func seqs(all []engine.Event) (n []uint64) {
	for _, e := range all {
		n = append(n, e.Seq)
	}
	return n
}

func TestMarks(t *testing.T) {
	f, _ := filmed(t, bad)
	marks := marksOf(f)
	first, last := f.Span()
	if d := last.Sub(first); d < bad.For-time.Second || d > bad.For {
		t.Errorf("the film lasts %v", d)
	}
	worst := map[string]Level{}
	for _, m := range marks {
		worst[m.Word] = max(worst[m.Word], m.Level)
	}
	if worst["HEALTHY"] != Sound || worst["LISTS HANG"] != Critical || worst["INSPECTION HANGS"] == 0 {
		t.Errorf("words and levels %v", worst)
	}
	// By relist from end to end, and back.
	forth := 0
	for i := 0; i < len(marks)-1; forth++ {
		i, _ = relist(marks, i, 1)
	}
	back := 0
	for i := len(marks) - 1; i > 0; back++ {
		i, _ = relist(marks, i, -1)
	}
	if relists := int(marks[len(marks)-1].Relists); forth != back || forth < relists*9/10 || forth > relists+1 {
		t.Errorf("%d steps forth, %d back, %d relists", forth, back, relists)
	}
}

func marksOf(f *Film) []Mark {
	marks, _, _ := f.Scanned()
	return marks
}

// Two runs of plegtop in one file are two stories: what was wrong in one is not remembered in the
// other, though their times overlap.
func TestTwoRuns(t *testing.T) {
	name := filepath.Join(t.TempDir(), "two.plegrec")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	var want []diagnose.Update
	first := 0 // moments of the first run
	for _, troubles := range [][]trouble{bad.Troubles, nil} {
		n := bad
		n.Troubles, first = troubles, len(want)
		recorder, _ := recordNight(t, n)
		if _, err := recorder.Recording().WriteTo(file); err != nil {
			t.Fatal(err)
		}
		want = append(want, straight(t, recorder.Recording())...)
	}
	for i, u := range want {
		u.Snapshot.Seq = uint64(i) + 1
	}
	recording, err := record.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer recording.Close()
	f, err := New(recording, "")
	if err == nil {
		err = f.Scan(t.Context())
	}
	if err != nil || len(marksOf(f)) != len(want) {
		t.Fatalf("%d marks of %d moments, %v", len(marksOf(f)), len(want), err)
	}
	for _, place := range []int{first - 1, first, first + 1, first - 2, first + 5, len(want) - 1, 3} {
		s, err := f.show(t.Context(), place)
		if err != nil {
			t.Fatal(err)
		}
		if diff := differ(want[place], s.Updates[len(s.Updates)-1]); diff != "" {
			t.Errorf("mark %d of %d (-want +got):\n%s", place, first, diff)
		}
	}
	if s, err := f.show(t.Context(), first-1); err != nil || s.Updates[0].Snapshot.Seq > uint64(first) {
		t.Fatal(err)
	}
	if s, err := f.Next(t.Context()); err != nil || !s.Reset || s.Place != first || len(s.Updates) != 1 || s.Updates[0].Events[0].Seq != 1 {
		t.Errorf("the next run: %+v, %v", s.Place, err)
	}
}

// A film that is damaged has what comes before that, and says at its end what is wrong.
func TestAFilmThatIsDamaged(t *testing.T) {
	recorder, _ := recordNight(t, bad)
	var b bytes.Buffer
	if _, err := recorder.Recording().WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	name, heads := filepath.Join(t.TempDir(), "bad.plegrec"), recorder.Recording().Heads()
	if err := os.WriteFile(name, bytes.Replace(b.Bytes(), []byte(`"segment":2,`), []byte(`"segment":9,`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	recording, err := record.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer recording.Close()
	f, err := New(recording, "")
	if err != nil {
		t.Fatal(err)
	}
	damage := f.Scan(t.Context())
	if damage == nil || !strings.Contains(damage.Error(), "damaged") {
		t.Fatalf("scan: %v", damage)
	}
	marks := marksOf(f)
	if last := marks[len(marks)-1].At; last.After(heads[2].At) || heads[2].At.Sub(last) > 2*time.Second {
		t.Errorf("the film ends at %v", last)
	}
	s, err := f.Seek(t.Context(), heads[2].At.Add(time.Minute))
	if err != nil || s.Place != len(marks)-1 {
		t.Errorf("beyond the damage: place %d of %d, %v", s.Place, len(marks), err)
	}
	for range 2 {
		if _, err := f.Next(t.Context()); !errors.Is(err, damage) {
			t.Errorf("at the end: %v", err)
		}
	}
}

// What the scan has not come to is shown all the same, by the time shortly before.
func TestAheadOfTheScan(t *testing.T) {
	recorder, seen := recordNight(t, bad)
	f, err := New(recorder.Recording(), "")
	if err != nil {
		t.Fatal(err)
	}
	at := seen[0].Snapshot.At.Add(15 * time.Minute)
	s, err := f.Seek(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	last := s.Updates[len(s.Updates)-1]
	if s.Place >= 0 || !s.Reset || at.Sub(last.Snapshot.At) > time.Second || last.Headline.Word != "UNHEALTHY" {
		t.Errorf("%v: %s at place %d", last.Snapshot.At, last.Headline.Word, s.Place)
	}
	next, err := f.Next(t.Context())
	if err != nil || next.Reset || !next.Updates[0].Snapshot.At.After(at) {
		t.Errorf("next: %+v, %v", next, err)
	}
	found := make(chan Scene, 1)
	go func() { // waits for the scan
		s, _ := f.Relist(context.Background(), -1, last.Snapshot.At, -1)
		found <- s
	}()
	if err := f.Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := <-found
	if u := before.Updates[len(before.Updates)-1]; before.Place < 0 || u.Snapshot.Relists.Count != last.Snapshot.Relists.Count || u.Snapshot.At.After(last.Snapshot.At) {
		t.Errorf("the relist before %d ends at %v with %d", last.Snapshot.Relists.Count, u.Snapshot.At, u.Snapshot.Relists.Count)
	}
}

// Whoever waits for the scan is not left behind when it ends early.
func TestScanThatIsGivenUp(t *testing.T) {
	recorder, _ := recordNight(t, night{Pods: 2, For: time.Minute})
	f, err := New(recorder.Recording(), "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Scan(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("scan: %v", err)
	}
	if _, err := f.Relist(t.Context(), -1, time.Time{}, 1); err == nil {
		t.Error("a relist in what nobody has seen")
	}
	if _, err := New(new(record.Recording), ""); err == nil {
		t.Error("a film of nothing")
	}
}

// What is kept of a film of days is bounded, and further apart.
func TestKnownIsBounded(t *testing.T) {
	f := &Film{every: knownEvery}
	r := &reel{film: f, live: diagnose.NewLive(nil, "")}
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for i := range 5 * mostKnown {
		f.marks = append(f.marks, Mark{})
		f.know(r, at.Add(time.Duration(i)*knownEvery))
	}
	if n := len(f.known); n < mostKnown/2 || n >= mostKnown || f.every != 8*knownEvery {
		t.Errorf("%d are kept, every %v", n, f.every)
	}
	for i, k := range f.known[1:] {
		if apart := k.at.Sub(f.known[i].at); apart != f.every {
			t.Fatalf("%v between two, want %v", apart, f.every)
		}
	}
}
