//go:build linux

package e2e

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What was recorded of a plegtop that was killed outright, while a real runtime was at work, is
// event for event what it had written, and nothing of this machine is asked for it.
func TestRecordingOfARealRuntime(t *testing.T) {
	node := newestContainerd(t)
	file := filepath.Join(t.TempDir(), "node.plegrec")
	asked := record(t, node.socket)
	w := watchJSON(t, asked.socket, "--events=cri", "--record", file)
	w.connected(1)
	w.tellsOnce(node, node.shuffle(rand.New(rand.NewPCG(6, 1)), transitions))
	events := func(lines []string) (all []string) {
		for _, l := range lines {
			if strings.Contains(l, `"kind":"event"`) {
				all = append(all, l)
			}
		}
		return all
	}
	said := texts(w.said("event"))
	live := events(strings.Split(said, "\n"))
	var played []string
	for len(played) < len(live) && t.Context().Err() == nil { // until it is on the disk
		played = events(replayed(t, file))
		<-time.After(100 * time.Millisecond)
	}
	must(t, w.cmd.Process.Kill())
	_ = w.cmd.Wait() // it was killed
	<-w.over
	live = events(strings.Split(texts(w.said("event")), "\n"))
	requests := len(asked.requests())
	played = events(replayed(t, file))
	if len(live) < transitions || len(played) < transitions {
		t.Fatalf("%d events live, %d played, want %d", len(live), len(played), transitions)
	}
	for i := range min(len(live), len(played)) {
		if live[i] != played[i] {
			t.Fatalf("event %d: live\n%s\nplayed\n%s", i, live[i], played[i])
		}
	}
	if more := len(asked.requests()) - requests; more > 0 {
		t.Errorf("the replay asked the runtime %d times", more)
	}
}

// replayed returns the lines of watch of a recording.
func replayed(t *testing.T, file string) []string {
	t.Helper()
	program, err := buildOnce()
	must(t, err)
	cmd := exec.Command(program, "--replay", file, "watch", "-o", "json")
	cmd.Env, cmd.Stderr = append(os.Environ(), "XDG_CONFIG_HOME="+t.TempDir()), os.Stderr
	out, err := cmd.Output()
	must(t, err)
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}
