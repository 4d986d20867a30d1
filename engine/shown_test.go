package engine_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// whole cuts the ages in a text of the kubelet down to whole seconds.
func whole(text string) string {
	return ages.ReplaceAllStringFunc(text, func(age string) string {
		d := span(strings.Fields(age)[1])
		return fmt.Sprintf("active %v ago", d.Truncate(time.Second))
	})
}

// seconds writes a time in seconds and tenths.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(float64(d.Round(100*time.Millisecond).Milliseconds())/1000, 'f', -1, 64) + "s"
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// at writes a moment.
func (x *transcript) at(t time.Time) string { return seconds(t.Sub(x.zero)) }

// about writes a moment to the second.
func (x *transcript) about(t time.Time) string { return seconds(t.Sub(x.zero).Round(time.Second)) }

func (x *transcript) printf(format string, args ...any) { fmt.Fprintf(&x.printed, format, args...) }

// settling is how long it takes at most until something that has happened is published and read.
const settling = 300 * time.Millisecond

// show prints something of the newest snapshot.
func (x *transcript) show(c command) {
	if d := time.Until(x.now.Add(settling)); x.acted && d > 0 && x.cancel != nil {
		time.Sleep(d)
		synctest.Wait()
	}
	x.seen.mu.Lock()
	defer x.seen.mu.Unlock()
	print, ok := shown[c.word(0)]
	if !ok {
		panic("there is no " + c.word(0) + " to show")
	}
	before := x.printed.Len()
	print(x, x.seen.snapshot, c.words[1:])
	if x.printed.Len() == before {
		x.printf("%s\n", cmp.Or(nothing[c.word(0)], "no "+c.word(0)))
	}
}

// nothing is the text that is printed if there is nothing to show.
var nothing = map[string]string{
	"calls": "no call is out", "events": "no event", "made": "no call was made", "history": "no change",
	"failures": "nothing fails", "next": "nothing is foretold",
	"check": "nobody has checked all", "partial": "nothing is missing", "memory": "nothing is remembered", "network": "no word of networks",
	"raw": "no answer yet", "looks": "nobody looked", "own": "plegtop asked nothing of its own", "snapshots": "counted from now on",
}

var shown = map[string]func(x *transcript, s *engine.Snapshot, of []string){
	"calls":   showCalls,
	"events":  showEvents,
	"pods":    showPods,
	"health":  showHealth,
	"node":    showNode,
	"next":    showNext,
	"history": showHistory,
	"relists": showRelists,
	"made":    showMade,
	"sources": showSources,

	"known": showKnown, "check": showCheck, "partial": showPartial, "memory": showMemory, "network": showNetwork, "raw": showRaw,
	"snapshots": showSnapshots, "delay": showDelay, "looks": showLooks, "own": showOwn,

	"counts": func(x *transcript, s *engine.Snapshot, _ []string) {
		n := s.Counts
		x.printf("pods %d, sandboxes %d, containers %d: created %d, running %d, exited %d, unknown %d\n",
			n.Pods, n.Sandboxes, n.Containers, n.Created, n.Running, n.Exited, n.Unknown)
	},
	"channel": func(x *transcript, s *engine.Snapshot, _ []string) {
		n := s.Channel
		x.printf("%d of %d in the channel; %d delivered, %d filtered, %d discarded\n", n.Len, n.Capacity, n.Delivered, n.Filtered, n.Discarded)
	},
	"mode": showMode,

	"settings": func(x *transcript, s *engine.Snapshot, _ []string) {
		x.printf("release %v, period %v, runtime %s %s\n", s.Release, s.Period, s.Version.RuntimeName, s.Version.RuntimeVersion)
	},
	"failures": func(x *transcript, s *engine.Snapshot, _ []string) {
		if f := s.Failure; f != nil {
			x.printf("%v fails, %s in a row since %s: %v\n", f.Op, times(f.InRow), x.at(f.First), f.Err)
		}
		if f := s.StatusErr; f != nil {
			x.printf("Status fails: %v\n", f.Err)
		}
		if f := s.VersionErr; f != nil {
			x.printf("Version fails: %v\n", f.Err)
		}
		if f := s.PodFailure; f != nil {
			x.printf("%v of one pod failed: %v\n", f.Op, f.Err)
		}
	},
	"panics": func(x *transcript, _ *engine.Snapshot, _ []string) {
		x.printf("%v\n", x.r.panicked)
	},
	"drift": func(x *transcript, s *engine.Snapshot, _ []string) {
		for _, d := range s.Drift {
			x.printf("%v: %d transitions, both saw %d, the relist missed %d, it missed %d; %d duplicates, %d late, ahead by %s\n",
				d.Source, d.Transitions, d.Both, d.MissedByRelist, d.MissedBySource, d.Duplicates, d.Late, seconds(d.LeadP50.Round(time.Second/2)))
		}
	},
	"workers": func(x *transcript, s *engine.Snapshot, _ []string) {
		for _, w := range s.Workers.All {
			x.printf("%s: %v, woken %s, %d syncs, %d saved, %d expired\n", w.Pod.Name, w.State, times(int(w.WakeUps)), w.Syncs, w.Saved, w.Expired)
		}
	},
}

// showMode prints how plegtop uses the runtime's event stream.
func showMode(x *transcript, s *engine.Snapshot, _ []string) {
	m := s.Mode
	x.printf("%v%s", m.Mode, because(m.Reason))
	if m.Attempts > 0 {
		x.printf("; its stream has ended %s", times(m.Attempts))
	}
	if m.Asks > 0 {
		x.printf("; it has asked %s for the relist of a pod, %d lost", times(int(m.Asks)), m.AsksLost)
	}
	if m.Ignored > 0 {
		x.printf("; events that led to nothing: %d", m.Ignored)
	}
	x.printf("\n")
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

// showCalls prints the calls that are out and that a kubelet would make, too.
func showCalls(x *transcript, s *engine.Snapshot, _ []string) {
	for _, f := range s.InFlight {
		if f.By == call.ByRelist || f.By == call.ByStatusLoop {
			x.printf("%s: out", strings.TrimSpace(f.Op.String()+" "+object(f)))
			if f.Op != call.Version { // when it is asked for is up to chance
				x.printf(" for %s", seconds(x.now.Sub(f.Since)))
			}
			x.printf("\n")
		}
	}
}

// object returns what a call is about: a container by its id, a pod by its name.
func object(f call.Flight) string {
	if f.ID != "" {
		return f.ID
	}
	return f.Pod.Name
}

func showEvents(x *transcript, _ *engine.Snapshot, of []string) {
	events := x.seen.events
	x.seen.events = nil
	if slices.Contains(of, "summed") {
		sums := map[string]int{}
		for _, e := range events {
			sums[fmt.Sprintf("%v %v", e.Kind, e.Delivery)]++
		}
		for _, kind := range slices.Sorted(maps.Keys(sums)) {
			x.printf("%d %s\n", sums[kind], kind)
		}
		return
	}
	for _, e := range events {
		name := e.ID
		if name == "" {
			name = e.Pod.Name
		}
		x.printf("%s %v %s", x.at(e.SeenAt), e.Kind, name)
		if e.Exited {
			x.printf(" code %d%s", e.ExitCode, because(e.Reason))
		}
		if e.Delivery != pleg.Delivered {
			x.printf(", %v", e.Delivery)
		}
		switch {
		case e.AtStart:
			x.printf(", was so at the start")
		case e.HasLag:
			x.printf(", %s after the fact", seconds(e.Lag))
		}
		if by, _ := e.Seen.First(); e.Seen != nil && by.String() != "relist" {
			x.printf(", first seen by %v", by)
			if lead, ok := e.Seen.Lead(by); ok {
				x.printf(", %s ahead", seconds(lead))
			}
		}
		x.printf("\n")
	}
}

func showPods(x *transcript, s *engine.Snapshot, of []string) {
	for _, p := range s.Pods {
		if len(of) > 0 && !slices.Contains(of, p.Name) {
			continue
		}
		x.printf("%s:%s; inspected %s", p.Name, listed(p.Seen()), times(p.Inspected))
		if p.Old == nil {
			x.printf(", never settled")
		}
		if p.Reinspect {
			x.printf(", to be inspected again")
		}
		x.printf("\n")
		if f := p.Failure; f != nil {
			x.printf("  failed %s in a row: %v\n", times(f.InRow), f.Err)
		}
		if p.Status == nil {
			x.printf("  cache: nothing\n")
			continue
		}
		for _, st := range p.Status.Containers {
			if st.State == pleg.Exited {
				x.printf("  cache: %s exited with code %d%s\n", st.ID, st.ExitCode, because(st.Reason))
			} else {
				x.printf("  cache: %s %v\n", st.ID, st.State)
			}
		}
	}
}

// listed returns what a list showed of a pod.
func listed(p *pleg.Pod) (text string) {
	for _, s := range p.Sandboxes {
		text += fmt.Sprintf(" sandbox %s %v,", s.ID, s.State)
	}
	for _, c := range p.Containers {
		text += fmt.Sprintf(" %s %v,", c.ID, c.State)
	}
	return strings.TrimSuffix(text, ",")
}

// showHealth prints the verdict on PLEG. It leaves out a list and a settled relist of the last two seconds.
func showHealth(x *transcript, s *engine.Snapshot, _ []string) {
	h := s.Health
	fresh := x.now.Sub(h.ListedAt) <= 2*time.Second
	switch {
	case !h.Healthy:
		x.printf("not healthy since %s: %s", x.about(h.Since), whole(h.Verdict))
	case fresh:
		x.printf("healthy")
	case h.UnhealthyAt.IsZero():
		x.printf("healthy, with no end in sight")
	default:
		x.printf("healthy until %s", x.about(h.UnhealthyAt))
	}
	if !h.ListedAt.IsZero() && !fresh {
		x.printf("; the last good list began at %s", x.at(h.ListedAt))
	}
	if h.SettledAt.IsZero() {
		x.printf("; never settled")
	} else if x.now.Sub(h.SettledAt) > 2*time.Second {
		x.printf("; settled at %s", x.at(h.SettledAt))
	}
	if h.Flips > 0 {
		x.printf("; the verdict has changed %s", times(h.Flips))
	}
	x.printf("\n")
}

// showNode prints what the kubelet posted last and what it says now; with the word posting also whether that is held up,
// with the word clocks also the moments. Only where a rule gives those they are the same in each engine.
func showNode(x *transcript, s *engine.Snapshot, of []string) {
	n, clocks := s.Node, slices.Contains(of, "clocks")
	switch {
	case n.Ready && !n.Known:
		x.printf("Ready as far as is known\n")
	case n.Ready:
		x.printf("Ready\n")
	default:
		x.printf("NotReady: %s\n", ages.ReplaceAllString(n.Message, someAge))
	}
	for _, text := range []string{n.RuntimeDown, n.PLEG, n.RuntimeErr, n.NetworkErr} {
		if text != "" {
			x.printf("  the kubelet says: %s\n", ages.ReplaceAllString(text, someAge))
		}
	}
	if !n.LoopHeld.IsZero() {
		x.printf("  the sync loop waits for a list\n")
	}
	if !n.LoopStopped.IsZero() {
		x.printf("  the sync loop skips everything")
		if clocks {
			x.printf(" since %s, /healthz/syncloop fails from %s", x.about(n.LoopStopped), x.about(n.HealthzAt))
		}
		x.printf("\n")
	}
	if !n.PostingHeld.IsZero() && slices.Contains(of, "posting") {
		x.printf("  the posting waits for Version\n")
	}
	if clocks {
		showNext(x, s, nil)
	}
}

// showNext prints what is foretold.
func showNext(x *transcript, s *engine.Snapshot, _ []string) {
	if p := s.Node.Next; !p.From.IsZero() {
		ready := map[bool]string{true: "Ready", false: "NotReady"}[p.Ready]
		x.printf("  next: %s between %s and %s\n", ready, x.about(p.From), x.about(p.To))
	}
}

func showHistory(x *transcript, _ *engine.Snapshot, _ []string) {
	for _, c := range x.seen.history {
		if c.at.IsZero() {
			x.printf("then %s\n", c.text)
		} else {
			x.printf("%s %s\n", x.about(c.at), c.text)
		}
	}
	x.seen.history = nil
}

func showRelists(x *transcript, s *engine.Snapshot, _ []string) {
	r, p := s.Relists, s.Phase
	x.printf("relists that are over: %d, failed %d; the last took %s", r.Count, r.Failed, seconds(r.Last))
	if r.Interval > 0 {
		x.printf(", and began %s after the last good one", seconds(r.Interval))
	}
	x.printf("\n")
	if p.Step == engine.Listing || p.Step == engine.Inspecting || p.Step == engine.Stopped && p.Done < p.Total {
		one := map[bool]string{true: " of one pod"}[p.OnDemand]
		x.printf("  a relist%s began at %s: %v, %d of %d pods inspected\n", one, x.at(p.Began), p.Step, p.Done, p.Total)
	}
}

// showMade prints the calls that were made since the last time, and that a kubelet would make, too: one line for each
// relist. Those of Status and Version are left out. Where an operation is named, it prints when that was asked for.
func showMade(x *transcript, _ *engine.Snapshot, of []string) {
	var lines []string
	for _, c := range x.r.take(func(c madeCall) bool {
		return !c.own && (len(of) > 0 && c.op == of[0] || len(of) == 0 && c.op != "Status" && c.op != "Version")
	}) {
		switch {
		case c.op == "Version": // when it is asked for is up to chance
			lines = append(lines, c.op)
		case len(of) > 0:
			lines = append(lines, c.op+" at "+x.at(c.at))
		case len(lines) == 0, c.op == "ListPodSandbox" && c.object == "":
			lines = append(lines, strings.TrimSpace(c.op+" "+c.object))
		default:
			lines[len(lines)-1] += strings.TrimRight(", "+c.op+" "+c.object, " ")
		}
	}
	for len(lines) > 0 {
		n := 1
		for n < len(lines) && lines[n] == lines[0] {
			n++
		}
		x.printf("%s", lines[0])
		if n > 1 {
			x.printf(" (%s)", times(n))
		}
		x.printf("\n")
		lines = lines[n:]
	}
}

// showSources prints how the event sources stand; with the word changes also what they were before, with the word tries
// not how often they were opened, where that is left to chance.
func showSources(x *transcript, s *engine.Snapshot, of []string) {
	for _, o := range s.Sources {
		x.printf("%v: %v%s, %d events", o.Source, o.State, because(o.Reason), o.Received+o.Lost)
		if !slices.Contains(of, "tries") {
			x.printf(", opened %s", times(x.source(o.Source.String()).times()))
		}
		switch {
		case o.Lost > 0:
			x.printf(", some too fast to be looked at")
		case o.Backlog > 0:
			x.printf(", %d of the past", o.Backlog)
		case o.Unknown > 0:
			x.printf(", %d of unknown ids", o.Unknown)
		}
		x.printf("%s\n", because(o.BadClock))
	}
	if slices.Contains(of, "changes") {
		for _, c := range s.SourceChanges {
			x.printf("  %v %v%s\n", c.Source, c.State, because(c.Reason))
		}
	}
}
