package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// showKnown prints what plegtop knows of the runtime, whoever has asked: how each call about the whole of it stands,
// which objects hang or fail, and whether others answer.
func showKnown(x *transcript, s *engine.Snapshot, _ []string) {
	for op := range call.PodSandboxStatus {
		x.printf("%v: %s\n", op, standing(s, op))
	}
	hang, fail, answered := objects(s)
	if len(hang) > 0 && !answered {
		x.printf("objects hang, and none answers\n")
		return
	}
	if len(hang) > 0 {
		x.printf("objects that hang: %s\n", strings.Join(slices.Sorted(maps.Keys(hang)), ", "))
	}
	if len(fail) > 0 {
		x.printf("objects that fail: %s\n", strings.Join(slices.Sorted(maps.Keys(fail)), ", "))
	}
	if answered && len(hang)+len(fail) > 0 {
		x.printf("other objects answer\n")
	}
}

// hung reports whether a call is out for so long that it hangs.
func hung(f call.Flight, at time.Time) bool {
	if f.Op.IsList() {
		return at.Sub(f.Since) >= answers.HungList
	}
	return at.Sub(f.Since) >= answers.Hung
}

// standing returns the state of the calls of an operation about the whole runtime.
func standing(s *engine.Snapshot, op call.Operation) string {
	trouble := s.At // since when anything hangs
	for _, f := range s.InFlight {
		if !hung(f, s.At) {
			continue
		}
		if f.Op == op && f.Pod.UID == "" {
			return "hangs"
		}
		if trouble.Equal(s.At) || f.Since.Before(trouble) {
			trouble = f.Since
		}
	}
	var err error
	for _, p := range s.Probes {
		if p.Op == op && p.Err != nil {
			err = p.Err
		}
	}
	for _, f := range []*answers.Failure{s.Failure, s.StatusErr, s.VersionErr} {
		if f != nil && f.Op == op {
			err = f.Err
		}
	}
	switch {
	case errors.Is(err, call.ErrDeadline):
		return "hangs"
	case err != nil:
		return "fails, " + call.Code(err)
	case s.Calls[op].LastOK.IsZero():
		return "nothing is known"
	case s.Calls[op].LastOK.Before(trouble) && trouble.Before(s.At):
		return "no answer since anything hangs"
	}
	return "answers"
}

// objects returns which hang, which fail, and whether any other answers, as of the probes and of check all.
func objects(s *engine.Snapshot) (hang, fail map[string]bool, answered bool) {
	hang, fail = map[string]bool{}, map[string]bool{}
	take := func(o answers.Outcome) {
		switch {
		case errors.Is(o.Err, call.ErrDeadline):
			hang[object(o.Flight)] = true
		case o.Err != nil:
			fail[object(o.Flight)] = true
		case !o.At.IsZero():
			answered = true
		}
	}
	for _, f := range s.InFlight {
		if f.Op.AboutObject() && hung(f, s.At) {
			hang[object(f)] = true
		}
	}
	for _, p := range s.Probes {
		if p.Op.AboutObject() {
			take(p)
		}
	}
	if w := s.Sweep; w != nil {
		for _, o := range slices.Concat(w.Hung, w.Failed) {
			take(o)
		}
		answered = answered || w.Done > len(w.Hung)+len(w.Failed)+len(w.Unknown)
	}
	return hang, fail, answered
}

// showCheck prints how far a check of all objects has come, and what it has found.
func showCheck(x *transcript, s *engine.Snapshot, _ []string) {
	w := s.Sweep
	switch {
	case w == nil:
		return
	case w.Refused != "":
		x.printf("refused: %s\n", w.Refused)
	case w.Ended.IsZero():
		x.printf("under way\n")
	case w.Canceled:
		x.printf("canceled\n")
	case w.GivenUp != "":
		x.printf("given up: %s\n", w.GivenUp)
	case w.CutOff || w.Done < w.Total:
		x.printf("cut off before all were asked\n")
	default:
		x.printf("over, objects asked: %d\n", w.Done)
	}
	late := slices.DeleteFunc(slices.Clone(w.Slowest), func(o answers.Outcome) bool { return o.Took < answers.Late })
	for _, one := range []struct {
		what string
		of   []answers.Outcome
	}{{"hangs", w.Hung}, {"fails", w.Failed}, {"answered late", late}, {"on the node, and unknown to the runtime", w.Unknown}} {
		if len(one.of) > 8 {
			x.printf("  %s: %d, from %s to %s\n", one.what, len(one.of), object(one.of[0].Flight), object(one.of[len(one.of)-1].Flight))
			continue
		}
		for _, o := range one.of {
			x.printf("  %s: %s", one.what, object(o.Flight))
			if pod := o.Pod.Name; pod == "" {
				x.printf(", of a pod that is not known")
			}
			if one.what == "fails" {
				x.printf(": %v", o.Err)
			}
			x.printf("\n")
		}
	}
	if w.Flaky > 0 {
		x.printf("  some failed, and answered when they were asked again\n")
	}
}

// showOwn prints whether plegtop has asked anything that a kubelet would not, since the last time, or how often that was
// such a call.
func showOwn(x *transcript, _ *engine.Snapshot, of []string) {
	if len(of) > 0 {
		n := len(x.r.take(func(c madeCall) bool { return c.own && c.op == of[0] }))
		x.printf("calls of plegtop's own: %d\n", n)
		return
	}
	if len(x.r.take(func(c madeCall) bool { return c.own })) > 0 {
		x.printf("plegtop asked questions of its own\n")
	}
}

// showPartial prints what there is to see while a list of all pods hangs or fails, and who holds it up.
func showPartial(x *transcript, s *engine.Snapshot, _ []string) {
	if s.Partial != "" {
		x.printf("shown: %s\n", s.Partial)
	}
	for _, p := range s.Beside {
		if len(p.Seen().Containers) == 0 {
			continue
		}
		x.printf("listed by itself: %s:%s\n", p.Name, listed(p.Seen()))
	}
	for _, p := range s.Holders {
		x.printf("holds up the list: %s\n", p.Name)
	}
}

// showMemory prints what is remembered of the past, or only which objects hung lately.
func showMemory(x *transcript, s *engine.Snapshot, of []string) {
	m := s.Memory
	if slices.Contains(of, "hung") {
		for _, id := range slices.Sorted(maps.Keys(m.Hung)) {
			x.printf("%s hung until %s at least\n", id, x.about(m.Hung[id]))
		}
		return
	}
	for _, o := range m.Outages.Times {
		x.printf("%s the runtime went away\n", x.about(o.At))
	}
	if m.Outages.Away {
		x.printf("it is away\n")
	}
	if at := m.Back.At; !at.IsZero() {
		x.printf("%s the runtime came back, and what was asked before accuses nobody\n", x.about(at))
	}
	for _, spell := range m.Spells {
		x.printf("%s PLEG was unhealthy", x.about(spell.Began))
		if !spell.Ended.IsZero() {
			x.printf(" until %s", x.about(spell.Ended))
		}
		x.printf("\n")
	}
	if l := m.Losses; l != nil {
		x.printf("events that found no room in the channel: %d, of pods: %d\n", l.Total, len(l.Pods))
	}
	if n := len(m.Recovered); n > 0 {
		x.printf("inspections that failed, and then succeeded: %d\n", n)
	}
}

// showNetwork prints what was derived about the networks of sandboxes.
func showNetwork(x *transcript, _ *engine.Snapshot, _ []string) {
	for _, e := range x.seen.network {
		x.printf("%s %v %s\n", x.about(e.SeenAt), e.Kind, e.ID)
	}
	x.seen.network = nil
}

// showSnapshots prints how many snapshots were published each second since the last time, to the whole number.
func showSnapshots(x *transcript, s *engine.Snapshot, of []string) {
	if !slices.Contains(of, "from-now") {
		x.printf("snapshots each second: %.0f\n", float64(s.Seq-x.seen.counted)/s.At.Sub(x.seen.countedAt).Seconds())
	}
	x.seen.counted, x.seen.countedAt = s.Seq, s.At
}

// showDelay prints whether a quick reader had each event at once: within what two snapshots lie apart at least, and a little.
func showDelay(x *transcript, _ *engine.Snapshot, _ []string) {
	if x.seen.slowest <= 200*time.Millisecond {
		x.printf("each event was read at once\n")
	} else {
		x.printf("an event was read %s after it was seen\n", seconds(x.seen.slowest))
	}
	x.seen.slowest = 0
}

// raw asks for the raw answers about a pod, and does not wait for them.
func (x *transcript) raw(c command) {
	ctx, cancel := context.WithTimeout(context.Background(), max(span(c.with["deadline"]), time.Millisecond))
	if c.with["deadline"] == "" {
		cancel()
		ctx, cancel = context.WithCancel(context.Background())
	}
	x.answer = nil
	x.seen.over.Go(func() {
		defer cancel()
		text, err := x.Raw(ctx, pleg.UID(c.word(0)))
		x.seen.mu.Lock()
		defer x.seen.mu.Unlock()
		x.answer = &rawAnswer{text, err}
	})
}

type rawAnswer struct {
	text []byte
	err  error
}

// showRaw prints what came of the last question for raw answers.
func showRaw(x *transcript, _ *engine.Snapshot, _ []string) {
	switch a := x.answer; {
	case a == nil:
	case a.err != nil:
		x.printf("error: %v\n", a.err)
	default:
		var all []struct {
			Operation, ID, Error string
			Answer               json.RawMessage
		}
		if err := json.Unmarshal(a.text, &all); err != nil {
			panic(err)
		}
		for _, one := range all {
			text := one.Error
			if text == "" {
				text = strings.Join(strings.Fields(string(one.Answer)), " ")
			}
			x.printf("%s %s: %s\n", one.Operation, one.ID, text)
		}
	}
}
