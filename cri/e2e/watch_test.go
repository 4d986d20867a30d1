//go:build linux

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A watchLine is one of `plegtop watch -o json`, as far as these tests look.
type watchLine struct {
	Kind, Type, ID, Mode, Delivery, SeenBy string
	Time                                   time.Time
	LagSeconds                             *float64
	Sightings                              []struct {
		Source string
		Time   time.Time
	}

	Source, State, Reason                             string
	Received, Lost, Transitions, Both                 uint64
	MissedByRelist, MissedBySource, Duplicates, Count uint64
	text                                              string
}

// A watcher is `plegtop watch -o json` at work.
type watcher struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdout io.ReadCloser
	stderr bytes.Buffer // to be read when it has ended
	over   chan struct{}
	marks  int // containers that catchesUp has started

	mu    sync.Mutex
	lines []watchLine // guarded by mu
}

// startWatch runs it until the test ends. Nobody reads its output before follow.
func startWatch(t *testing.T, socket string, args ...string) *watcher {
	t.Helper()
	program, err := buildOnce()
	must(t, err)
	w := &watcher{t: t, over: make(chan struct{})}
	w.cmd = exec.Command(program, append([]string{"-r", "unix://" + socket, "watch", "-o", "json"}, args...)...)
	w.cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+t.TempDir())
	w.cmd.Stderr = &w.stderr
	w.stdout, err = w.cmd.StdoutPipe()
	must(t, err)
	must(t, w.cmd.Start())
	t.Cleanup(func() { _ = w.cmd.Process.Kill() })
	return w
}

// watchJSON runs it with a reader until the test ends, and waits for its first words.
func watchJSON(t *testing.T, socket string, args ...string) *watcher {
	t.Helper()
	w := startWatch(t, socket, args...)
	go w.follow()
	w.wait("it says something", func(all []watchLine) bool { return len(all) > 0 })
	return w
}

// follow reads the output to its end.
func (w *watcher) follow() {
	defer close(w.over)
	lines := bufio.NewScanner(w.stdout)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := watchLine{text: lines.Text()}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			w.t.Errorf("%v: %s", err, lines.Text())
		}
		w.mu.Lock()
		w.lines = append(w.lines, line)
		w.mu.Unlock()
	}
}

func (w *watcher) said(kind string) []watchLine {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.lines), func(l watchLine) bool { return l.Kind != kind && kind != "" })
}

func (w *watcher) wait(what string, ok func([]watchLine) bool) {
	w.t.Helper()
	end := time.Now().Add(patience)
	for !ok(w.said("")) {
		if time.Now().After(end) {
			w.t.Fatalf("waited %v until %s; it said:\n%s", patience, what, texts(w.said("")))
		}
		<-time.After(20 * time.Millisecond)
	}
}

// connected waits until the event stream has been open for so many times.
func (w *watcher) connected(times int) {
	w.t.Helper()
	w.wait(fmt.Sprintf("the stream was connected %d times", times), func(all []watchLine) bool {
		n := 0
		for _, l := range all {
			if l.Kind == "source" && l.State == "connected" {
				n++
			}
		}
		return n >= times
	})
}

// interrupt ends it as ^c does, and returns how long that took.
func (w *watcher) interrupt() time.Duration {
	w.t.Helper()
	began := time.Now()
	must(w.t, w.cmd.Process.Signal(syscall.SIGINT))
	select {
	case <-w.over:
	case <-time.After(patience):
		w.t.Fatal("it does not end")
	}
	_ = w.cmd.Wait()
	took := time.Since(began)
	if w.stderr.Len() > 0 {
		w.t.Errorf("standard error:\n%s", &w.stderr)
	}
	return took
}

// holdsSchema checks all lines against docs/watch.schema.json.
func (w *watcher) holdsSchema() {
	w.t.Helper()
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "docs", "watch.schema.json"))
	must(w.t, err)
	for _, l := range w.said("") {
		object, err := jsonschema.UnmarshalJSON(strings.NewReader(l.text))
		must(w.t, err)
		if err := schema.Validate(object); err != nil {
			w.t.Errorf("%v: %s", err, l.text)
		}
	}
}

var eventTypes = map[pleg.Signal]string{
	pleg.SignalStarted: "ContainerStarted", pleg.SignalStopped: "ContainerDied", pleg.SignalDeleted: "ContainerRemoved",
}

// tells waits until each of these was reported.
func (w *watcher) tells(done ...deed) {
	w.t.Helper()
	w.wait(fmt.Sprintf("%d transitions were told", len(done)), func(all []watchLine) bool { return len(linesOf(all, done)) >= len(done) })
}

// catchesUp starts two containers, the second once the first was reported, and waits until that one
// was, too: a relist, or a stream, has then reported all that happened before.
func (w *watcher) catchesUp(node *private) {
	w.t.Helper()
	for range 2 {
		w.marks++
		_, id := node.startPod(fmt.Sprintf("mark-%d", w.marks), "sleep")
		w.tells(deed{id, pleg.SignalStarted})
	}
}

// tellsOnce waits until each of these was reported, and all that came with it, and fails if one was
// reported more often. It returns their lines.
func (w *watcher) tellsOnce(node *private, done []deed) []watchLine {
	w.t.Helper()
	w.tells(done...)
	w.catchesUp(node)
	told := linesOf(w.said("event"), done)
	for _, d := range done {
		if n := len(linesOf(told, []deed{d})); n != 1 {
			w.t.Errorf("%s of %s was told %d times, want once:\n%s", eventTypes[d.signal], d.id, n, texts(linesOf(told, []deed{d})))
		}
	}
	return told
}

func linesOf(all []watchLine, done []deed) (of []watchLine) {
	for _, l := range all {
		if slices.ContainsFunc(done, func(d deed) bool { return l.Kind == "event" && d.id == l.ID && eventTypes[d.signal] == l.Type }) {
			of = append(of, l)
		}
	}
	return of
}

func texts(all []watchLine) string {
	var b strings.Builder
	for _, l := range all {
		b.WriteString(l.text + "\n")
	}
	return b.String()
}

// lags returns how much later each was seen than it happened, of those that say so.
func lags(all []watchLine) (of []time.Duration) {
	for _, l := range all {
		if l.LagSeconds != nil {
			of = append(of, time.Duration(*l.LagSeconds*float64(time.Second)))
		}
	}
	return of
}

// peak returns the most memory that a process ever had, in bytes.
func peak(t *testing.T, pid int) (bytes uint64) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	must(t, err)
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	_, err = fmt.Sscanf(rest, "%d kB", &bytes)
	must(t, err)
	return bytes << 10
}
