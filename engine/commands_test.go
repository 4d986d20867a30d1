package engine_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

// needEngine names the commands that a running plegtop obeys.
var needEngine = []string{"run", "await", "show", "pause", "resume", "relist", "reinspect", "check", "period", "sources", "reader", "read", "stop", "cancel", "raw", "hold", "release"}

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
	"address":    func(x *transcript, c command) { x.r.change(func() { x.r.addresses[c.word(0)] = c.word(1) }) },
	"unlabelled": func(x *transcript, _ command) { x.r.change(func() { x.r.unlabelled = true }) },
	"clock":      func(x *transcript, c command) { x.r.change(func() { x.r.ahead = span(c.with["ahead"]) }) },
	"order": func(x *transcript, _ command) {
		x.r.change(func() { slices.Reverse(x.r.containers); slices.Reverse(x.r.sandboxes) })
	},
	"condition": func(x *transcript, c command) {
		x.r.condition(pleg.Condition{Type: c.word(0), Status: c.word(1) == "true", Reason: c.with["reason"], Message: c.with["message"]})
	},
	"version": func(x *transcript, c command) {
		x.r.change(func() {
			x.r.version = pleg.Version{RuntimeName: c.word(0), RuntimeVersion: c.word(1), APIVersion: "v1"}
		})
	},

	"hang": func(x *transcript, c command) { x.r.behave(c.targets(), &behaviour{gate: make(chan struct{})}, false) },
	"deaf": func(x *transcript, c command) {
		x.r.behave(c.targets(), &behaviour{gate: make(chan struct{}), deaf: true}, false)
	},
	"slow": func(x *transcript, c command) {
		last := len(c.words) - 1
		delay := span(c.words[last])
		c.words = c.words[:last]
		x.r.behave(c.targets(), &behaviour{delay: delay}, false)
	},
	"fail": func(x *transcript, c command) {
		x.r.behave(c.targets(), &behaviour{delay: span(c.with["after"]), err: failure(0, c.with["code"], c.with["text"])}, false)
	},
	"panic": func(x *transcript, c command) { x.r.behave(c.targets(), &behaviour{panics: true}, false) },
	"answer": func(x *transcript, c command) {
		later := c.word(0) == "later"
		if later {
			c.words = c.words[1:]
		}
		x.r.behave(c.targets(), nil, later)
	},
	"look":   (*transcript).look,
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
	"mark":   (*transcript).mark,
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
	"cancel":  func(x *transcript, _ command) { x.CancelSweep() },
	"raw":     (*transcript).raw,
	"hold":    func(x *transcript, _ command) { x.HoldStreams(context.Background()) },
	"release": func(x *transcript, _ command) { x.ReleaseStreams() },
	"examine": (*transcript).examine,
}

func init() { commands["in"] = (*transcript).in } // which needs commands

// start starts plegtop.
func (x *transcript) start(c command) {
	conf := engine.Config{
		Runtime: x.r, Period: span(c.with["period"]), Threshold: span(c.with["threshold"]), Timeout: span(c.with["timeout"]),
		Capacity: number(c.with["capacity"]), Events: number(c.with["events"]), Follow: slices.Contains(c.words, "follow"),
	}
	x.r.now = func() time.Time { return x.now.Add(x.r.ahead) }
	x.r.timeout = cmp.Or(conf.Timeout, 2*time.Minute)
	if r := c.with["release"]; r != "" {
		conf.Release = must(pleg.ParseRelease(r))
	}
	if m := c.with["mode"]; m != "" {
		conf.Mode = must(pleg.ParseMode(m))
	}
	if x.r.looking != nil {
		conf.Look = x.r.Look
	}
	conf.Streams = x.configured(c)
	x.tape = &memoryTape{t: x.t}
	conf.Tape = x.tape
	x.Engine = must(engine.New(conf))
	x.all = x.Feed()
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

// last returns the last snapshot that plegtop made; nil if it made none.
func (x *transcript) last() *engine.Snapshot {
	u, err := x.all.Next(x.t.Context())
	if err != nil {
		return nil
	}
	return u.Snapshot
}

// end ends all goroutines of the bubble.
func (x *transcript) end() {
	if x.cancel != nil {
		x.stop()
	}
	if x.tape != nil {
		x.tape.replayed(x.last())
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

// mark lets times count from now on, and nothing be shown of what was before.
func (x *transcript) mark(command) {
	x.zero = x.now
	x.r.take(func(madeCall) bool { return true })
	x.seen.mu.Lock()
	defer x.seen.mu.Unlock()
	x.seen.events, x.seen.network, x.seen.history = nil, nil, nil
	x.r.change(func() { x.r.looks = nil })
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
