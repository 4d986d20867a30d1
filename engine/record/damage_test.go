package record

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/plegtop/plegtop/engine"
)

// recordingOf opens bytes as a file.
func recordingOf(t testing.TB, b []byte) (*Recording, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return Open(path)
}

func TestOtherFilesAreRefused(t *testing.T) {
	for text, want := range map[string]error{
		"": ErrNoRecording, "{": ErrNoRecording, "{\"plegrec\":2": ErrNoRecording, "#!/bin/sh\nexec\n": ErrNoRecording, "{\"plegrec\":0}\n": ErrNoRecording,
		"{\"plegrec\":1}\n": ErrFormat, "{\"plegrec\":3}\nSEGM": ErrFormat, "\x5C\x2A\x4D\x18\x10\x00": ErrFormat,
		"{\"plegrec\":2}\n": ErrEmpty, "{\"plegrec\":2}\nSEGM": ErrEmpty, "{\"plegrec\":2}\nXXXX0123456789abcdefghijk": ErrEmpty,
	} {
		r, err := recordingOf(t, []byte(text))
		if r != nil || !errors.Is(err, want) || !strings.Contains(err.Error(), "replay ") {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
	if _, err := recordingOf(t, []byte("{\"plegrec\":3}\n")); !strings.HasSuffix(err.Error(), "it has format 3, which a newer plegtop plays; this one plays format 2") {
		t.Error(err)
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("a folder is opened")
	}
}

// A file that ends anywhere is played up to there.
func TestCutFiles(t *testing.T) {
	whole := bytesOf(t, record(t, Options{}, "", 0, hour(1, 130*time.Second, time.Second)).Recording())
	last := 129
	for size := len(whole) - 1; size > 0; size -= 1031 {
		r, err := recordingOf(t, whole[:size])
		if errors.Is(err, ErrEmpty) || errors.Is(err, ErrNoRecording) {
			if size > 1000 {
				t.Fatalf("%d of %d bytes: %v", size, len(whole), err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		all, err := played(r, time.Time{})
		if !errors.Is(err, ErrCut) || len(all) > last || len(all) < last-25 && last < 129 && size > 2000 {
			t.Fatalf("%d of %d bytes: %d moments after %d, %v", size, len(whole), len(all), last, err)
		}
		last = len(all)
		r.Close()
	}
	if last > 25 {
		t.Errorf("the shortest has %d moments", last)
	}
}

// A damaged file is played up to the damage, wherever that is, and what comes before is right.
func TestDamagedFiles(t *testing.T) {
	r := record(t, Options{}, "", 0, hour(1, 130*time.Second, time.Second)).Recording()
	whole, want := bytesOf(t, r), 0
	if all, err := played(r, time.Time{}); err == nil {
		want = len(all)
	}
	for at := len(fileHead); at < len(whole); at += 797 {
		broken := bytes.Clone(whole)
		broken[at] ^= 0x10
		r, err := recordingOf(t, broken)
		if err != nil {
			if at > 1500 {
				t.Fatalf("byte %d of %d: %v", at, len(whole), err)
			}
			continue
		}
		all, err := played(r, time.Time{})
		if err == nil || len(all) > want {
			t.Fatalf("byte %d of %d: %d moments, %v", at, len(whole), len(all), err)
		}
		for i, u := range all {
			if !u.Snapshot.At.Equal(noon.Add(time.Duration(i+1)*time.Second + 10*time.Millisecond)) {
				t.Fatalf("byte %d: moment %d is of %v", at, i, u.Snapshot.At)
			}
		}
		r.Close()
	}
}

// A recording that panics the model gives an error.
func TestPanicsAreErrors(t *testing.T) {
	r := record(t, Options{}, "", 0, hour(1, 3*time.Second, 0)).Recording()
	p := player(r, time.Time{})
	defer p.Close()
	p.restore = func(*opening) (model, error) { panic("no such state") }
	for range 2 {
		if _, err := p.Next(); err == nil || !strings.Contains(err.Error(), "no such state") {
			t.Error(err)
		}
	}
}

// A recording whose time jumps ahead, or goes back, is damaged: a model goes through each period in
// between, and counts on time.
func TestTimeOnlyPasses(t *testing.T) {
	at := func(all ...time.Duration) *Recording {
		plain := must(encodes.Marshal(opening{Start: engine.Start{At: noon}, At: time.Minute, Checkpoint: []byte{0xa0}}))
		for _, d := range all {
			plain = append(plain, must(encodes.Marshal(entry{Kind: "Ticked", At: d, Of: []byte{0xa0}}))...)
		}
		return must(recordingOf(t, fileOf(plain)))
	}
	for name, r := range map[string]*Recording{
		"back": at(2*time.Minute, 2*time.Minute-1), "before its segment": at(time.Second), "ahead": at(2*time.Minute, 31*24*time.Hour),
	} {
		if _, err := played(r, time.Time{}); !errors.Is(err, errDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := played(at(time.Minute, time.Minute, 29*24*time.Hour), time.Time{}); err != nil {
		t.Errorf("a process that was stopped for four weeks: %v", err)
	}
}

// file returns a file of one segment that has some plain bytes.
func fileOf(plain []byte) []byte {
	w, _ := zstd.NewWriter(nil)
	b := appendPart(bytes.Clone(fileHead), begins, noon, w.EncodeAll(plain, nil))
	return appendPart(b, ends, noon, nil)
}

// However hostile a file is, it gives an error, and takes no more memory than a large node does.
func TestHostileFilesAreBounded(t *testing.T) {
	long := append([]byte{0x7b, 0, 0, 0, 100, 0, 0, 0, 0}, make([]byte, 70<<20)...) // a text of 400 GB
	many := append([]byte{0xa1, 0x65, 'S', 't', 'e', 'p', 's', 0x9a, 0, 0x3f, 0, 0}, make([]byte, 0x3f0000)...)
	for name, plain := range map[string][]byte{"long": long, "many": many, "deep": bytes.Repeat([]byte{0x81}, 1<<20), "none": {}} {
		file := fileOf(plain)
		var was, is runtime.MemStats
		runtime.ReadMemStats(&was)
		if _, err := recordingOf(t, file); err == nil {
			t.Errorf("%s: it is a recording", name)
		}
		runtime.ReadMemStats(&is)
		if took := (is.TotalAlloc - was.TotalAlloc) >> 20; took > 300 {
			t.Errorf("%s: it took %d MiB", name, took)
		}
	}
}

// Whatever the CBOR of a segment has, it is played, or gives an error.
func FuzzPlay(f *testing.F) {
	o := opening{Checkpoint: []byte{0xa0}}
	o.Start.At = noon
	plain, _ := encodes.Marshal(o)
	for _, kind := range []string{"CallEnded", "Looked", "Streamed", "Ticked", "Listed"} {
		item, _ := encodes.Marshal(entry{Kind: kind, At: 5, Of: []byte{0xa0}})
		plain = append(plain, item...)
	}
	c := newCodec(clock{start: noon})
	for at := range time.Duration(2) {
		item, _ := c.write(entry{At: at}, engine.CallEnded{Answer: engine.Answer{Sandboxes: newNode(1).sandboxes}})
		plain = append(plain, item...)
	}
	f.Add(plain)
	f.Fuzz(func(t *testing.T, plain []byte) {
		r := &Recording{}
		file := fileOf(plain)
		if r.segments, r.damage = scan(bytes.NewReader(file), int64(len(file))); len(r.segments) != 1 {
			t.Fatal(r.damage)
		}
		_, _ = r.Head()
		_, _ = played(r, time.Time{})
	})
}

// Whatever a file has, it is opened and played, or gives an error.
func FuzzScan(f *testing.F) {
	f.Add(fileOf([]byte{0xa0, 0xa0}))
	f.Fuzz(func(t *testing.T, file []byte) {
		r := &Recording{}
		r.segments, r.damage = scan(bytes.NewReader(file), int64(len(file)))
		_, _ = r.Head()
		_, _ = played(r, time.Time{})
	})
}
