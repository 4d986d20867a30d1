package rewind

import (
	"bytes"
	"context"
	"errors"
	"flag"
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
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/record"
)

var update = flag.Bool("update", false, "write the golden anew")

const testdata = "../../engine/record/testdata"

// night opens the recording of a night: bad has 12 min, in which an inspection hangs and later the
// lists do.
func night(t testing.TB, path string) *record.Recording {
	t.Helper()
	r, err := record.Open(filepath.Join(testdata, path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// straight is all that a recording shows, played from its beginning.
func straight(t *testing.T, r *record.Recording) (all []diagnose.Update) {
	t.Helper()
	reel := &reel{player: r.Play(time.Time{})}
	defer reel.player.Close()
	reel.live = diagnose.NewLive(reel, "unix:///run/containerd/containerd.sock")
	for {
		err := reel.read(t.Context())
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		u, err := reel.live.Next(t.Context())
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
	return cmp.Diff(see(want), see(got), cmp.Exporter(func(reflect.Type) bool { return true }), cmp.Comparer(func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) }),
		cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) }), cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Objects" }, cmp.Ignore()))
}

func filmed(t *testing.T, r *record.Recording) *Film {
	t.Helper()
	f, err := New(r)
	if err == nil {
		err = f.Scan(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func marksOf(f *Film) []Mark {
	marks, _, _ := f.Scanned()
	return marks
}

func seqs(all []engine.Event) (n []uint64) {
	for _, e := range all {
		n = append(n, e.Seq)
	}
	return n
}

// Wherever one goes, one sees what was seen by who has played the film from its beginning, with
// the events before.
func TestASceneIsWhatWasSeen(t *testing.T) {
	r := night(t, "nights/bad.plegrec")
	f, want := filmed(t, r), straight(t, r)
	marks := marksOf(f)
	if len(marks) != len(want) {
		t.Fatalf("%d marks of %d moments", len(marks), len(want))
	}
	var events []engine.Event // that are shown
	anew := 0
	see := func(s Scene, err error, place int) {
		t.Helper()
		if err != nil || s.Place != place {
			t.Fatalf("scene of mark %d: at %d, %v", place, s.Place, err)
		}
		if s.Reset {
			events, anew = nil, anew+1
			if since := want[place].Snapshot.At.Sub(s.Updates[0].Snapshot.At); since < warm && s.Updates[0].Snapshot.Seq > 1 {
				t.Errorf("scene of mark %d begins %v before", place, since)
			}
		}
		for _, u := range s.Updates {
			events = append(events, u.Events...)
		}
		if n := len(s.Updates); n > 0 {
			was, is := want[place], s.Updates[n-1]
			was.Events, is.Events = nil, nil
			if diff := differ(was, is); diff != "" {
				t.Fatalf("mark %d (-want +got):\n%s", place, diff)
			}
		}
		var before []engine.Event
		for _, u := range want[:place+1] {
			before = append(before, u.Events...)
		}
		if diff := cmp.Diff(seqs(before), seqs(events)); diff != "" {
			t.Fatalf("events up to mark %d (-want +got):\n%s", place, diff)
		}
	}
	for _, place := range []int{0, 1, len(marks) - 1, len(marks) - 2, len(marks) / 2} {
		s, err := f.show(t.Context(), place)
		see(s, err, place)
	}
	chance := rand.New(rand.NewPCG(1, 2))
	for range 12 {
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
	if anew < 5 || anew > 17 {
		t.Errorf("%d scenes of 18 began anew", anew)
	}
}

func TestMarks(t *testing.T) {
	f := filmed(t, night(t, "nights/bad.plegrec"))
	marks := marksOf(f)
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

// A film that is damaged has what comes before that, and says at its end what is wrong.
func TestAFilmThatIsDamaged(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(testdata, "nights/bad.plegrec"))
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "bad.plegrec")
	if err := os.WriteFile(name, bytes.Replace(b, b[len(b)-20_000:len(b)-19_990], []byte("0123456789"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	recording, err := record.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer recording.Close()
	f, err := New(recording)
	if err != nil {
		t.Fatal(err)
	}
	damage := f.Scan(t.Context())
	if damage == nil || !strings.Contains(damage.Error(), "damaged") {
		t.Fatalf("scan: %v", damage)
	}
	marks := marksOf(f)
	s, err := f.Seek(t.Context(), marks[len(marks)-1].At.Add(time.Minute))
	if err != nil || s.Place != len(marks)-1 || s.Place < 100 {
		t.Errorf("beyond the damage: place %d of %d, %v", s.Place, len(marks), err)
	}
	for range 2 {
		if _, err := f.Next(t.Context()); err == nil || err.Error() != damage.Error() {
			t.Errorf("at the end: %v", err)
		}
	}
}

// What the scan has not come to is shown all the same, by the time shortly before.
func TestAheadOfTheScan(t *testing.T) {
	r := night(t, "nights/bad.plegrec")
	f, err := New(r)
	if err != nil {
		t.Fatal(err)
	}
	first, _ := r.Span()
	at := first.Add(10 * time.Minute)
	s, err := f.Seek(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	last := s.Updates[len(s.Updates)-1]
	if s.Place >= 0 || !s.Reset || at.Sub(last.Snapshot.At) > time.Second || last.Headline.Word == "HEALTHY" {
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
	f, err := New(night(t, "restart.plegrec"))
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
	if _, err := New(new(record.Recording)); !errors.Is(err, record.ErrEmpty) {
		t.Errorf("a film of nothing: %v", err)
	}
}

// A kubelet up to 1.31 asks twice for a pod whose inspection hangs; a newer one asks once. So the
// recording of an old one has inspections that a newer one would not make, and the other way round.
func TestThroughAnotherRelease(t *testing.T) {
	for _, incident := range []string{"hung-inspect", "real-update-hangs"} {
		same := night(t, incident+".plegrec")
		if missing, err := same.As(t.Context(), 37); err != nil || missing != 0 {
			t.Errorf("%s as it was: %d inspections are missing, %v", incident, missing, err)
		}
		was, all := straight(t, night(t, incident+".plegrec")), straight(t, same)
		if len(was) != len(all) {
			t.Fatalf("%s: %d moments, want %d", incident, len(all), len(was))
		}
		other := night(t, incident+".plegrec")
		if _, err := other.As(t.Context(), 28); err != nil {
			t.Error(err)
		}
		all = straight(t, other)
		if last := all[len(all)-1].Snapshot; last.Release != 28 || len(all) != len(was) {
			t.Errorf("%s: %d moments of %v", incident, len(all), last.Release)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := other.As(ctx, 28); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

// worst.golden has the moment of each recording that tests of other packages look at: the last one
// with the most severe headline and, of these, the most findings as severe.
func TestWorstMoments(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(testdata, "*.plegrec"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d recordings, %v", len(paths), err)
	}
	var b []byte
	for _, path := range paths {
		name := filepath.Base(path)
		most, at := 0, time.Time{}
		for _, u := range straight(t, night(t, name)) {
			bad := int(u.Headline.Severity) << 16
			for _, f := range u.Findings {
				if f.Severity >= u.Headline.Severity {
					bad++
				}
			}
			if bad >= most {
				most, at = bad, u.Snapshot.At.Round(0)
			}
		}
		b = fmt.Appendf(b, "%s %s\n", strings.TrimSuffix(name, ".plegrec"), at.UTC().Format(time.RFC3339Nano))
	}
	path := filepath.Join(testdata, "worst.golden")
	if *update {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if diff := cmp.Diff(string(want), string(b)); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// BenchmarkSeek is a seek to anywhere in 22 minutes.
func BenchmarkSeek(b *testing.B) {
	f, err := New(night(b, "nights/hung.plegrec"))
	if err == nil {
		err = f.Scan(b.Context())
	}
	if err != nil {
		b.Fatal(err)
	}
	chance := rand.New(rand.NewPCG(1, 2))
	marks, worst := marksOf(f), time.Duration(0)
	for b.Loop() {
		began := time.Now()
		if _, err := f.show(b.Context(), chance.IntN(len(marks))); err != nil {
			b.Fatal(err)
		}
		worst = max(worst, time.Since(began))
	}
	b.ReportMetric(float64(worst.Milliseconds()), "ms/worst")
}

// BenchmarkScan is the scan of all of that.
func BenchmarkScan(b *testing.B) {
	r := night(b, "nights/hung.plegrec")
	for b.Loop() {
		f, err := New(r)
		if err == nil {
			err = f.Scan(b.Context())
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
