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
	"testing/synctest"
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

// A byte that is not what it was is reported, with what comes before it played, and the segments
// after that, or changes nothing. Never is less played, or something else, and nothing said.
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
	last := int64(0)                // where the last segment begins
	for _, s := range segments(t, path) {
		last = s.at - int64(len(s.head))
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
		next := 0
		for i := range got {
			place := slices.Index(all[next:], got[i])
			if place < 0 {
				t.Fatalf("byte %d of %d: moment %d of %d is another one; %v", at, len(whole), i, len(all), err)
			}
			next += place + 1
		}
		if int64(at) < last && next != len(all) {
			t.Errorf("byte %d of %d: what comes after is not shown; %v", at, len(whole), err)
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

func segments(t *testing.T, path string) []*segment {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return r.segments
}

// No byte of a head can be another one and nothing be said: a head has who, where and when.
func TestAHeadThatIsWrong(t *testing.T) {
	path := recorded(t, 35*time.Second)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	heads := segments(t, path)
	for i, s := range heads {
		for at := int(s.at) - len(s.head); at < int(s.at); at++ {
			b := bytes.Clone(whole)
			b[at] ^= 1 << (at % 8)
			all, _, err := scan(bytes.NewReader(b), int64(len(b)))
			last := i == len(heads)-1
			if len(all) != len(heads)-1 || last != errors.Is(err, errDamaged) || !last && !all[i].torn {
				t.Fatalf("byte %d, in head %d: %d segments, %v", at, i, len(all), err)
			}
		}
	}
}

// A file that was cut anywhere is played up to its last whole block, and nothing is wrong with
// that; then it is continued, and as whole as if nothing had happened. One in which nothing is
// whole is refused in one sentence.
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
	all, shown := len(playFile(t, path)), 0
	for n := range whole {
		if n > 1<<8 && n%97 != 0 && n < len(whole)-50 { // each takes some milliseconds
			continue
		}
		got := cutAt(t, whole, n, nil)
		if got < shown || got > all {
			t.Fatalf("%d bytes show %d moments, fewer bytes %d, all %d", n, got, shown, all)
		}
		shown = got
	}
	if shown < all-2 {
		t.Errorf("all but a byte shows %d of %d moments", shown, all)
	}
}

// So is one that was cut within a state, which takes several blocks of zstd, where one of these ends.
func TestAStateThatWasCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	synctest.Test(t, func(t *testing.T) { recordTo(t, path, newNode(500, 2), 28*time.Second) })
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := segments(t, path)[1]
	first := int(s.at) + 6 // behind the head of the frame
	block := 3 + (int(whole[first])|int(whole[first+1])<<8|int(whole[first+2])<<16)>>3
	if whole[first]>>1&3 != 2 || block > 1<<17 {
		t.Fatalf("no block begins at %d: % x", first, whole[first:first+3])
	}
	next, err := os.ReadFile(recorded(t, 2*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	before := cutAt(t, whole, int(s.at)-len(s.head), next)
	for _, n := range []int{first - 1, first, first + 2, first + block - 1, first + block, first + block + 1, first + block + 4} {
		if got := cutAt(t, whole, n, next); got != before || before < 5 {
			t.Errorf("%d bytes show %d moments, want %d", n, got, before)
		}
	}
}

// cutAt returns how many moments the first n bytes of a recording show, also once it is continued
// by another one; nil for none.
func cutAt(t *testing.T, whole []byte, n int, next []byte) (shown int) {
	t.Helper()
	cut := filepath.Join(t.TempDir(), "cut")
	if err := os.WriteFile(cut, whole[:n], 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := told(t, cut, whole[:n])
	if err != nil && (!errors.Is(err, ErrNoRecording) || strings.Contains(err.Error(), "\n")) {
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
