package record

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What lies between two segments that can be read is left out and said, whatever is wrong with it.
func TestWhatIsDamagedIsLeftOut(t *testing.T) {
	path := recorded(t, 90*time.Second)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all, heads := playFile(t, path), segments(t, path)
	began := func(i int) int64 { return heads[i].at - int64(len(heads[i].head)) }
	for _, tt := range []struct {
		what        string
		at, n       int64
		from, until int // the segments in which nothing is shown from there on
	}{
		{"the first bytes", 0, 4, 0, 1},
		{"the frame of the first segment", heads[0].at + 2, 4, 0, 1},
		{"a block of the second segment", heads[1].at + heads[1].size/2, 4, 1, 2},
		{"the end of the second segment and the head of the third", began(2) - 6, 60, 2, 3},
		{"two segments", began(1), began(3) - began(1), 1, 3},
	} {
		b := bytes.Clone(whole)
		for i := tt.at; i < tt.at+tt.n; i++ {
			b[i] ^= 0x5a
		}
		bad := filepath.Join(t.TempDir(), "bad")
		if err := os.WriteFile(bad, b, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(bad)
		if err != nil {
			t.Errorf("%s: %v", tt.what, err)
			continue
		}
		shown, err := play(r)
		out, is := errors.AsType[*LeftOut](err)
		if !is || len(out.Holes) != 1 {
			t.Errorf("%s: left out %v", tt.what, err)
			continue
		}
		hole, back := out.Holes[0], heads[tt.until].At
		if d := hole.To.Sub(back); d < 0 || d > 2*time.Second || hole.From.After(back) || !hole.From.IsZero() && hole.From.Before(heads[tt.from].At.Add(-2*time.Second)) {
			t.Errorf("%s: %v is left out, want from %v to %v", tt.what, hole, heads[tt.from].At, back)
		}
		for _, s := range shown {
			if out.Covers(s.Snapshot.At) {
				t.Errorf("%s: something is shown at %v", tt.what, s.Snapshot.At)
			}
		}
		if last := shown[len(shown)-1].Snapshot.At; !last.Equal(all[len(all)-1].Snapshot.At) {
			t.Errorf("%s: ends at %v", tt.what, last)
		}
		if size, err := continued(bad); err != nil || size != int64(len(whole)) {
			t.Errorf("%s: continued at byte %d of %d, %v", tt.what, size, len(whole), err)
		}
		_ = r.Close()
	}
}

// A disk that cannot read a page has that, and no more, be missing.
func TestAPageThatCannotBeRead(t *testing.T) {
	path := recorded(t, 90*time.Second)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := segments(t, path)
	for at := int64(0); at < int64(len(whole)); at += page {
		all, _, err := scan(badPage{bytes.NewReader(whole), at}, int64(len(whole)))
		hit := 0 // segments of which the page has a part
		for _, s := range want {
			if s.at+s.size > at && s.at-int64(len(s.head)) < at+page {
				hit++
			}
		}
		if at > 0 && len(all) < len(want)-hit {
			t.Errorf("page at %d: %d segments of %d, %v", at, len(all), len(want), err)
		}
	}
}

// A badPage is a file of which a page cannot be read.
type badPage struct {
	*bytes.Reader
	at int64
}

func (b badPage) ReadAt(p []byte, off int64) (int, error) {
	if off >= b.at+page || off+int64(len(p)) <= b.at {
		return b.Reader.ReadAt(p, off)
	}
	n, _ := b.Reader.ReadAt(p[:max(b.at-off, 0)], off)
	return n, errors.New("input/output error")
}

// A file in which there is a recording, but which is none, is nobody's to continue or replace.
func TestAFileWithARecordingInIt(t *testing.T) {
	whole, err := os.ReadFile(recorded(t, 3*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "archive")
	if err := os.WriteFile(path, append(make([]byte, 512), whole...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); !errors.Is(err, ErrNoRecording) {
		t.Errorf("opened: %v", err)
	}
	if _, err := continued(path); err == nil {
		t.Error("it is continued")
	}
}
