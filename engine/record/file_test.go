package record

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestAFileIsItsOwnersAlone(t *testing.T) {
	path := recorded(t, 3*time.Second)
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	empty := filepath.Join(t.TempDir(), "touched")
	if err := errors.Join(os.WriteFile(empty, nil, 0o644), os.Chmod(path, 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, was := range []string{empty, path} {
		r := NewRecorder(Options{})
		if err := r.WriteTo(was, 0); err != nil {
			t.Fatal(err)
		}
		if info, err = os.Stat(was); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s, that others could read, is continued with mode %v, %v", filepath.Base(was), info.Mode(), err)
		}
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	other := filepath.Join(t.TempDir(), "text") // is no recording, and stays as it is
	if err := os.WriteFile(other, []byte("not ours"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := NewRecorder(Options{}).WriteTo(other, 0); err == nil {
		t.Error("what is no recording is continued")
	}
	if info, err = os.Stat(other); err != nil || info.Mode() != 0o644 {
		t.Errorf("what is no recording has mode %v, %v", info.Mode(), err)
	}
}

// What is no recording is never written to, and the error says what to do.
func TestWhatIsNoRecordingIsRefused(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	text := bytes.Repeat([]byte("not ours\n"), 10)
	newer, err := Head{Format: 99, Plegtop: "v9.1"}.append(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"text": text, "short": []byte("a"), "newer": newer, "good.1": text} {
		if err := os.WriteFile(in(name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(in("text"), in("link")), syscall.Mkfifo(in("fifo"), 0o600), os.Mkdir(in("folder"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"link": "it is a link: name the file itself", "fifo": "name another one", "folder": "is a directory", "text": "name another file, or remove it",
		"short": "name another file, or remove it", "newer": "recorded in a newer format", "good": "name another file, or remove it",
		"nowhere/file": "no such file",
	} {
		err := NewRecorder(Options{}).WriteTo(in(name), 1<<20)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v; want %q", name, err, want)
		}
	}
	if err := NewRecorder(Options{}).WriteTo(os.DevNull, 0); err == nil || !strings.Contains(err.Error(), "name another one") {
		t.Errorf("a device: %v", err)
	}
	for _, name := range []string{"text", "good.1"} {
		if now, err := os.ReadFile(in(name)); err != nil || !bytes.Equal(now, text) {
			t.Errorf("%s was written to: %v", name, err)
		}
	}
	if _, err := Open(in("newer")); !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "plegtop v9.1") {
		t.Errorf("replay of a newer one: %v", err)
	}
	if _, err := Open(in("fifo")); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("replay of a pipe: %v", err)
	}
}

func TestOneRecorderAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	r := NewRecorder(Options{})
	if err := r.WriteTo(path, 0); err != nil {
		t.Fatal(err)
	}
	if err := NewRecorder(Options{}).WriteTo(path, 0); err == nil || !strings.Contains(err.Error(), "another plegtop records to it") {
		t.Errorf("%v", err)
	}
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A file is continued by another run, which does not know of the first.
func TestARecordingIsContinued(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	synctest.Test(t, func(t *testing.T) {
		recordTo(t, path, newNode(3, 2), 5*time.Second)
		recordTo(t, path, newNode(4, 2), 5*time.Second)
	})
	runs := 0
	for i, s := range playFile(t, path) {
		if s.Fresh {
			runs++
		}
		if s.Fresh && i > 0 && len(s.Snapshot.Pods) == 3 {
			t.Errorf("the second run begins with %d pods", len(s.Snapshot.Pods))
		}
	}
	if runs != 2 {
		t.Errorf("%d runs", runs)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	feeds := 0
	for f := r.Play(time.Time{}).Feed(); f != nil; f = f.Rest() {
		feeds++
		for {
			if _, err = f.Next(t.Context()); err != nil {
				break
			}
		}
	}
	if feeds != 2 {
		t.Errorf("%d feeds", feeds)
	}
}

// A file and the one before it are no larger than they may be, and both can be played.
func TestRotation(t *testing.T) {
	const most = 256 << 10
	path := filepath.Join(t.TempDir(), "f")
	synctest.Test(t, func(t *testing.T) {
		r := NewRecorder(Options{Ring: -1, Segments: time.Hour})
		if err := r.WriteTo(path, most); err != nil {
			t.Fatal(err)
		}
		run{node: newNode(50, 2), tape: r, changes: 20}.lasts(t, 20*time.Minute)
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s := r.State(); s.Written < 2*most {
			t.Fatalf("only %d bytes: nothing was rotated", s.Written)
		}
	})
	var last time.Time
	size := int64(0)
	for _, name := range []string{path + ".1", path} {
		info, err := os.Stat(name)
		if err != nil || info.Mode() != 0o600 {
			t.Fatalf("%v, %v", info, err)
		}
		size += info.Size()
		all := playFile(t, name)
		if !last.IsZero() && all[0].Snapshot.At.Sub(last) > 2*time.Second {
			t.Errorf("from %v to %v nothing was recorded", last, all[0].Snapshot.At)
		}
		last = all[len(all)-1].Snapshot.At
	}
	if size > most*5/4 {
		t.Errorf("both have %d bytes", size)
	}
	if _, err := os.Stat(path + ".1.1"); err == nil {
		t.Error("there is a third")
	}
}

// A disk is one that a test controls.
type disk struct {
	write func(b []byte) (int, error)
}

func (d disk) Write(b []byte) (int, error) { return d.write(b) }
func (disk) Sync() error                   { return nil }
func (disk) Close() error                  { return nil }

// onDisk records a node for so long to a disk.
func onDisk(t *testing.T, write func([]byte) (int, error), d time.Duration) *Recorder {
	t.Helper()
	r := NewRecorder(Options{})
	r.file = begun("/var/lib/night.plegrec", 0, disk{write}, 0)
	run{node: newNode(20, 2), tape: r, changes: 5}.lasts(t, d)
	return r
}

// A disk that is full ends what is written. The ring goes on.
func TestADiskThatIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		r := onDisk(t, func(b []byte) (int, error) {
			if n++; n > 30 {
				return len(b) / 2, syscall.ENOSPC
			}
			return len(b), nil
		}, 5*time.Minute)
		s := r.State()
		if want := "no space left on device"; s.Ended != want || s.Writes() || s.EndedAt.IsZero() {
			t.Errorf("%+v", s)
		}
		if s.Span < 4*time.Minute {
			t.Errorf("the ring has %v", s.Span)
		}
		if n != 31 {
			t.Errorf("%d writes", n)
		}
		if err := r.Close(t.Context()); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("at the end: %v", err)
		}
	})
}

// A disk that answers nothing holds up neither the engine nor the end, and takes no memory
// without bound.
func TestADiskThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		goOn := make(chan struct{})
		defer close(goOn)
		r := onDisk(t, func(b []byte) (int, error) { <-goOn; return len(b), nil }, time.Minute)
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.Close(ctx); err == nil || !strings.Contains(err.Error(), "the disk does not answer") {
			t.Errorf("%v", err)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("the end took %v", took)
		}
		f := begun("f", 0, disk{func(b []byte) (int, error) { <-goOn; return len(b), nil }}, 0)
		for range 40 {
			f.write(make([]byte, 1<<20), false)
		}
		if f.queued > mostQueued || !errors.Is(f.fault(), errSlow) {
			t.Errorf("%d bytes wait: %v", f.queued, f.fault())
		}
		closed, cancel := context.WithCancel(t.Context())
		cancel()
		_ = f.close(closed)
	})
}
