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
// Times are seconds since the start, or since the command mark. A moment that no rule gives to the second is
// not shown but awaited: await not-ready from=118s to=129s.
//
// The runtime (POD/NAME is a container, POD a sandbox; OP is a CRI method or all):
//
//	pod web app log           a pod with a ready sandbox and running containers; pods 600 app: p000 to p599
//	exit web/app code=137 reason=OOMKilled | exit all | restart web/app | state web/app created | remove web | remove all
//	hang OP [POD | POD/NAME]  calls wait for their deadline; deaf: even longer; answer [later] OP [...] ends it
//	fail OP [...] code=Unavailable text=(nobody listens) | slow OP [...] 2s | panic OP [...]
//	condition RuntimeReady false | version containerd 1.7.27 | unlabelled | order reversed | address web 10.0.0.2
//	look kubelet=v1.36.2      the next look at the node finds that kubelet (before start: somebody looks)
//	stream cri stopped web/app [times=N] | stream cri ends text=EOF | stream cri refuses code=Unimplemented | stream cri opens
//
// plegtop:
//
//	start [release=1.35] [period=5s] [threshold=] [timeout=] [capacity=] [events=] [mode=evented] [follow] [streams=(cri,cgroup)] [offered=(cri)]
//	run 5s | run to=75s | pause | resume | relist [N times] | reinspect web ... | check all | period 5s | sources cri | reader A | read A | stop
//	await not-ready|ready|loop-stopped|loop-works|unhealthy|healthy from=.. to=..
//
// What is shown, see shown_test.go: show calls, events [summed], pods, counts, health, node [posting] [clocks], next, history, relists, made
// [OP], asked, channel, workers, mode, sources, drift, panics.

import (
	"cmp"
	"context"
	"errors"
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
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
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

// needEngine names the commands that a running plegtop obeys.
var needEngine = []string{"run", "await", "show", "pause", "resume", "relist", "reinspect", "check", "period", "sources", "reader", "read", "stop"}

var commands = map[string]func(*transcript, command){
	"pod": func(x *transcript, c command) { x.r.pod(c.word(0), c.words[1:]) },
	"pods": func(x *transcript, c command) {
		for i := range number(c.word(0)) {
			x.r.pod(fmt.Sprintf("p%03d", i), c.words[1:])
		}
	},
	"exit": func(x *transcript, c command) {
		x.r.exit(c.word(0), int32(number(c.with["code"])), c.with["reason"])
	},
	"restart":    func(x *transcript, c command) { x.r.restart(c.word(0)) },
	"state":      func(x *transcript, c command) { x.r.set(c.word(0), c.word(1)) },
	"remove":     func(x *transcript, c command) { x.r.remove(c.word(0)) },
	"address":    func(x *transcript, c command) { x.r.addresses[c.word(0)] = c.word(1) },
	"unlabelled": func(x *transcript, _ command) { x.r.unlabelled = true },
	"order":      func(x *transcript, _ command) { slices.Reverse(x.r.containers); slices.Reverse(x.r.sandboxes) },
	"condition": func(x *transcript, c command) {
		x.r.condition(pleg.Condition{Type: c.word(0), Status: c.word(1) == "true", Reason: c.with["reason"], Message: c.with["message"]})
	},
	"version": func(x *transcript, c command) {
		x.r.version = pleg.Version{RuntimeName: c.word(0), RuntimeVersion: c.word(1), APIVersion: "v1"}
	},

	"hang": func(x *transcript, c command) { x.r.behave(c.target(), &behaviour{gate: make(chan struct{})}, false) },
	"deaf": func(x *transcript, c command) {
		x.r.behave(c.target(), &behaviour{gate: make(chan struct{}), deaf: true}, false)
	},
	"slow": func(x *transcript, c command) {
		last := len(c.words) - 1
		delay := span(c.words[last])
		c.words = c.words[:last]
		x.r.behave(c.target(), &behaviour{delay: delay}, false)
	},
	"fail": func(x *transcript, c command) {
		x.r.behave(c.target(), &behaviour{delay: span(c.with["after"]), err: failure(0, c.with["code"], c.with["text"])}, false)
	},
	"panic": func(x *transcript, c command) { x.r.behave(c.target(), &behaviour{panics: true}, false) },
	"answer": func(x *transcript, c command) {
		later := c.word(0) == "later"
		if later {
			c.words = c.words[1:]
		}
		x.r.behave(c.target(), nil, later)
	},
	"look":   func(x *transcript, c command) { x.r.look(evidence.Kubelet{Version: c.with["kubelet"]}) },
	"stream": (*transcript).stream,

	"start": (*transcript).start,
	"stop":  func(x *transcript, _ command) { x.stop() },
	"run": func(x *transcript, c command) {
		if to := c.with["to"]; to != "" {
			x.runTo(x.zero.Add(span(to)))
			return
		}
		x.runTo(x.now.Add(span(c.word(0))))
	},
	"mark":   func(x *transcript, _ command) { x.zero = x.now },
	"await":  (*transcript).await,
	"show":   (*transcript).show,
	"pause":  func(x *transcript, _ command) { x.Pause() },
	"resume": func(x *transcript, _ command) { x.Resume() },
	"period": func(x *transcript, c command) { x.SetPeriod(span(c.word(0))) },
	"check":  func(x *transcript, _ command) { x.Sweep() },
	"relist": func(x *transcript, c command) {
		for range max(number(c.word(0)), 1) {
			x.RelistNow()
		}
	},
	"reinspect": func(x *transcript, c command) {
		for _, pod := range c.words {
			x.Reinspect(pleg.UID(pod))
		}
	},
	"sources": func(x *transcript, c command) { x.setSources(c.words) },
	"reader":  func(x *transcript, c command) { x.readers[c.word(0)] = x.Feed() },
	"read":    (*transcript).read,
}

// target returns what a behaviour is of: an operation, and perhaps one object.
func (c command) target() string { return strings.TrimSpace(c.word(0) + " " + c.word(1)) }

// start starts plegtop.
func (x *transcript) start(c command) {
	conf := engine.Config{
		Runtime: x.r, Period: span(c.with["period"]), Threshold: span(c.with["threshold"]), Timeout: span(c.with["timeout"]),
		Capacity: number(c.with["capacity"]), Events: number(c.with["events"]), Follow: slices.Contains(c.words, "follow"),
	}
	x.r.now = func() time.Time { return x.now }
	x.r.timeout = cmp.Or(conf.Timeout, 2*time.Minute)
	if r := c.with["release"]; r != "" {
		conf.Release = must(pleg.ParseRelease(r))
	}
	if m := c.with["mode"]; m != "" {
		conf.Mode = must(pleg.ParseMode(m))
	}
	if x.r.report != nil {
		conf.Look = x.r.Look
	}
	conf.Streams = x.configured(c.with["streams"], c.with["offered"])
	x.Engine = must(engine.New(conf))
	ctx, cancel := context.WithCancel(context.Background())
	x.cancel, x.ended = cancel, make(chan error, 1)
	x.began = time.Now()
	x.zero, x.now = x.began, x.began
	go func() { x.ended <- x.Run(ctx) }()
	x.seen.begin(x.t, x.Engine)
	x.runTo(x.began.Add(time.Second / 2))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// stop ends plegtop, and prints how long that took.
func (x *transcript) stop() {
	began := time.Now()
	x.cancel()
	err := <-x.ended
	x.seen.over.Wait()
	x.printf("ended after %s, error: %v\n", seconds(time.Since(began)), err)
	x.cancel = nil
	x.now = time.Now()
}

// end ends all goroutines of the bubble.
func (x *transcript) end() {
	if x.cancel != nil {
		x.stop()
	}
	x.r.mu.Lock()
	defer x.r.mu.Unlock()
	x.r.open(nil)
}

func (x *transcript) runTo(at time.Time) {
	x.now, x.acted = at, false
	if d := time.Until(at); d > 0 {
		time.Sleep(d)
	}
	synctest.Wait()
}

// await lets time pass until something is so, but not beyond the time to, and prints what is so. It must have
// come about between from and to.
func (x *transcript) await(c command) {
	from, to := x.zero.Add(span(c.with["from"])), x.zero.Add(span(c.with["to"]))
	for {
		what, since, so := x.seen.state(c.word(0))
		switch {
		case so && since.Before(from):
			x.printf("%s too early: at %s\n", what, x.at(since))
		case so && since.After(to):
			x.printf("%s too late: at %s\n", what, x.at(since))
		case so:
			x.printf("%s\n", what)
		case x.now.After(to.Add(2 * time.Second)):
			x.printf("not %s by %s\n", c.word(0), x.at(to))
		default:
			x.runTo(x.now.Add(time.Second / 4))
			continue
		}
		return
	}
}

// read lets a reader take what it has not had yet.
func (x *transcript) read(c command) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	u, err := x.readers[c.word(0)].Next(ctx)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		x.printf("%s: nothing new\n", c.word(0))
	case err != nil:
		x.printf("%s: %v\n", c.word(0), err)
	case len(u.Events) == 0:
		x.printf("%s: no event, %d lost\n", c.word(0), u.Lost)
	default:
		x.printf("%s: %d events up to number %d, %d lost\n", c.word(0), len(u.Events), u.Events[len(u.Events)-1].Seq, u.Lost)
	}
}
