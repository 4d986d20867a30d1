package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestKilledRecording holds that what was recorded of a plegtop that was killed outright is, line
// for line, what it wrote until then, but for the last seconds, and no damage.
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
	for lines := bufio.NewScanner(out); len(live) < enough && lines.Scan(); {
		live = append(live, lines.Text())
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if _ = cmd.Wait(); len(live) < enough {
		t.Fatalf("it ended after\n%s", strings.Join(live, "\n"))
	}
	var said bytes.Buffer
	replay := exec.Command(plegtop(t), "--replay", file, "watch", "-o", "json")
	replay.Env, replay.Stderr = environ, &said
	text, err := replay.Output()
	if err != nil || said.Len() > 0 {
		t.Errorf("%v: %s", err, &said)
	}
	played := strings.Split(strings.TrimSpace(string(text)), "\n")
	events, rest := told(t, live)
	again, others := told(t, played)
	sameBeginning(t, events, again)
	sameBeginning(t, rest, others)
	lost := lineOf(t, live[len(live)-1]).Time.Sub(lineOf(t, played[len(played)-1]).Time)
	if len(played) < enough/2 || lost > 2500*time.Millisecond { // a second until it is written, and one until the next thing happens
		t.Errorf("%d lines of %d, %v are lost", len(played), len(live), lost)
	}
}

func sameBeginning(t *testing.T, live, played []string) {
	t.Helper()
	for i := range min(len(live), len(played)) {
		if live[i] != played[i] {
			t.Fatalf("line %d: live\n%s\nplayed\n%s", i, live[i], played[i])
		}
	}
}

// told returns the lines of events, and what the others say: when, by which figures, and between
// which events goes by the snapshots that a reader has, of which a busy machine misses some.
func told(t *testing.T, lines []string) (events, rest []string) {
	for _, text := range lines {
		if l := lineOf(t, text); l.Kind == "event" {
			events = append(events, text)
		} else {
			rest = append(rest, strings.Join([]string{l.Kind, l.State, l.Finding.ID, l.Headline.Word}, " "))
		}
	}
	return events, rest
}

// A line is what the test reads of one.
type line struct {
	Time        time.Time
	Kind, State string
	Finding     struct{ ID string }
	Headline    struct{ Word string }
}

func lineOf(t *testing.T, text string) (l line) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return l
}
