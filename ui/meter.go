package ui

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// brief is how long a step may take before the meter follows it. Relists that
// are quicker than that would only make it flicker.
const brief = 300 * time.Millisecond

// meter draws where the relist is, and how long relists take.
func meter(l *text.Line, b pen, s *engine.Snapshot) {
	phase := phaseSpans(b, s)
	need := 0
	for i, f := range phase {
		need += text.Width(f.text) + pick(i > 0, 3, 0)
	}
	stats := relistSpans(b, s)
	room := l.Left() - need - 3
	wide := 0
	for _, f := range stats {
		wide += len(f.text)
	}
	ring := pick(len(stats) > 0, min(room-wide-1, mostSparks), 0)
	kept := 0
	if room >= wide {
		kept = l.Keep(wide + pick(ring >= 8, ring+1, 0))
	}
	drawPhase(l, b, s, phase)
	l.End()
	l.Release(kept)
	if kept == 0 {
		return
	}
	for _, f := range stats {
		l.Put(f.style, f.text)
	}
	if ring >= 8 {
		l.Space(1)
		spark(l, b, s, ring)
	}
}

func drawPhase(l *text.Line, b pen, s *engine.Snapshot, phase []span) {
	for i, f := range phase {
		if i > 0 {
			l.Space(1)
			l.Sign(b.Dim, b.Symbols.Step)
			l.Space(1)
		}
		if flight := oldest(s); flight != nil && i == len(phase)-1 && text.Width(f.text) > l.Left() {
			drawCut(l, b, s, flight)
			return
		}
		l.Put(f.style, f.text)
	}
}

// drawCut names a call in less room than it takes: of the pod's name only the
// beginning, of operation, container and seconds all.
func drawCut(l *text.Line, b pen, s *engine.Snapshot, f *engine.Flight) {
	out := outSpan(b, s, f)
	rest := strings.TrimSpace(callName(f) + " " + out.text)
	kept := l.Keep(text.Width(rest) + 1)
	l.Put(out.style, f.Pod.String())
	l.Release(kept)
	l.Space(1)
	l.Put(out.style, rest)
}

// phaseSpans are the steps of the relist up to the present one.
func phaseSpans(b pen, s *engine.Snapshot) []span {
	p := s.Phase
	elapsed := s.At.Sub(p.Began)
	flight := oldest(s)
	switch {
	case p.Step == engine.Listing && (elapsed >= brief || s.Relists.Count == 0):
		return []span{{b.Strong, "LIST"}, callSpan(b, s, flight, elapsed)}
	case p.Step == engine.Inspecting && elapsed >= brief:
		return []span{
			{b.Text, "LIST " + text.Took(p.ListTook)},
			{b.Strong, "INSPECT " + strconv.Itoa(p.Done) + "/" + strconv.Itoa(p.Total)},
			callSpan(b, s, flight, 0),
		}
	}
	return restSpans(b, s)
}

// restSpans say how the last relist went, and what is being waited for.
func restSpans(b pen, s *engine.Snapshot) []span {
	var all []span
	if n := len(s.Relists.History); n > 0 {
		last := s.Relists.History[n-1]
		switch {
		case last.Failed:
			all = append(all, span{b.Bad, "LIST failed"})
		case last.Failures > 0:
			all = append(all, span{b.Text, "LIST " + text.Took(last.List)},
				span{b.Bad, "INSPECT " + strconv.Itoa(last.Inspected) + ", " + strconv.Itoa(last.Failures) + " failed"})
		default:
			all = append(all, span{b.Text, "LIST " + text.Took(last.List)}, span{b.Text, "INSPECT " + strconv.Itoa(last.Inspected)})
		}
	}
	switch {
	case s.Seq == 0:
		return nil
	case s.Paused:
		return append(all, span{b.Warn, "PAUSED"})
	}
	return append(all, span{b.Dim, "WAIT"})
}

// callSpan names the call that is out.
func callSpan(b pen, s *engine.Snapshot, f *engine.Flight, elapsed time.Duration) span {
	if f == nil {
		return span{b.Dim, pick(elapsed > 0, text.Age(elapsed), "...")}
	}
	out := outSpan(b, s, f)
	out.text = strings.TrimSpace(flightName(f) + " " + out.text)
	return out
}

// hangs reports whether a call in flight is drawn as one that hangs, wherever it
// is: diagnosis has the word.
func hangs(s *engine.Snapshot, f *engine.Flight) bool { return diagnose.Late(s, *f) }

// hangingCalls returns, for each pod about which a call has been out for longer than
// its like usually take, the oldest such call. That of a probe or a sweep does not
// count: where all the runtime is stuck, it says nothing about the pod that was
// chosen for it.
func hangingCalls(s *engine.Snapshot) map[pleg.UID]*engine.Flight {
	var calls map[pleg.UID]*engine.Flight
	for i := range s.InFlight {
		f := &s.InFlight[i]
		if f.Pod.UID == "" || f.By == engine.ByProbe || f.By == engine.BySweep || calls[f.Pod.UID] != nil || !hangs(s, f) {
			continue
		}
		if calls == nil {
			calls = make(map[pleg.UID]*engine.Flight)
		}
		calls[f.Pod.UID] = f
	}
	return calls
}

func sameCall(a, b *engine.Flight) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// outSpan says how long a call has been out; nothing before that is worth a word.
func outSpan(b pen, s *engine.Snapshot, f *engine.Flight) span {
	out := f.Elapsed(s.At)
	if out < stuck {
		return span{b.Text, ""}
	}
	return span{pick(hangs(s, f), b.Bad, b.Text), outFor(out)}
}

// flightName says what a call is about: pod, operation, container.
func flightName(f *engine.Flight) string {
	if f.Pod.UID != "" {
		return f.Pod.String() + " " + callName(f)
	}
	return callName(f)
}

func callName(f *engine.Flight) string {
	if f.Container != "" {
		return f.Op.String() + " " + f.Container
	}
	return f.Op.String()
}

// oldest returns the call that the relist has been waiting for longest, or nil.
// Version and Status, probes and sweeps go their own way and hold nothing up.
func oldest(s *engine.Snapshot) *engine.Flight {
	i := slices.IndexFunc(s.InFlight, func(f engine.Flight) bool {
		return f.By == engine.ByRelist && f.Op != call.Version && f.Op != call.Status
	})
	if i < 0 {
		return nil
	}
	return &s.InFlight[i]
}

// relistSpans are the figures of all relists; none before the first.
func relistSpans(b pen, s *engine.Snapshot) []span {
	r := s.Relists
	if r.Count == 0 {
		return nil
	}
	slow := pick(r.P99 >= time.Second, b.Warn, b.Text)
	return []span{
		{b.Dim, "relist p50 "}, {b.Text, steady(r.P50)},
		{b.Dim, " p99 "}, {slow, steady(r.P99)},
		{b.Dim, " max "}, {b.Text, steady(r.Max)},
	}
}

// mostSparks is how many relists the sparkline shows at most.
const mostSparks = 60

// steady rounds times below a second to two digits, so that they do not flicker.
func steady(d time.Duration) string {
	if d > 0 && d < time.Second {
		d = time.Duration(coarse(uint64(d/time.Millisecond))) * time.Millisecond
		d = max(d, time.Millisecond)
	}
	return text.Took(d)
}

// sparkSteps are the times at which a bar grows by one: by factors of about
// three, always the same, so that a bar means the same on every node and does
// not change when a slower relist comes.
var sparkSteps = [...]time.Duration{
	10 * time.Millisecond, 30 * time.Millisecond, 100 * time.Millisecond, 300 * time.Millisecond,
	time.Second, 3 * time.Second, 10 * time.Second,
}

// spark draws the last relists in a ring of w cells: the newest stands left of
// the blank cell. A ring costs the terminal two cells a relist, where a line
// that scrolls costs them all.
func spark(l *text.Line, b pen, s *engine.Snapshot, w int) {
	history := s.Relists.History
	now := int(s.Relists.Count % uint64(w)) // the blank cell
	for i := range w {
		back := (now - i + w) % w // relists ago; 0 for the blank
		if back == 0 || back > len(history) {
			l.Space(1)
			continue
		}
		symbol, st := sparkLook(b, history[len(history)-back])
		l.Sign(st, symbol)
	}
}

func sparkLook(b pen, r engine.Relist) (string, theme.Style) {
	if r.Failed {
		return b.Symbols.SparkFailed, b.Bad
	}
	step := 0
	for step < len(sparkSteps) && r.Took >= sparkSteps[step] {
		step++
	}
	switch {
	case r.Failures > 0:
		return b.Symbols.Spark[step], b.Warn
	case step >= 5:
		return b.Symbols.Spark[step], b.Warn
	}
	return b.Symbols.Spark[step], b.Dim
}
