package howpleg

import (
	"cmp"
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/story"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/widget"
)

// A box is a part of the picture: where it stands, and what it is for.
type box struct {
	place          story.Place
	row, col, wide int // in columns
	title, about   string
}

// boxes are the whole picture: the loop of the relist in the first two rows, clockwise, and what
// it decides below.
var boxes = []box{
	{story.Runtime, 0, 0, 1, "runtime", "It answers calls. plegtop changes nothing in it."},
	{story.Lists, 0, 1, 1, "lists", "Each relist asks for all sandboxes and all containers: two calls."},
	{story.Compare, 0, 2, 1, "compare", "Ids and their states against the record, which only a good inspection moves on."},
	{story.Inspect, 0, 3, 1, "inspect", "Each changed pod: one status call per sandbox and container."},
	{story.Workers, 1, 0, 1, "workers", "Each waits for a status newer than its last sync, then syncs its pod."},
	{story.Loop, 1, 1, 1, "sync loop", "It takes the events and wakes workers. While the node is unhealthy it reads nothing."},
	{story.Channel, 1, 2, 1, "channel", "Events to the sync loop. What finds it full is lost for good."},
	{story.Cache, 1, 3, 1, "cache", "The last status of each pod, or the error in its place. Workers wait here for a newer one."},
	{story.Ready, 2, 0, 1, "kubelet", "Whose PLEG this is: releases differ in when and how they relist."},
	{story.ListAge, 2, 1, 2, "list age", "PLEG is healthy while the last relist that could list began less than the threshold ago. Nothing else counts."},
	{story.Sources, 2, 3, 1, "sources", "They change no decision: they show what the relist sees late, or never."},
}

// An arrow leads from one box to another beside it. It is red while nothing gets through.
type arrow struct {
	from, to story.Place
	blocked  func(*board) bool // nil for never
	only     func(*board) bool // where there is such a way at all; nil for everywhere
}

var arrows = []arrow{
	{story.Runtime, story.Lists, (*board).listsWait, nil},
	{story.Lists, story.Compare, (*board).inspectWaits, nil},
	{story.Compare, story.Inspect, (*board).inspectWaits, nil},
	{story.Inspect, story.Cache, nil, nil},
	{story.Cache, story.Channel, nil, nil},
	{story.Channel, story.Loop, (*board).loopStands, nil},
	{story.Loop, story.Workers, (*board).loopStands, nil},
	{story.Workers, story.Runtime, nil, nil},
	{story.ListAge, story.Ready, (*board).unhealthy, nil},
	{story.ListAge, story.Loop, (*board).unhealthy, nil},
	{story.Sources, story.Cache, nil, (*board).streamWrites},
}

// A figure is a line in a box.
type figure struct {
	place story.Place
	level widget.Level
	says  func(*board) string // empty where it does not hold
}

// figures are those of all boxes, the most telling first.
var figures = []figure{
	{story.Runtime, widget.Plain, func(b *board) string { return cmp.Or(b.Version.RuntimeName, "not known yet") }},
	{story.Runtime, widget.Plain, func(b *board) string { return fmt.Sprintf("%d containers", b.Counts.Containers) }},
	{story.Runtime, widget.Quiet, func(b *board) string { return b.Version.RuntimeVersion }},
	{story.Runtime, widget.Quiet, func(b *board) string { return fmt.Sprintf("%.0f calls/s", b.Cost.CallsPerSecond) }},

	{story.Lists, widget.Bad, func(b *board) string { return when(b.stuck == story.Lists, "waits %s", b.waits) }},
	{story.Lists, widget.Bad, func(b *board) string { return when(b.failures > 0, "failed %d times", b.failures) }},
	{story.Lists, widget.Warn, func(b *board) string { return when(b.Paused, "paused") }},
	{story.Lists, widget.Plain, func(b *board) string { return when(b.relisted(), "took %s", text.Took(b.last.List)) }},
	{story.Lists, widget.Plain, func(b *board) string { return "every " + say.Period(b.Period) }},
	{story.Lists, widget.Quiet, func(b *board) string { return text.Count(b.Relists.Count) + " relists" }},

	{story.Compare, widget.Warn, func(b *board) string { return when(b.held > 0, "%d held back", b.held) }},
	{story.Compare, widget.Plain, func(b *board) string { return fmt.Sprintf("%d pods", b.Counts.Pods) }},
	{story.Compare, widget.Plain, func(b *board) string { return when(b.compared(), "%d to inspect", b.Phase.Total) }},

	{story.Inspect, widget.Bad, func(b *board) string { return when(b.inspectWaits(), "waits %s", b.waits) }},
	{story.Inspect, widget.Strong, func(b *board) string { return when(b.inspectWaits(), "%s", b.pod) }},
	{story.Inspect, widget.Plain, func(b *board) string { return when(b.Phase.Total > 0, "%d of %d done", b.Phase.Done, b.Phase.Total) }},
	{story.Inspect, widget.Plain, func(b *board) string {
		return when(b.Phase.Total > 0 && b.relisted(), "took %s", text.Took(b.last.Took-b.last.List))
	}},
	{story.Inspect, widget.Plain, func(b *board) string { return when(b.Phase.Total == 0 && b.compared(), "none needed") }},
	{story.Inspect, widget.Plain, func(b *board) string {
		return when(!b.Snapshot.Health.SettledAt.IsZero(), "all %s ago", say.Fresh(b.Snapshot.Health.InspectAge(b.At)))
	}},
	{story.Inspect, widget.Quiet, func(b *board) string { return when(b.Snapshot.Health.SettledAt.IsZero(), "not all yet") }},

	{story.Workers, widget.Warn, func(b *board) string { return when(b.blocked > 0, "%d blocked", b.blocked) }},
	{story.Workers, widget.Plain, func(b *board) string { return text.Count(b.Workers.WakeUps) + " woken" }},
	{story.Workers, widget.Plain, func(b *board) string { return when(b.Workers.Expecting, "%s expected", text.Count(b.Workers.Saved)) }},
	{story.Workers, widget.Quiet, func(b *board) string { return when(!b.Workers.Acting, "act on nothing") }},

	{story.Loop, widget.Bad, func(b *board) string { return when(b.loopHeld(), "held %s", text.Age(b.At.Sub(b.Node.LoopHeld))) }},
	{story.Loop, widget.Quiet, func(b *board) string { return when(b.loopHeld(), "by its list") }},
	{story.Loop, widget.Bad, func(b *board) string {
		return when(b.loopStopped(), "stopped %s", text.Age(b.At.Sub(b.Node.LoopStopped)))
	}},
	{story.Loop, widget.Quiet, func(b *board) string { return when(b.loopStopped(), "looks in %s", b.Node.LoopNap) }},
	{story.Loop, widget.Quiet, func(b *board) string { return when(!b.loopStands() && !b.Node.Known, "not known yet") }},
	{story.Loop, widget.Good, func(b *board) string { return when(!b.loopStands() && b.Node.Known, "works") }},
	{story.Loop, widget.Quiet, func(b *board) string { return when(!b.loopStands() && b.Node.Known, "reads all") }},

	{story.Channel, widget.Warn, func(b *board) string {
		return when(b.Channel.Discarded > 0, "%s lost", text.Count(b.Channel.Discarded))
	}},
	{story.Channel, widget.Bad, func(b *board) string { return when(b.full(), "full: %d", b.Channel.Len) }},
	{story.Channel, widget.Warn, func(b *board) string {
		return when(b.fills() && !b.full(), "%d of %d", b.Channel.Len, b.Channel.Capacity)
	}},
	{story.Channel, widget.Plain, func(b *board) string { return when(!b.fills(), "%d of %d", b.Channel.Len, b.Channel.Capacity) }},
	{story.Channel, widget.Plain, func(b *board) string { return text.Count(b.Channel.Delivered) + " sent" }},
	{story.Channel, widget.Quiet, func(b *board) string { return text.Count(b.Channel.Filtered) + " filtered" }},

	{story.Cache, widget.Warn, func(b *board) string { return when(b.failed > 0, "%d in error", b.failed) }},
	{story.Cache, widget.Plain, func(b *board) string { return fmt.Sprintf("%d entries", b.entries) }},
	{story.Cache, widget.Plain, func(b *board) string { return when(!b.asOf.IsZero(), "as of %s", b.asOf.Local().Format(time.TimeOnly)) }},

	{story.Ready, widget.Quiet, func(b *board) string { return when(!b.Node.Known, "not known yet") }},
	{story.Ready, widget.Good, func(b *board) string { return when(b.Node.Known && b.Node.Ready, "Ready") }},
	{story.Ready, widget.Bad, func(b *board) string { return when(b.Node.Known && !b.Node.Ready, "NotReady") }},
	{story.Ready, widget.Plain, func(b *board) string { return b.Mode.Mode.String() + " mode" }},
	{story.Ready, widget.Warn, func(b *board) string { return when(say.FellBack(&b.Mode), "fell back") }},
	{story.Ready, widget.Quiet, func(b *board) string { return when(b.Mode.Repeated > 0, "%s sent twice", text.Count(b.Mode.Repeated)) }},

	{story.ListAge, widget.Bad, func(b *board) string { return when(b.unhealthy(), "unhealthy  %s", b.age()) }},
	{story.ListAge, widget.Good, func(b *board) string { return when(!b.unhealthy(), "healthy  %s", b.age()) }},

	{story.Sources, widget.Quiet, func(b *board) string { return when(!say.Streaming(b.Snapshot), "off") }},
	{story.Sources, widget.Quiet, func(b *board) string { return when(b.use == pleg.StreamUnused, "only watch") }},
}

func when(holds bool, format string, args ...any) string {
	if !holds {
		return ""
	}
	return fmt.Sprintf(format, args...)
}
