package howpleg

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// A place is where in runtime and kubelet something happens.
type place byte

// The places, each with its letter in the drawing.
const (
	atRuntime place = 'R'
	atLists   place = 'L'
	atCompare place = 'C'
	atInspect place = 'I'
	atCache   place = 'K'
	atWorkers place = 'W'
	atChannel place = 'H'
	atLoop    place = 'S' // the kubelet's sync loop
	atListAge place = 'A'
	atReady   place = 'N' // of the node
)

// A box is a part of the picture: what it is for, and its figures.
type box struct {
	place        place
	wide         bool
	title, about string
	figures      []figure // in the order of how much they tell
	bar          float64  // how full it is; 0 for none
}

// A figure is a text in a box.
type figure struct {
	level widget.Level
	says  string
}

func (b *box) bad() bool {
	return slices.ContainsFunc(b.figures, func(f figure) bool { return f.level == widget.Bad })
}

// A way leads from one box to another.
type way struct {
	from, to place
	blocked  bool
	waits    bool // it is blocked by the box that it comes to
}

// board returns all of the picture: the boxes with the figures that hold, and the ways in the order of
// their letters in the drawing. A call without an answer stops the relist at its box, and all ways
// up to that one are blocked.
func board(v *pane.View) ([]box, []way) {
	var (
		stuck                 place         // where a call of the relist is late; 0 if none is
		waits                 string        // for how long
		pod                   pleg.PodRef   // that the call is about
		last                  engine.Relist // the newest that has finished
		telling               []string      // the event sources that are connected
		failures              int           // of lists, in a row
		held, failed, entries int           // pods: whose records do not move on; with an error in the cache; with anything there
	)
	if f := diagnose.RelistCall(v.Snapshot); f != nil && diagnose.Late(v.Snapshot, *f) {
		waits, pod, stuck = text.Age(f.Elapsed(v.At)), f.Pod, theme.When(f.ID != "", atInspect, atLists)
	}
	if v.Failure != nil {
		failures = v.Failure.InRow
	}
	for _, last = range v.Relists.History {
	}
	for _, p := range v.Snapshot.Pods {
		held += theme.When(p.Failure != nil, 1, 0)
		failed += theme.When(p.StatusErr != nil, 1, 0)
		entries += theme.When(p.StatusErr != nil || p.Status != nil, 1, 0)
	}
	for i := range v.Sources {
		if k := &v.Sources[i]; k.State == sources.StreamConnected {
			telling = append(telling, k.Source.String())
		}
	}
	health, blocked := diagnose.HealthOf(v.Snapshot, diagnose.HealthPLEG), diagnose.WorkersHeld(v.Snapshot)
	compared, settled := v.Phase.Step != engine.Listing, !v.Snapshot.Health.SettledAt.IsZero() // else it is not known yet what has changed
	loopHeld := !v.Node.LoopHeld.IsZero()
	loopStopped := !v.Node.LoopStopped.IsZero() && !loopHeld
	fills, full := diagnose.ChannelFills(&v.Channel), v.Channel.Capacity > 0 && v.Channel.Len >= v.Channel.Capacity
	age := age(v, health)
	boxes := []box{
		{place: atRuntime, title: "runtime", about: "It answers calls. plegtop changes nothing in it.", figures: []figure{
			{widget.Plain, cmp.Or(strings.TrimSpace(v.Version.RuntimeName+" "+strings.TrimPrefix(v.Version.RuntimeVersion, "v")), "not known yet")},
			{widget.Plain, say.Plural(v.Counts.Containers, "container")},
			{widget.Quiet, say.Plural(int(v.Cost.CallsPerSecond+0.5), "call") + "/s"},
			{widget.Quiet, when(len(telling) > 0, "tells by %s", strings.Join(telling, ", "))},
		}},
		{place: atLists, title: "lists", about: "Two calls: all sandboxes, all containers.", figures: []figure{
			{widget.Bad, when(stuck == atLists, "waits %s", waits)},
			{widget.Bad, when(failures > 0, "failed %s", say.Plural(failures, "time"))},
			{widget.Warn, when(v.Paused, "paused")},
			{widget.Plain, when(!last.At.IsZero(), "took %s", text.Took(last.List))},
			{widget.Plain, "every " + say.Period(v.Period)},
			{widget.Quiet, text.Count(v.Relists.Count) + " relists"},
		}},
		{place: atCompare, title: "compare", about: "New states against the record. A good inspection moves the record on.", figures: []figure{
			{widget.Warn, when(held > 0, "%d held back", held)},
			{widget.Plain, say.Plural(v.Counts.Pods, "pod")},
			{widget.Plain, when(compared, "%d changed", v.Phase.Total)},
		}},
		{place: atInspect, title: "inspect", about: "One status call per sandbox and container of a changed pod.", figures: []figure{
			{widget.Bad, when(stuck == atInspect, "waits %s", waits)},
			{widget.Strong, when(stuck == atInspect, "%s", pod)},
			{widget.Plain, when(v.Phase.Total > 0, "%d of %s done", v.Phase.Done, say.Plural(v.Phase.Total, "pod"))},
			{widget.Plain, when(v.Phase.Total == 0 && compared, "none changed")},
			{widget.Plain, when(settled, "all %s ago", say.Fresh(v.Snapshot.Health.InspectAge(v.At)))},
			{widget.Quiet, when(!settled, "not all yet")},
		}},
		{place: atCache, title: "cache", about: "The last status of each pod. Workers wait for a newer one.", figures: []figure{
			{widget.Warn, when(failed > 0, "%d in error", failed)},
			{widget.Plain, fmt.Sprintf("%d entries", entries)},
			{widget.Plain, when(!v.Snapshot.Health.ListedAt.IsZero(), "listed at %s", v.Snapshot.Health.ListedAt.Local().Format(time.TimeOnly))},
		}},
		{place: atWorkers, title: "workers", about: "Each waits for a newer status, then syncs its pod.", figures: []figure{
			{widget.Warn, when(blocked > 0, "%d blocked", blocked)},
			{widget.Plain, text.Count(v.Workers.WakeUps) + " woken"},
			{widget.Plain, when(v.Workers.Expecting, "%s expected", text.Count(v.Workers.Saved))},
			{widget.Quiet, when(!v.Workers.Acting, "act on nothing")},
		}},
		{place: atLoop, title: "sync loop", about: "It takes events and wakes workers, while PLEG is healthy.", figures: []figure{
			{widget.Bad, when(loopHeld, "waits %s", text.Age(v.At.Sub(v.Node.LoopHeld)))},
			{widget.Bad, when(loopStopped, "stopped %s", text.Age(v.At.Sub(v.Node.LoopStopped)))},
			{widget.Quiet, when(!loopHeld && !loopStopped && !v.Node.Known, "not known yet")},
			{widget.Good, when(!loopHeld && !loopStopped && v.Node.Known, "reads all")},
			{widget.Quiet, when(loopStopped, "looks in %s", v.Node.LoopNap)},
		}},
		{
			place: atChannel, wide: true, title: "channel", about: "Events for the sync loop. When the channel is full, new events are lost.",
			figures: []figure{
				{widget.Bad, when(full, "full: %d", v.Channel.Len)},
				{widget.Warn, when(fills && !full, "%d of %d", v.Channel.Len, v.Channel.Capacity)},
				{widget.Plain, when(!fills, "%d of %d", v.Channel.Len, v.Channel.Capacity)},
				{widget.Warn, when(v.Channel.Discarded > 0, "%s lost", text.Count(v.Channel.Discarded))},
				{widget.Plain, text.Count(v.Channel.Delivered) + " sent"},
				{widget.Quiet, text.Count(v.Channel.Filtered) + " filtered"},
			},
		},
		{
			place: atListAge, wide: true, title: "list age", about: "The kubelet posts NotReady when the last good list is older than this limit. Nothing else counts.",
			figures: []figure{
				{widget.Quiet, when(health.Level == diagnose.HealthUnknown, "no list yet")},
				{widget.Bad, when(health.Level == diagnose.HealthIll, "unhealthy  %s", age)},
				{widget.Warn, when(health.Level == diagnose.HealthLate, "grows  %s", age)},
				{widget.Good, when(health.Level == diagnose.HealthWell, "healthy  %s", age)},
			},
			bar: float64(v.Snapshot.Health.ListAge(v.At)) / float64(v.Threshold),
		},
		{place: atReady, title: "node", about: "The kubelet posts it.", figures: []figure{
			{widget.Quiet, when(!v.Node.Known, "not known yet")},
			{widget.Good, when(v.Node.Known && v.Node.Ready, "Ready")},
			{widget.Bad, when(v.Node.Known && !v.Node.Ready, "NotReady")},
			{widget.Warn, when(say.FellBack(&v.Mode), "fell back")},
			{widget.Quiet, "kubelet " + v.Release.String() + ", " + v.Mode.Mode.String()},
		}},
	}
	for i := range boxes {
		boxes[i].figures = slices.DeleteFunc(boxes[i].figures, func(f figure) bool { return f.says == "" })
	}
	lists, inspects, loop, ill := stuck != 0 || failures > 0, stuck == atInspect, loopHeld || loopStopped, health.Level == diagnose.HealthIll
	return boxes, []way{
		{atRuntime, atLists, lists, failures > 0 || stuck == atLists},
		{atLists, atCompare, inspects, false},
		{atCompare, atInspect, inspects, inspects},
		{atInspect, atCache, false, false},
		{atCache, atWorkers, false, false},
		{atWorkers, atRuntime, false, false},
		{atInspect, atChannel, false, false},
		{atChannel, atLoop, loop, loop},
		{atLoop, atWorkers, loop, false},
		{atListAge, atReady, ill, ill},
		{atListAge, atLoop, ill, false},
	}
}

// age says how old the list is, of how long it may become, and when it will be too old.
func age(v *pane.View, of diagnose.HealthLink) string {
	left := of.Until.Sub(v.At)
	return cmp.Or(when(v.Snapshot.Health.ListedAt.IsZero(), "never listed"), say.Fresh(v.Snapshot.Health.ListAge(v.At))+" of "+text.Took(v.Threshold)+
		when(of.Level == diagnose.HealthLate && !of.Until.IsZero() && !of.Ends && left > 0, ", NotReady in %s", text.Age(left)))
}

func when(holds bool, format string, args ...any) string {
	if !holds {
		return ""
	}
	return fmt.Sprintf(format, args...)
}
