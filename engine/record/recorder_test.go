package record

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// hour reports relists each second, Status each 5 s, a look each 5 s, and now and then a container
// that ends.
func hour(pods int, lasts, ends time.Duration) func(*fake, func(time.Time, engine.Observation)) {
	return func(_ *fake, observe func(time.Time, engine.Observation)) {
		n := newNode(pods)
		n.observe = observe
		for at := time.Second; at < lasts; at += time.Second {
			if ends > 0 && at%ends == 0 {
				n.ends(int(at/ends) % len(n.containers))
			}
			n.relist(noon.Add(at))
			if at%(5*time.Second) == 0 {
				n.call(noon.Add(at+20*time.Millisecond), call.Status, engine.Answer{})
				n.look(noon.Add(at + 30*time.Millisecond))
			}
		}
	}
}

// What is played is what was shown live, from the beginning or from any moment on.
func TestSeekIsAsFromTheBeginning(t *testing.T) {
	r := record(t, Options{}, "", 0, hour(2, 13*time.Minute, 3*time.Second)).Recording()
	if len(r.segments) != 3 {
		t.Fatalf("%d segments", len(r.segments))
	}
	all, err := played(r, time.Time{})
	if err != nil || len(all) != 779 {
		t.Fatalf("%d moments, %v", len(all), err)
	}
	for i, u := range all {
		if want := noon.Add(time.Duration(i+1)*time.Second + 10*time.Millisecond); !u.Snapshot.At.Equal(want) || !u.Snapshot.At.Round(0).Equal(want.Round(0)) {
			t.Fatalf("moment %d is of %v, want %v", i, u.Snapshot.At, want)
		}
	}
	for _, from := range []time.Duration{-time.Hour, 90 * time.Second, 6 * time.Minute, 12 * time.Minute, time.Hour} {
		late, err := played(r, noon.Add(from))
		if err != nil || from > 5*time.Minute+time.Second && len(late) == len(all) || from <= 12*time.Minute && from > 0 && late[0].Snapshot.At.After(noon.Add(from)) {
			t.Errorf("from %v: %d moments, %v", from, len(late), err)
		}
		for i := range late {
			want, got := all[len(all)-len(late)+i], late[i]
			if i == 0 { // its events are those since the segment began
				got.Events = want.Events
			}
			if d := diff(want, got); d != "" {
				t.Fatalf("from %v (-want +got):\n%s", from, d)
			}
		}
	}
	first, last := r.Span()
	head, err := r.Head()
	if want := noon.Add(13*time.Minute - time.Second); err != nil || last.Before(want) || last.After(want.Add(2*time.Second)) || !first.Equal(noon.Add(time.Second).Round(0)) || head.Kubelet != "1.36" {
		t.Errorf("from %v to %v, %+v, %v", first, last, head, err)
	}
}

// Entries stay the same pointers while a recording is played, from one segment to the next.
func TestPlayedEntriesStay(t *testing.T) {
	r := record(t, Options{}, "", 0, hour(2, 8*time.Minute, 0)).Recording()
	p := player(r, time.Time{})
	defer p.Close()
	for {
		if _, err := p.Next(); err != nil {
			break
		}
	}
	if f := p.model.(*fake); len(r.segments) < 2 || f.same != 478*4 {
		t.Errorf("%d segments, %d entries stay", len(r.segments), f.same)
	}
}

// An hour in which nothing happens on a node of 110 pods takes 1 MB at most.
func TestQuietHourIsSmall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "quiet")
	const lasts = 20 * time.Minute
	r := record(t, Options{}, path, 0, hour(110, lasts, 0))
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	s := r.State()
	if hour := info.Size() * int64(time.Hour/lasts); hour > 600_000 || s.Written != info.Size() { // without the engine's own state
		t.Errorf("an hour takes %d bytes; %d of %d were counted", hour, s.Written, info.Size())
	}
	if s.Span < RingFor || s.Span > RingFor+mostSegmentFor {
		t.Errorf("the ring keeps %v", s.Span)
	}
}

// A ring has so many bytes at most, and one that is off keeps none.
func TestRingIsBounded(t *testing.T) {
	r := record(t, Options{Bytes: 40_000}, "", 0, hour(5, 20*time.Minute, time.Second))
	if s := r.State(); s.Kept > 40_000 || s.Kept < 10_000 || s.Ended != "" {
		t.Errorf("%+v", s)
	}
	if all, err := played(r.Recording(), time.Time{}); err != nil || len(all) == 0 {
		t.Errorf("%d moments, %v", len(all), err)
	}
	off := record(t, Options{Ring: -1}, "", 0, hour(5, time.Minute, 0))
	if s := off.State(); s.Kept != 0 || s.Span != 0 || len(off.Recording().segments) != 0 {
		t.Errorf("%+v", s)
	}
}

// What was recorded is in the ring at once, and in the file after some seconds, while it goes on.
func TestRecordingGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "night")
	record(t, Options{}, path, 0, func(_ *fake, observe func(time.Time, engine.Observation)) {
		n := newNode(2)
		n.observe = observe
		for at := time.Second; at < 100*time.Second; at += time.Second {
			n.relist(noon.Add(at))
		}
		time.Sleep(flushEvery + time.Second)
		synctest.Wait()
		r, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if all, err := played(r, time.Time{}); !errors.Is(err, ErrCut) || len(all) != 99 {
			t.Errorf("%d moments, %v", len(all), err)
		}
	})
	info, err := os.Stat(path)
	r, opened := Open(path)
	if err != nil || opened != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v, %v", info.Mode(), err, opened)
	}
	defer r.Close()
	if all, err := played(r, time.Time{}); err != nil || len(all) != 99 {
		t.Errorf("%d moments, %v", len(all), err)
	}
}

// What is saved while the recording goes on is a whole recording.
func TestSavedRing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "saved")
	rec := NewRecorder(Options{})
	synctest.Test(t, func(t *testing.T) {
		f := new(fake)
		rec.begin(engine.Start{At: noon}, func() any { return *f })
		n := newNode(2)
		n.observe = rec.Observe
		n.relist(noon.Add(time.Second))
		if err := os.WriteFile(path, bytesOf(t, rec.Recording()), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := rec.Close(t.Context()); err != nil {
			t.Error(err)
		}
		n.relist(noon.Add(2 * time.Second)) // after its end nothing is recorded
	})
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if all, err := played(r, time.Time{}); err != nil || len(all) != 1 {
		t.Errorf("%d moments, %v", len(all), err)
	}
	if all, err := played(rec.Recording(), time.Time{}); err != nil || len(all) != 1 {
		t.Errorf("after the end: %d moments, %v", len(all), err)
	}
}

// A file and the one before it have so many bytes at most, and two segments.
func TestFileIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "night")
	record(t, Options{Ring: -1}, path, 60_000, hour(5, 40*time.Minute, time.Second))
	total := 0
	for _, name := range []string{path, path + before} {
		r, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if all, err := played(r, time.Time{}); err != nil || len(all) == 0 {
			t.Errorf("%s: %d moments, %v", name, len(all), err)
		}
		total += len(bytesOf(t, r))
		r.Close()
	}
	if total > 120_000 || total < 30_000 {
		t.Errorf("both files take %d bytes", total)
	}
}

// A recording that is there becomes the one before. No other file is touched, and none that is
// being written.
func TestNothingElseIsReplaced(t *testing.T) {
	dir := t.TempDir()
	path, link, other, night := filepath.Join(dir, "a"), filepath.Join(dir, "link"), filepath.Join(dir, "b"), filepath.Join(dir, "night")
	if err := errors.Join(os.WriteFile(path, []byte("mine"), 0o644), os.Symlink(other, link), os.WriteFile(other+before, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, link, other, filepath.Join(dir, "none", "c"), dir} {
		if err := NewRecorder(Options{}).WriteTo(name, 1<<20); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if b, _ := os.ReadFile(path); string(b) != "mine" {
		t.Errorf("%q", b)
	}
	record(t, Options{}, night, 0, hour(1, 10*time.Second, 0))
	record(t, Options{}, night, 0, func(_ *fake, observe func(time.Time, engine.Observation)) {
		if err := NewRecorder(Options{}).WriteTo(night, 0); err == nil || !strings.Contains(err.Error(), "another plegtop records to") {
			t.Error(err)
		}
		hour(1, 5*time.Second, 0)(nil, observe)
	})
	for name, want := range map[string]int{night: 4, night + before: 9} {
		r, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if all, err := played(r, time.Time{}); err != nil || len(all) != want {
			t.Errorf("%s: %d moments, %v", name, len(all), err)
		}
	}
}

// A disk is a file on a disk that is full after some bytes, or hangs.
type disk struct {
	bytes.Buffer
	room  int
	hangs chan struct{}
}

func (d *disk) Write(b []byte) (int, error) {
	if d.hangs != nil {
		<-d.hangs
	}
	if d.Len()+len(b) > d.room {
		return 0, &os.PathError{Op: "write", Path: "/x", Err: syscall.ENOSPC}
	}
	return d.Buffer.Write(b)
}

func (d *disk) Sync() error  { return nil }
func (d *disk) Close() error { return nil }

// A disk that is full, or hangs for long, ends the file and says so. The ring goes on.
func TestDiskIsFullOrHangs(t *testing.T) {
	for _, tt := range []struct {
		disk *disk
		says string
	}{{&disk{room: 3000}, "no space left on device"}, {&disk{room: 1 << 30, hangs: make(chan struct{})}, "the disk is too slow: 256 parts wait to be written"}} {
		rec := NewRecorder(Options{})
		synctest.Test(t, func(t *testing.T) {
			if tt.disk.hangs != nil {
				tt.disk.hangs = make(chan struct{}) // of this bubble
			}
			f := new(fake)
			rec.file = newFile("/x", 0, tt.disk)
			rec.begin(engine.Start{At: noon}, func() any { return *f })
			n := newNode(3)
			n.observe = rec.Observe
			var ended engine.Recording
			for at := time.Second; at < 14*time.Minute; at += time.Second {
				time.Sleep(time.Second)
				n.relist(noon.Add(at))
				if s := rec.State(); s.Ended != "" && ended.Ended == "" {
					ended = s
				} else if s.Ended != ended.Ended || !s.EndedAt.Equal(ended.EndedAt) {
					t.Fatalf("%+v after %+v", s, ended)
				}
			}
			if ended.Ended != tt.says || ended.EndedAt.Before(noon) || ended.File != "/x" {
				t.Errorf("%+v", ended)
			}
			if tt.disk.hangs != nil {
				time.AfterFunc(time.Second, func() { close(tt.disk.hangs) })
			}
			if err := rec.Close(t.Context()); err == nil || !strings.Contains(err.Error(), "record to /x: "+tt.says) {
				t.Errorf("closed with %v", err)
			}
		})
		if all, err := played(rec.Recording(), time.Time{}); err != nil || len(all) != 839 {
			t.Errorf("%s: the ring has %d moments, %v", tt.says, len(all), err)
		}
	}
}

// An observation that no player would take ends the recording. What came before it can be played.
func TestObservationIsTooLarge(t *testing.T) {
	rec := NewRecorder(Options{})
	f := new(fake)
	rec.begin(engine.Start{At: noon}, func() any { return *f })
	rec.Observe(noon, engine.Ticked{})
	rec.Observe(noon, engine.Marked{Mark: engine.Inspected{Calls: make([]uint64, mostElements+1)}})
	all, err := played(rec.Recording(), time.Time{})
	if s := rec.State(); len(all) != 1 || err != nil || !strings.Contains(s.Ended, "more than can be played") {
		t.Errorf("%d moments, %v, %+v", len(all), err, s)
	}
	if err := rec.Close(t.Context()); err == nil {
		t.Error("the end says nothing of it")
	}
}

// A segment begins with the state of its begin, whatever the model takes in before that is encoded.
func TestStateIsThatOfTheBegin(t *testing.T) {
	m := must(engine.NewModel(engine.Start{At: noon, Period: time.Second, Threshold: 3 * time.Minute, Timeout: 2 * time.Minute, Capacity: 1000, Events: 100, Release: pleg.Newest}))
	rec := NewRecorder(Options{})
	rec.Begin(m)
	n := newNode(20)
	n.observe = func(at time.Time, o engine.Observation) { m.Apply(at, o) }
	for at := range 20 * time.Second / time.Second {
		n.ends(int(at))
		n.relist(noon.Add(at * time.Second))
	}
	o := rec.open()
	was := must(o.encode())
	for at := 20; at < 40; at++ {
		n.ends(at)
		n.relist(noon.Add(time.Duration(at) * time.Second))
	}
	if !bytes.Equal(must(o.encode()), was) {
		t.Error("what came later is in the state")
	}
	if later := must(rec.open().encode()); bytes.Equal(later, was) {
		t.Error("the state is the same 20 s later")
	}
	if err := rec.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A state that cannot be played is not recorded, and said.
func TestStateIsTooLarge(t *testing.T) {
	rec := NewRecorder(Options{})
	synctest.Test(t, func(t *testing.T) {
		f := &fake{Texts: make([]string, mostElements+1)}
		rec.begin(engine.Start{At: noon}, func() any { return *f })
		rec.Observe(noon, engine.Ticked{})
		time.Sleep(flushEvery)
		synctest.Wait()
		if s := rec.State(); !strings.Contains(s.Ended, "too many pods") || !s.EndedAt.Equal(noon) {
			t.Errorf("%+v", s)
		}
		if err := rec.Close(t.Context()); err == nil {
			t.Error("the end says nothing of it")
		}
	})
}

func BenchmarkObserve(b *testing.B) {
	rec := NewRecorder(Options{})
	f := new(fake)
	rec.begin(engine.Start{At: noon}, func() any { return *f })
	n, at := newNode(1000), noon
	for i := 0; b.Loop(); i++ {
		at = at.Add(time.Millisecond)
		rec.Observe(at, engine.CallEnded{ID: uint64(i), Answer: engine.Answer{Containers: n.containers}})
		if i%1000 == 0 {
			b.StopTimer()
			rec.pack()
			b.StartTimer()
		}
	}
	if err := rec.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
	if s := rec.State(); s.Ended != "" {
		b.Fatal(fmt.Sprint(s))
	}
}

func BenchmarkPack(b *testing.B) {
	rec := NewRecorder(Options{})
	f := new(fake)
	rec.begin(engine.Start{At: noon}, func() any { return *f })
	n, at := newNode(1000), noon
	n.observe = rec.Observe
	for b.Loop() {
		at = at.Add(time.Second)
		n.relist(at)
		rec.pack()
	}
	if err := rec.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkHour has how much a file of an hour takes, without the engine's own state.
func BenchmarkHour(b *testing.B) {
	for _, changes := range []int{0, 5} { // a second
		b.Run(fmt.Sprint(changes), func(b *testing.B) {
			for b.Loop() {
				rec := NewRecorder(Options{Ring: 2 * time.Hour})
				f := new(fake)
				rec.begin(engine.Start{At: noon}, func() any { return *f })
				n, last := newNode(110), noon
				n.observe = func(at time.Time, o engine.Observation) {
					rec.Observe(at, o)
					if at.Sub(last) > flushEvery {
						rec.pack()
						last = at
					}
				}
				for at := time.Second; at < time.Hour; at += time.Second {
					for i := range changes {
						n.ends((int(at/time.Second) + i*41) % len(n.containers))
					}
					n.relist(noon.Add(at))
					if at%(5*time.Second) == 0 {
						n.look(noon.Add(at + 30*time.Millisecond))
					}
				}
				if err := rec.Close(b.Context()); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(rec.State().Kept), "B/hour")
			}
		})
	}
}
