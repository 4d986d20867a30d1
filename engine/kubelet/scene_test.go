package kubelet

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A behaviour is what a runtime does with calls of one kind.
type behaviour struct {
	after  time.Duration // until it answers, or fails
	fails  bool
	mute   bool // it fails because nothing is said on the connection
	hangs  bool // until the deadline
	goesOn bool // hangs, but answers as soon as the runtime goes on
}

// all are the calls about the whole runtime. Inspections are counted apart: see scene.hangers.
var all = []string{"ListPodSandbox", "ListContainers", "Status", "Version"}

// An outCall is a call that is out.
type outCall struct {
	op          string
	began, ends time.Time
	behaviour
}

// A scene is a runtime, the lanes that call it, and the kubelet that sees the calls.
type scene struct {
	k          *Kubelet
	seen       Seen
	start, at  time.Time
	does       map[string]behaviour // by operation; what is missing answers at once
	conditions []pleg.Condition
	hangers    int // pods whose inspection hangs; each relist inspects them
	hungBefore int // how many of them are known for it

	out                []*outCall
	muted              map[string]bool // by operation: whether the last one failed on a mute socket
	relistAt, statusAt time.Time       // when the next is due; zero while one is under way
	relistBegan        time.Time
	inspected          int // of the relist under way

	observed []observation
	trace    strings.Builder // what the kubelet did
	was      Node
	healthy  bool
	onPost   func(n Node)
	unshown  []string // what happened though Changed reported nothing
}

// An observation is what moved the kubelet.
type observation struct {
	at   time.Time
	tell func(*Kubelet)
	seen Seen
}

func newScene(c Config) *scene {
	c.Timeout, c.Threshold, c.Period = 2*time.Minute, orElse(c.Threshold, 3*time.Minute), time.Second
	start := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	s := &scene{
		k: New(c, start), start: start, at: start, relistAt: start, statusAt: start,
		does: map[string]behaviour{}, muted: map[string]bool{},
		conditions: []pleg.Condition{{Type: "RuntimeReady", Status: true}, {Type: "NetworkReady", Status: true}},
	}
	s.was = s.k.Node(start)
	return s
}

func orElse(d, other time.Duration) time.Duration {
	if d == 0 {
		return other
	}
	return d
}

// tell has the kubelet observe something now, or only that time has passed.
func (s *scene) tell(f func(*Kubelet)) {
	s.seen.RelistOut, s.seen.ListOut, s.seen.StatusOut, s.seen.EndsBy = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	for _, c := range s.out {
		switch c.op {
		case "ListPodSandbox", "ListContainers":
			s.seen.RelistOut, s.seen.ListOut = c.began, c.began
		case "ContainerStatus":
			known := min(s.hungBefore, s.hangers) - s.inspected - 1
			s.seen.RelistOut, s.seen.EndsBy = c.began, c.began.Add(s.k.Config.Timeout*time.Duration(1+max(known, 0)))
		case "Status":
			s.seen.StatusOut = c.began
		}
	}
	s.seen.Mute = false
	for _, mute := range s.muted {
		s.seen.Mute = s.seen.Mute || mute
	}
	if f != nil {
		s.observed = append(s.observed, observation{s.at, f, s.seen})
		f(s.k)
	}
	s.k.Advance(s.at, s.seen)
	s.watch()
}

func (s *scene) begin(op string) {
	c := &outCall{op: op, began: s.at, behaviour: s.does[op]}
	c.ends = s.at.Add(c.after)
	if c.hangs || op == "ContainerStatus" {
		c.hangs, c.ends = true, s.at.Add(s.k.Config.Timeout)
	}
	s.out = append(s.out, c)
	at := s.at
	switch op {
	case "ListPodSandbox":
		s.relistBegan, s.relistAt, s.inspected = at, time.Time{}, 0
		s.tell(func(k *Kubelet) { k.RelistBegan(at) })
	case "Version":
		s.tell(func(k *Kubelet) { k.VersionBegan(at) })
	default:
		if op == "Status" {
			s.statusAt = time.Time{}
		}
		s.tell(func(*Kubelet) {})
	}
}

func (s *scene) end(c *outCall) {
	s.out = slices.DeleteFunc(s.out, func(o *outCall) bool { return o == c })
	at, failed := s.at, c.hangs || c.fails
	s.muted[c.op] = failed && c.mute
	observe := func(*Kubelet) {}
	switch c.op {
	case "Status":
		s.statusAt, s.seen.StatusAt, s.seen.StatusFailed = at.Add(call.StatusPeriod), at, failed
		if conditions := slices.Clone(s.conditions); !failed {
			observe = func(k *Kubelet) { k.StatusAnswered(at, conditions) }
		}
	case "Version":
		if !failed {
			s.seen.VersionOK = at
		}
		observe = func(k *Kubelet) { k.VersionReturned(at, c.hangs) }
	case "ContainerStatus":
		s.inspected++
	default:
		observe = s.listed(c, failed)
	}
	s.tell(observe)
	s.relistGoesOn(c, failed)
}

// listed takes in the end of a list.
func (s *scene) listed(c *outCall, failed bool) func(*Kubelet) {
	if at := s.at; !c.hangs {
		s.seen.ListReturned = at
	}
	switch at, began := s.at, s.relistBegan; {
	case failed && s.seen.RelistFailing.IsZero():
		s.seen.RelistFailing = c.began
	case !failed && c.op == "ListContainers":
		s.seen.RelistFailing = time.Time{}
		return func(k *Kubelet) { k.ListsSucceeded(at, began) }
	}
	return func(*Kubelet) {}
}

func (s *scene) relistGoesOn(c *outCall, failed bool) {
	switch {
	case c.op == "Status" || c.op == "Version":
	case c.op == "ListPodSandbox" && !failed:
		s.begin("ListContainers")
	case c.op == "ContainerStatus" && s.inspected < s.hangers, c.op == "ListContainers" && !failed && s.hangers > 0:
		s.begin("ContainerStatus")
	default:
		s.hungBefore, s.relistAt, s.seen.Relists = s.inspected, s.at.Add(s.k.Config.Period), true
		s.tell(func(*Kubelet) {})
	}
}

// next returns what happens next, and when.
func (s *scene) next() (at time.Time, do func()) {
	consider := func(when time.Time, what func()) {
		if !when.IsZero() && (at.IsZero() || when.Before(at)) {
			at, do = later(when, s.at), what
		}
	}
	for _, c := range s.out {
		consider(c.ends, func() { s.end(c) })
	}
	if !s.k.Paused() {
		consider(s.relistAt, func() { s.begin("ListPodSandbox") })
		consider(s.statusAt, func() { s.begin("Status") })
		consider(s.k.VersionDue(), func() { s.begin("Version") })
	}
	consider(s.k.Due(), func() { s.tell(nil) })
	return at, do
}

// run lets time pass.
func (s *scene) run(d time.Duration) {
	end := s.at.Add(d)
	for at, do := s.next(); !at.IsZero() && !at.After(end); at, do = s.next() {
		s.at = at
		do()
	}
	s.at = end
	s.tell(nil)
}

// behave sets what the runtime does from now on. Without operations it is well, and goes on.
func (s *scene) behave(b behaviour, ops ...string) {
	if len(ops) == 0 {
		clear(s.does)
		for _, c := range s.out {
			if c.goesOn {
				c.hangs, c.ends = false, s.at
			}
		}
	}
	for _, op := range ops {
		s.does[op] = b
	}
}

// watch writes down what the kubelet says anew.
func (s *scene) watch() {
	n, h := s.k.Node(s.at), s.k.Health(s.at)
	say := func(is bool, format string, args ...any) {
		if is {
			fmt.Fprintf(&s.trace, "%7.1f %s\n", s.at.Sub(s.start).Seconds(), fmt.Sprintf(format, args...))
		}
	}
	w, known := &s.was, s.trace.Len()
	say(n.LoopHeld.IsZero() != w.LoopHeld.IsZero(), "loop %s", pick(n.LoopHeld.IsZero(), "back from its list", "waits for its list"))
	say(n.LoopStopped.IsZero() != w.LoopStopped.IsZero(), "loop %s", pick(n.LoopStopped.IsZero(), "works", "stopped"))
	say(n.RuntimeDown != w.RuntimeDown, "runtime: %s", pick(n.RuntimeDown == "", "up", n.RuntimeDown))
	say((n.PLEG == "") != (w.PLEG == ""), "%s", pick(n.PLEG == "", "PLEG is healthy", n.PLEG))
	say(n.Known && !w.Known, "known")
	say(n.Ready != w.Ready, "posted %s: %s", n.Reason, n.Message)
	if s.trace.Len() > known && !s.k.Changed() {
		s.unshown = append(s.unshown, s.trace.String()[known:])
	}
	say(h.Healthy != s.healthy, "verdict on PLEG: %s", pick(h.Healthy, "healthy", h.Verdict))
	if n.Ready != w.Ready && s.onPost != nil {
		s.onPost(n)
	}
	s.was, s.healthy = n, h.Healthy
}

func pick(is bool, a, b string) string {
	if is {
		return a
	}
	return b
}

// describe returns what a node says at a moment, with times in seconds after the start.
func (s *scene) describe() string {
	n, h := s.k.Node(s.at), s.k.Health(s.at)
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s%s\n", n.Reason, n.Message, pick(s.k.Reads(), "; reads events", ""))
	for _, what := range []struct{ name, text string }{{"down", n.RuntimeDown}, {"PLEG", n.PLEG}, {"runtime", n.RuntimeErr}, {"network", n.NetworkErr}, {"verdict", h.Verdict}} {
		if what.text != "" {
			fmt.Fprintf(&b, "%s: %s\n", what.name, what.text)
		}
	}
	times := map[string]time.Time{
		"DownAt": n.DownAt, "PostingHeld": n.PostingHeld, "LoopHeld": n.LoopHeld, "LoopStopped": n.LoopStopped,
		"HealthzAt": n.HealthzAt, "UnhealthyAt": h.UnhealthyAt, "SyncedAt": n.SyncedAt, "ListedAt": h.ListedAt,
		"Since": n.Since, "VersionDue": s.k.VersionDue(),
	}
	for _, name := range slices.Sorted(maps.Keys(times)) {
		if !times[name].IsZero() {
			fmt.Fprintf(&b, "%s %.1f\n", name, times[name].Sub(s.start).Seconds())
		}
	}
	if h.Flips > 0 {
		fmt.Fprintf(&b, "Flips %d, the last at %.1f\n", h.Flips, h.Since.Sub(s.start).Seconds())
	}
	if n.LoopNap > 0 {
		fmt.Fprintf(&b, "LoopNap %v\n", n.LoopNap)
	}
	if next := n.Next; !next.From.IsZero() {
		fmt.Fprintf(&b, "next %s %.1f to %.1f%s\n", pick(next.Ready, "Ready", "NotReady"), next.From.Sub(s.start).Seconds(), next.To.Sub(s.start).Seconds(), pick(next.Held, ", waits for Version", ""))
	}
	return b.String()
}
