package engine_test

import (
	"context"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine"
)

// examine looks at the runtime once, as the command check does, and prints whether that took no longer than it may.
// What is shown afterwards is what it found.
func (x *transcript) examine(c command) {
	conf := engine.Config{Runtime: x.r}
	if x.r.looking != nil {
		conf.Look = x.r.Look
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if leave := span(c.with["leave"]); leave > 0 {
		time.AfterFunc(leave, cancel)
	}
	began := time.Now()
	s := must(engine.Examine(ctx, conf, engine.Examination{
		Timeout: span(c.with["timeout"]), Deadline: span(c.with["deadline"]),
	}))
	took := time.Since(began)
	x.seen.mu.Lock()
	x.seen.snapshot = s
	x.seen.mu.Unlock()
	x.began, x.zero, x.now = began, began, time.Now()
	if within := span(c.with["within"]); took > within {
		x.printf("took %s, longer than %s\n", seconds(took), seconds(within))
	} else {
		x.printf("over within %s\n", seconds(within))
	}
	synctest.Wait()
	x.r.mu.Lock()
	defer x.r.mu.Unlock()
	if len(x.r.out) > 0 {
		x.printf("calls are left behind\n")
	}
}

// in makes something happen later, while other commands go on.
func (x *transcript) in(c command) {
	obey, after := commands[c.word(1)], span(c.word(0))
	if obey == nil {
		panic("no such command")
	}
	c.name, c.words = c.word(1), c.words[2:]
	time.AfterFunc(after, func() { obey(x, c) })
}
