package record

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// told is all that a reader of a file sees of it, moment by moment, and what is wrong with the rest.
func told(t *testing.T, path string, content []byte) (all []string, damage error) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	shown, damage := play(r)
	for _, s := range shown {
		all = append(all, fmt.Sprint(s.Snapshot.At.Round(0), s.Snapshot.Cost, s.Snapshot.Health, s.Snapshot.Counts, s.Events))
	}
	return all, damage
}

// A byte that is not what it was is reported, with what comes before it played, or changes nothing.
// Never is less played, or something else, and nothing said.
func TestAByteThatIsWrong(t *testing.T) {
	path := recorded(t, 35*time.Second)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all, err := told(t, path, whole)
	if err != nil || len(all) < 25 {
		t.Fatalf("%d moments, %v", len(all), err)
	}
	bad, reported := filepath.Join(t.TempDir(), "bad"), 0
	structure := make(map[int]bool) // the heads, and the beginnings and ends of frames: there every byte counts
	for _, s := range segments(t, path) {
		for i := range 40 {
			structure[int(s.at)-20+i] = true
		}
		for i := range lastBlock {
			structure[int(s.at+s.size)-1-i] = true
		}
	}
	for at := range whole {
		if at%307 != 0 && !structure[at] { // each takes some milliseconds
			continue
		}
		b := bytes.Clone(whole)
		b[at] ^= 1 << (at % 8)
		got, err := told(t, bad, b)
		if len(got) > len(all) || !slices.Equal(got, all[:len(got)]) {
			t.Fatalf("byte %d of %d: something else is played; %v", at, len(whole), err)
		}
		if err == nil && len(got) != len(all) {
			t.Errorf("byte %d of %d: %d moments of %d, and nothing is said", at, len(whole), len(got), len(all))
		}
		if err != nil {
			reported++
		}
	}
	if reported < 100 {
		t.Errorf("only %d are reported", reported)
	}
}

// A file that is damaged in the middle is played up to there, and neither continued nor cut off: what
// is behind the damage may be of use to somebody.
func TestWhatIsDamagedEndsTheRecording(t *testing.T) {
	path := recorded(t, 90*time.Second)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := segments(t, path)
	second, third, fourth := all[1], all[2], all[3]
	for _, tt := range []struct {
		what        string
		at          int64
		from, until time.Time // the end of what is shown is between them
		says        string
		goOn        bool // it can be continued: nobody unpacks all blocks before
	}{
		{"a head", third.at - 40, second.At, third.At, errDamaged.Error(), false},
		{"a block", third.at + third.size - 200, third.At, fourth.At, "the segment of " + third.At.Format(time.RFC3339) + " is damaged: ", true},
	} {
		b := bytes.Clone(whole)
		for i := range int64(8) {
			b[tt.at+i] ^= 0x5a
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
		if last := shown[len(shown)-1].Snapshot.At; last.Before(tt.from) || last.After(tt.until) || err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: shown up to %v, want %v to %v; %v", tt.what, last, tt.from, tt.until, err)
		}
		_ = r.Close()
		if _, err := continued(bad); (err == nil) != tt.goOn {
			t.Errorf("%s: continued: %v", tt.what, err)
		}
		if now, _ := os.ReadFile(bad); !bytes.Equal(now, b) {
			t.Errorf("%s: the file has changed", tt.what)
		}
	}
}

func segments(t *testing.T, path string) []*segment {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return r.segments
}

// A file that was cut anywhere is played up to its last whole block, and that is said unless the cut
// is between two segments; then it is continued, and as whole as if nothing had happened. One in which
// nothing is whole is refused in one sentence.
func TestAFileThatWasCut(t *testing.T) {
	path := recorded(t, 11*time.Second)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := len(headBegins); n < len(whole); n++ {
		if _, _, err := scan(bytes.NewReader(whole), int64(n)); errors.Is(err, errDamaged) {
			t.Fatalf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
	between := make(map[int]bool)
	for _, s := range segments(t, path) {
		between[int(s.at+s.size)] = true
	}
	all, shown := len(playFile(t, path)), 0
	for n := range whole {
		if n > 1<<8 && n%97 != 0 && n < len(whole)-50 { // each takes some milliseconds
			continue
		}
		got := cutAt(t, whole, n, nil, !between[n])
		if got < shown || got > all {
			t.Fatalf("%d bytes show %d moments, fewer bytes %d, all %d", n, got, shown, all)
		}
		shown = got
	}
	if shown < all-2 {
		t.Errorf("all but a byte shows %d of %d moments", shown, all)
	}
}

// cutAt returns how many moments the first n bytes of a recording show, also once it is continued
// by another one; nil for none. Within says that the cut is in a segment.
func cutAt(t *testing.T, whole []byte, n int, next []byte, within bool) (shown int) {
	t.Helper()
	cut := filepath.Join(t.TempDir(), "cut")
	if err := os.WriteFile(cut, whole[:n], 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := told(t, cut, whole[:n])
	switch {
	case err == nil && within, errors.Is(err, ErrCut) && !within:
		t.Fatalf("%d bytes: %v", n, err)
	case err != nil && !errors.Is(err, ErrCut) && (!errors.Is(err, ErrNoRecording) || strings.Contains(err.Error(), "\n")):
		t.Fatalf("%d bytes: %v", n, err)
	}
	size, err := continued(cut)
	if n >= 4 && err != nil {
		t.Fatalf("%d bytes are not continued: %v", n, err)
	}
	if err != nil || size == 0 {
		return len(all)
	}
	rest, err := os.ReadFile(cut)
	if err != nil {
		t.Fatal(err)
	}
	again, err := told(t, cut, append(rest, next...))
	if err != nil || len(again) < len(all) || len(again) == len(all) != (next == nil) {
		t.Fatalf("%d bytes, continued, show %d moments, and before that %d: %v", n, len(again), len(all), err)
	}
	return len(all)
}

// continued makes a file ready to be continued, and returns its size.
func continued(path string) (int64, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return resume(f)
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
