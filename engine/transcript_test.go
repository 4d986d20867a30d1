package engine_test

// A transcript (testdata/*.txt) says what happens on a node and what plegtop then knows. It drives the engine by
// its exported API alone, in a testing/synctest bubble: an hour takes no time.
//
// How to write one. Begin with comment lines: which situation it is, and what it promises. Then come blocks: some
// commands, one a line, then ---- and what the show commands print, then an empty line. Leave the part below ----
// empty and let the test fill it in:
//
//	go test ./engine -run Transcript -rewrite
//
// Then read it: what is there must be what the first lines promise. Show only what the situation is about.
//
// Time. The engine starts at 0 s. The command start lets half a second pass, and only run and await let more pass:
// the script acts at half seconds while the relists of a quick runtime begin at whole ones, so nothing coincides. Where
// something has moved the relists to half seconds (resume, a call that hung), let 1.2 s pass in place of 1 s. A
// show right after another command waits 0.3 s for plegtop to publish; better let it run between. Times are seconds
// since the start, or since the command mark; what was before a mark is not shown any more. A moment that no rule
// gives is awaited and not shown: await not-ready from=118s to=129s. After that, run to=150s brings a certain moment.
//
// The runtime. POD/NAME is a container, POD a sandbox. OP is a CRI method or all. OBJECT is one
// of these, or several; p000..p009/app are ten; all-pods is the list of all pods, and not those of single ones.
//
//	pod web app log | pods 600 app          pods with a ready sandbox and running containers; p000 to p599
//	exit web/app code=137 reason=OOMKilled | exit all | restart web/app | remove web | remove web/app | remove all
//	state web/app created | address web 10.0.0.2 | order reversed | unlabelled | clock ahead=3s
//	condition RuntimeReady false reason=... message=(...) | version containerd 1.7.27
//	hang OP [OBJECT] | deaf OP [OBJECT]     calls wait for their deadline; even longer
//	fail OP [OBJECT] code=Unavailable text=(nobody listens) [after=5s] | slow OP [OBJECT] 2s | panic OP
//	answer OP [OBJECT] | answer later OP    calls answer again, also those that are out; only later ones
//	look [kubelet=v1.36.2] [sees=(web/app)] [folder=(web/app)] [lives=(web/app)] [stuck=(web/app)]
//	     [helper=kill age=60s] [busy] [dead-disk] [takes=300ms]   what looks at the node find; without one before start nobody looks
//	stream cri stopped web/app [at=-60s] [ran=1h] [times=N] [distinct] | stream cri stopped all | stream cri ends text=EOF
//	stream cri refuses code=Unimplemented text=(...) | stream cri opens
//
// plegtop.
//
//	start [release=1.35] [period=5s] [threshold=] [timeout=] [capacity=] [events=] [follow]
//	      [mode=evented] [streams=(cri,cgroup)] [offered=(cri)] [forced=(cri)]
//	examine within=5s [timeout=2s] [width=4] [deadline=20s] [leave=300ms]   in place of start: looks once, as check does
//	run 5s | run to=75s | mark | stop | in 700ms COMMAND   obeys a command later, while others go on
//	pause | resume | relist | relist 1000 times | reinspect web db | check all | cancel | period 5s | sources cri
//	hold | release | raw web [deadline=1s]
//	reader A | read A                       a reader of its own, and what it gets now
//	await not-ready|ready|loop-stopped|loop-works|unhealthy|healthy from=.. to=..
//	show calls | made [OP] | own [OP]       calls that are out; that were made, as a kubelet does; plegtop's own
//	show known | check | partial            what is known of the runtime; of check all; what is listed by half, who holds it up
//	show events [summed] | pods [web ...] | counts | relists | failures | settings
//	show health | node [posting] [clocks] | next | history
//	show channel | workers | mode | sources [changes] [tries] | drift | network | panics
//	show looks [deep] | raw | memory [hung] | snapshots [from-now] | delay

import (
	"context"
	"fmt"
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
	answer  *rawAnswer // to the last question for raw answers; nil until there is one

	*engine.Engine
	cancel context.CancelFunc // ends the engine
	ended  chan error         // how it has ended
	began  time.Time          // when it started
	zero   time.Time          // from which on times count
	now    time.Time          // where the script stands
	acted  bool               // a command has changed something since then

	seen watcher
	tape *memoryTape
	all  *engine.Feed // for the last snapshot
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
	case x.Engine == nil && slices.Contains(needEngine, name) && (name != "show" || x.seen.snapshot == nil):
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

// targets returns what a behaviour is of: an operation, or that operation of some objects. p010..p019/app are ten.
func (c command) targets() (all []string) {
	for _, object := range c.words[1:] {
		var first, last int
		var rest string
		if n, _ := fmt.Sscanf(object, "p%03d..p%03d%s", &first, &last, &rest); n < 2 {
			all = append(all, c.word(0)+" "+object)
			continue
		}
		for i := first; i <= last; i++ {
			all = append(all, fmt.Sprintf("%s p%03d%s", c.word(0), i, rest))
		}
	}
	if all == nil {
		all = []string{c.word(0)}
	}
	return all
}

// has reports whether an argument is there.
func (c command) has(word string) bool { return slices.Contains(c.words, word) }
