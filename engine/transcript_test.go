package engine_test

// A transcript (testdata/*.txt) says what happens on a node and what plegtop then knows. It drives the engine by
// its exported API alone, in a testing/synctest bubble: an hour takes no time.
//
// How to write one. Begin with comment lines: which situation it is, and what it promises. Then come blocks: some
// commands, one a line, then ---- and what the show commands print, then an empty line. Leave the part below ----
// empty and let the tests fill it in:
//
//	go test ./engine -run Transcript -rewrite
//
// Then read it: what is there must be what the first lines promise. Show only what the situation is about.
//
// Time. The engine starts at 0 s. The command start lets half a second pass, and only run and await let more pass:
// the script acts at half seconds while the relists of a quick runtime begin at whole ones, so nothing coincides.
// Times are seconds since the start, or since
// the command mark; of what was before that nothing is shown any more. A moment that no rule gives to the second is
// not shown but awaited: await not-ready from=118s to=129s.
//
// The runtime (POD/NAME is a container, POD a sandbox; OP is a CRI method or all):
//
//	pod web app log           a pod with a ready sandbox and running containers; pods 600 app: p000 to p599
//	exit web/app code=137 reason=OOMKilled | exit all | restart web/app | state web/app created | remove web | remove all
//	hang OP [POD | POD/NAME]  calls wait for their deadline; deaf: even longer; answer [later] OP [...] ends it
//	fail OP [...] code=Unavailable text=(nobody listens) | slow OP [...] 2s | panic OP [...]
//	condition RuntimeReady false | version containerd 1.7.27 | unlabelled | order reversed | address web 10.0.0.2
//	look kubelet=v1.36.2      the next look at the node finds that kubelet; without one before start nobody looks
//	stream cri stopped web/app | stream cri stopped all | stream cri ends text=EOF | stream cri refuses code=Unimplemented | stream cri opens
//
// plegtop:
//
//	start [release=1.35] [period=5s] [threshold=] [timeout=] [capacity=] [events=] [mode=evented] [follow] [streams=(cri,cgroup)] [offered=(cri)]
//	run 5s | run to=75s | pause | resume | relist [N times] | reinspect web ... | check all | period 5s | sources cri | reader A | read A | stop
//	await not-ready|ready|loop-stopped|loop-works|unhealthy|healthy from=.. to=..
//
// What is shown, see shown_test.go: show calls, events [summed], pods, counts, health, node [posting] [clocks], next, history, relists, made
// [OP], asked, channel, workers, mode, sources [changes],
// drift, settings, failures, panics.

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/plegtop/plegtop/engine"
)

func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { play(t, file) })
		})
	}
}

// A calm drops the lines that datadriven logs each 10 s, which take no time here.
type calm struct{ testing.TB }

func (c calm) Logf(format string, args ...any) {
	if !strings.Contains(format, "still running") {
		c.TB.Logf(format, args...)
	}
}

func play(t *testing.T, file string) {
	x := &transcript{t: t, r: newScripted(t), streams: map[string]*scriptedStream{}, readers: map[string]*engine.Feed{}}
	defer x.end()
	datadriven.RunTestAny(calm{t}, file, func(_ testing.TB, d *datadriven.TestData) string {
		x.printed.Reset()
		x.do(d, d.Cmd, d.CmdArgs)
		for line := range strings.Lines(d.Input) {
			if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
				continue
			}
			name, args, err := datadriven.ParseLine(line)
			if err != nil {
				t.Fatalf("%s: %v", d.Pos, err)
			}
			x.do(d, name, args)
		}
		return x.printed.String()
	})
}

// A transcript is one that is being played.
type transcript struct {
	t       testing.TB
	r       *scripted
	streams map[string]*scriptedStream
	readers map[string]*engine.Feed
	printed strings.Builder

	*engine.Engine
	cancel context.CancelFunc // ends the engine
	ended  chan error         // how it has ended
	began  time.Time          // when it started
	zero   time.Time          // from which on times count
	now    time.Time          // where the script stands
	acted  bool               // a command has changed something since then

	seen watcher
}

// A command is one line of a transcript.
type command struct {
	name  string
	words []string          // arguments
	with  map[string]string // arguments of the form name=value
}

// word returns an argument; empty if there are not so many.
func (c command) word(i int) string {
	if i < len(c.words) {
		return c.words[i]
	}
	return ""
}

// span returns a time; 0 if it is not given.
func span(text string) time.Duration {
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		panic(err)
	}
	return d
}

func number(text string) int {
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}

// do obeys one command.
func (x *transcript) do(d *datadriven.TestData, name string, args []datadriven.CmdArg) {
	c := command{name: name, with: map[string]string{}}
	for _, a := range args {
		if len(a.Vals) == 0 {
			c.words = append(c.words, a.Key)
		} else {
			c.with[a.Key] = strings.Join(a.Vals, ",")
		}
	}
	defer func() {
		if wrong := recover(); wrong != nil {
			x.t.Fatalf("%s: %s %v: %v", d.Pos, name, args, wrong)
		}
	}()
	switch obey, ok := commands[name]; {
	case !ok:
		panic("no such command")
	case x.Engine == nil && slices.Contains(needEngine, name):
		panic("plegtop has not been started")
	default:
		obey(x, c)
	}
	if !slices.Contains([]string{"run", "await", "show", "mark"}, name) {
		x.acted = true
		x.seen.forget()
	}
	synctest.Wait()
}

// target returns what a behaviour is of: an operation, and perhaps one object.
func (c command) target() string { return strings.TrimSpace(c.word(0) + " " + c.word(1)) }
