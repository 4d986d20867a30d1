//go:build linux

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestKilledRecording holds that what was recorded of a plegtop that was killed outright is, line
// for line, what it wrote until then, but for the last seconds; it says that its end is missing.
func TestKilledRecording(t *testing.T) {
	t.Parallel()
	const enough = 100
	file := filepath.Join(t.TempDir(), "night.plegrec")
	environ := append(os.Environ(), "TMPDIR="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir())
	cmd := exec.Command(plegtop(t), "--demo=tour", "--demo-speed", "8", "watch", "-o", "json", "--record", file)
	cmd.Env = environ
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var live []string
	ended := make(chan error, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			live = append(live, lines.Text())
		}
		ended <- lines.Err()
	}()
	replay := func() (lines []string, said string, err error) {
		var stderr bytes.Buffer
		cmd := exec.Command(plegtop(t), "--replay", file, "watch", "-o", "json")
		cmd.Env, cmd.Stderr = environ, &stderr
		text, err := cmd.Output()
		return strings.Split(strings.TrimSpace(string(text)), "\n"), stderr.String(), err
	}
	for n := 0; n < enough && t.Context().Err() == nil; { // what is on the disk
		lines, _, _ := replay()
		n = len(lines)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
	_ = cmd.Wait() // it was killed
	played, said, err := replay()
	if err != nil || !strings.Contains(said, "the file ends in the middle") || strings.Count(said, "\n") != 1 || len(played) < enough {
		t.Errorf("%d lines, %v: %s", len(played), err, said)
	}
	again, all := told(t, played, len(played))
	events, words := told(t, live, len(again)) // what came after that is lost
	for i := range min(len(events), len(again)) {
		if events[i] != again[i] {
			t.Fatalf("event %d: live\n%s\nplayed\n%s", i, events[i], again[i])
		}
	}
	if len(again) < enough/4 {
		t.Errorf("%d events", len(again))
	}
	for _, w := range words { // in this order, and maybe others between
		at := slices.Index(all, w)
		if at < 0 {
			t.Fatalf("the headline was %q live, and then not among %q", w, all)
		}
		all = all[at+1:]
	}
}

// told returns the lines of so many events at most, and the words of headlines before the last: a
// busy reader misses snapshots, and with them words.
func told(t *testing.T, lines []string, most int) (events, words []string) {
	for _, text := range lines {
		if len(events) == most {
			break
		}
		switch l := lineOf(t, text); l.Kind {
		case "event":
			events = append(events, text)
		case "headline":
			words = append(words, l.Headline.Word)
		}
	}
	return events, words
}

// A line is what the test reads of one.
type line struct {
	Kind     string
	Headline struct{ Word string }
}

func lineOf(t *testing.T, text string) (l line) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return l
}
