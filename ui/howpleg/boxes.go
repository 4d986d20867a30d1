package howpleg

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/wording"
)

// boxOf returns a box with its figures as they are now.
func boxOf(v *pane.View, p part) box {
	b := builder{View: v}
	of := [...]func(*builder){
		runtime: (*builder).runtime, lists: (*builder).lists, records: (*builder).records, inspection: (*builder).inspection,
		sources: (*builder).sources, health: (*builder).health, cache: (*builder).cache, settle: (*builder).settle,
		kubelet: (*builder).kubelet, workers: (*builder).workers, loop: (*builder).loop, channel: (*builder).channel,
	}
	of[p](&b)
	return b.box
}

// A builder fills a box.
type builder struct {
	*pane.View
	box
}

func (b *builder) say(st theme.Style, format string, args ...any) {
	b.lines = append(b.lines, text.Say(st, fmt.Sprintf(format, args...)))
}

func (b *builder) plain(format string, args ...any) { b.say(b.Theme.Text, format, args...) }

func (b *builder) good(s string) { b.say(b.Theme.Good, "%s %s", b.Theme.Symbols.Good, s) }
func (b *builder) warn(s string) { b.say(b.Theme.Warn, "%s %s", b.Theme.Symbols.Warn, s) }
func (b *builder) bad(s string)  { b.say(b.Theme.Bad, "%s %s", b.Theme.Symbols.Bad, s) }

// some says a count only if there is something to count, as what is to be looked at.
func (b *builder) some(n int, format string) {
	if n > 0 {
		b.warn(fmt.Sprintf(format, n))
	}
}

// out returns the oldest call of a relist that is out for long enough to be told of and that
// is wanted; nil if there is none.
func (b *builder) out(wanted func(*call.Flight) bool) *call.Flight {
	for i := range b.InFlight {
		if f := &b.InFlight[i]; f.By == call.ByRelist && wanted(f) && diagnose.LatenessOf(b.Snapshot, *f) != diagnose.Unnamed {
			return f
		}
	}
	return nil
}

func (b *builder) runtime() {
	b.title, b.about = "runtime", "It has the containers, and answers what it is asked. Nothing here changes anything in it."
	if b.Version.RuntimeName != "" {
		b.plain("%s", b.Version.RuntimeName)
	} else {
		b.say(b.Theme.Dim, "not known yet")
	}
	b.plain("%d containers", b.Counts.Containers)
	b.say(b.Theme.Dim, "%s", b.Version.RuntimeVersion)
	b.say(b.Theme.Dim, "%.0f calls/s", b.Cost.CallsPerSecond)
}

func (b *builder) lists() {
	b.title, b.about = "lists", "Each relist asks for all sandboxes and all containers: two calls."
	switch f := b.out(func(f *call.Flight) bool { return f.ID == "" }); {
	case f != nil:
		b.bad("out " + text.Age(f.Elapsed(b.At)))
	case b.Failure != nil:
		b.bad(fmt.Sprintf("failed %d times", b.Failure.InRow))
	case b.Paused:
		b.warn("paused")
	}
	if h := b.Relists.History; len(h) > 0 {
		b.plain("took %s", text.Took(h[len(h)-1].List))
	}
	b.plain("every %s", span(b.Period))
	b.say(b.Theme.Dim, "%s relists", text.Count(b.Relists.Count))
}

// held counts the pods whose records stay behind, as their inspections fail.
func (b *builder) held() (n int) {
	for _, p := range b.Snapshot.Pods {
		if p.Failure != nil {
			n++
		}
	}
	return n
}

func (b *builder) records() {
	b.title, b.about = "records", "What was listed is compared with what was listed before: states of ids, and nothing else."
	b.plain("%d pods", b.Counts.Pods)
	if b.Phase.Step != engine.Listing { // else it is not known yet
		b.plain("%d to inspect", b.Phase.Total)
	}
}

func (b *builder) inspection() {
	b.title, b.about = "inspect", "Of a pod that differs each sandbox and container is asked for, one call after the other."
	if f := b.out(func(f *call.Flight) bool { return f.ID != "" }); f != nil {
		b.bad("out " + text.Age(f.Elapsed(b.At)))
		b.say(b.Theme.Bad, "%s", f.Pod)
	}
	switch {
	case b.Phase.Total > 0:
		b.plain("%d of %d done", b.Phase.Done, b.Phase.Total)
	case b.Phase.Step != engine.Listing:
		b.plain("none needed")
	}
	if h := b.Relists.History; len(h) > 0 && b.Phase.Total > 0 {
		b.plain("took %s", text.Took(h[len(h)-1].Took-h[len(h)-1].List))
	}
}

func (b *builder) settle() {
	b.title, b.about = "settle", "Only after a good inspection does a record move on, and its events are released."
	b.some(b.held(), "%d held back")
	if b.Health.SettledAt.IsZero() {
		b.say(b.Theme.Dim, "not yet")
	} else {
		b.plain("all %s ago", wording.Fresh(b.Health.InspectAge(b.At)))
	}
}

func (b *builder) cache() {
	b.title, b.about = "cache", "The last status of each pod, or the error in its place. Workers wait here for a newer one."
	entries, failed := 0, 0
	for _, p := range b.Snapshot.Pods {
		if p.StatusErr != nil {
			failed++
		}
		if p.StatusErr != nil || p.Status != nil {
			entries++
		}
	}
	b.some(failed, "%d in error")
	b.plain("%d entries", entries)
	if as := b.cacheTime(); !as.IsZero() {
		b.plain("as of %s", as.Local().Format(time.TimeOnly))
	}
}

// cacheTime is how new the cache is: as of the start of the last relist that could list; where
// the stream writes, of the newest status.
func (b *builder) cacheTime() (as time.Time) {
	for _, r := range slices.Backward(b.Relists.History) {
		if !r.Failed {
			as = r.At
			break
		}
	}
	for _, p := range b.Snapshot.Pods {
		if useOf(b.View) == writes && p.StatusAt.After(as) {
			as = p.StatusAt
		}
	}
	return as
}

func (b *builder) channel() {
	c := &b.Channel
	b.title, b.about = "channel", "Between PLEG and the sync loop. What finds it full is thrown away for good."
	st := b.Theme.Text
	if diagnose.ChannelFills(c) {
		st = b.Theme.Bad
	}
	b.some(int(c.Discarded), "%d lost")
	b.say(st, "%d of %d", c.Len, c.Capacity)
	b.plain("%s sent", text.Count(c.Delivered))
	b.say(b.Theme.Dim, "%s filtered", text.Count(c.Filtered))
}

func (b *builder) loop() {
	b.title, b.about = "sync loop", "Takes the events and wakes workers. While the node is unhealthy it reads nothing."
	switch l := diagnose.HealthOf(b.Snapshot, diagnose.HealthLoop); l.Level {
	case diagnose.HealthLate:
		b.warn("held " + text.Age(b.At.Sub(l.Since)))
		b.say(b.Theme.Dim, "by its own list")
	case diagnose.HealthIll:
		b.bad("stopped " + text.Age(b.At.Sub(l.Since)))
		b.say(b.Theme.Dim, "looks in %s", b.Node.LoopNap)
	case diagnose.HealthUnknown:
		b.say(b.Theme.Dim, "not known yet")
	default:
		b.good("works")
		b.say(b.Theme.Dim, "reads all")
	}
}

func (b *builder) workers() {
	all := &b.Workers
	b.title, b.about = "workers", "One for each pod: waits for a status newer than its last sync, then syncs the pod."
	b.some(diagnose.WorkersHeld(b.Snapshot), "%d blocked")
	b.plain("%s woken", text.Count(all.WakeUps))
	if all.Expecting {
		b.plain("%s expected", text.Count(all.Saved))
	}
	if !all.Acting {
		b.say(b.Theme.Dim, "act on nothing")
	}
}

func (b *builder) health() {
	b.title, b.about = "health", "Goes by the start of the last relist that could list, and by nothing else."
	if b.Snapshot.Health.Verdict != "" {
		b.bad("unhealthy")
	} else {
		b.good("healthy")
	}
	age := wording.Fresh(b.Snapshot.Health.ListAge(b.At))
	if b.Snapshot.Health.ListedAt.IsZero() {
		age = "never"
	}
	b.plain("%s of %s", age, text.Took(b.Threshold))
}

func (b *builder) sources() {
	b.title, b.about = "sources", "Tell what happens without being asked."
	on := false
	for i := range b.Sources {
		k := &b.Sources[i]
		if k.State == engine.StreamOff {
			continue
		}
		on = true
		said := wording.StreamLook(b.Theme, k)
		symbol, word, _ := strings.Cut(said.Text, " ")
		b.say(said.Style, "%s %s %s", symbol, k.Source, word)
	}
	if !on {
		b.say(b.Theme.Dim, "off")
	}
	switch useOf(b.View) {
	case writes:
		b.title = "cri " + b.Theme.Symbols.Right + " cache"
		b.about = "The runtime's stream writes cache and channel itself; the relist is the safety net."
	case asks:
		b.title = "cri " + b.Theme.Symbols.Right + " lists"
		b.about = "An end that the runtime's stream tells asks for a relist of that pod alone."
	default:
		b.say(b.Theme.Dim, "only watch")
		b.about = "In this mode they change no decision: they show what the relist sees late, or never."
	}
}

func (b *builder) kubelet() {
	b.title, b.about = "kubelet "+b.Release.String(), "Whose PLEG this is: releases differ in when and how they relist."
	b.plain("%s mode", b.Mode.Mode)
	if b.Mode.Asked != b.Mode.Mode {
		b.warn("fell back")
	}
	switch {
	case !b.Node.Known:
		b.say(b.Theme.Dim, "not known yet")
	case b.Node.Ready:
		b.good("Ready")
	default:
		b.bad("NotReady")
	}
	if n := b.Mode.Repeated; n > 0 {
		b.say(b.Theme.Dim, "%s sent twice", text.Count(n))
	}
}

// A use is what a kubelet makes of the runtime's event stream.
type use uint8

const (
	watches use = iota // nothing: sources only observe
	writes             // the cache and the channel
	asks               // a relist of one pod
)

func useOf(v *pane.View) use {
	switch {
	case v.Mode.Mode == pleg.Generic:
		return watches
	case v.Mode.Mode.Writes(v.Release):
		return writes
	}
	return asks
}
