package howpleg

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/story"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/widget"
)

// A box is a part of the picture: what it is for, and its figures.
type box struct {
	place        story.Place
	wide         bool
	title, about string
	figures      []figure // in the order of how much they tell
	bar          float64  // how full it is; 0 for none
}

// A figure is a text in a box; empty where it does not hold.
type figure struct {
	level widget.Level
	says  string
}

// boxes returns all of the picture.
func (b *board) boxes() []box {
	return []box{
		{place: story.Runtime, title: "runtime", about: "It answers calls. plegtop changes nothing in it.", figures: []figure{
			{widget.Plain, cmp.Or(strings.TrimSpace(b.Version.RuntimeName+" "+strings.TrimPrefix(b.Version.RuntimeVersion, "v")), "not known yet")},
			{widget.Plain, fmt.Sprintf("%d containers", b.Counts.Containers)},
			{widget.Quiet, fmt.Sprintf("%.0f calls/s", b.Cost.CallsPerSecond)},
			{widget.Quiet, when(len(b.telling) > 0, "tells by %s", strings.Join(b.telling, ", "))},
		}},
		{place: story.Lists, title: "lists", about: "Two calls: all sandboxes, all containers.", figures: []figure{
			{widget.Bad, when(b.stuck == story.Lists, "waits %s", b.waits)},
			{widget.Bad, when(b.failures > 0, "failed %d times", b.failures)},
			{widget.Warn, when(b.Paused, "paused")},
			{widget.Plain, when(b.relisted(), "took %s", text.Took(b.last.List))},
			{widget.Plain, "every " + say.Period(b.Period)},
			{widget.Quiet, text.Count(b.Relists.Count) + " relists"},
		}},
		{place: story.Compare, title: "compare", about: "New states against the record. A good inspection moves the record on.", figures: []figure{
			{widget.Warn, when(b.held > 0, "%d held back", b.held)},
			{widget.Plain, fmt.Sprintf("%d pods", b.Counts.Pods)},
			{widget.Plain, when(b.compared(), "%d changed", b.Phase.Total)},
		}},
		{place: story.Inspect, title: "inspect", about: "One status call per sandbox and container of a changed pod.", figures: []figure{
			{widget.Bad, when(b.inspectWaits(), "waits %s", b.waits)},
			{widget.Strong, when(b.inspectWaits(), "%s", b.pod)},
			{widget.Plain, when(b.Phase.Total > 0, "%d of %d pods done", b.Phase.Done, b.Phase.Total)},
			{widget.Plain, when(b.Phase.Total == 0 && b.compared(), "none changed")},
			{widget.Plain, when(b.settled(), "all %s ago", say.Fresh(b.Snapshot.Health.InspectAge(b.At)))},
			{widget.Quiet, when(!b.settled(), "not all yet")},
		}},
		{place: story.Cache, title: "cache", about: "The last status of each pod. Workers wait for a newer one.", figures: []figure{
			{widget.Warn, when(b.failed > 0, "%d in error", b.failed)},
			{widget.Plain, fmt.Sprintf("%d entries", b.entries)},
			{widget.Plain, when(!b.Snapshot.Health.ListedAt.IsZero(), "as of %s", b.Snapshot.Health.ListedAt.Local().Format(time.TimeOnly))},
		}},
		{place: story.Workers, title: "workers", about: "Each waits for a newer status, then syncs its pod.", figures: []figure{
			{widget.Warn, when(b.blocked > 0, "%d blocked", b.blocked)},
			{widget.Plain, text.Count(b.Workers.WakeUps) + " woken"},
			{widget.Plain, when(b.Workers.Expecting, "%s expected", text.Count(b.Workers.Saved))},
			{widget.Quiet, when(!b.Workers.Acting, "act on nothing")},
		}},
		{place: story.Loop, title: "sync loop", about: "It takes events and wakes workers, while PLEG is healthy.", figures: []figure{
			{widget.Bad, when(b.loopHeld(), "waits %s for its list", text.Age(b.At.Sub(b.Node.LoopHeld)))},
			{widget.Bad, when(b.loopStopped(), "stopped %s", text.Age(b.At.Sub(b.Node.LoopStopped)))},
			{widget.Quiet, when(!b.loopStands() && !b.Node.Known, "not known yet")},
			{widget.Good, when(!b.loopStands() && b.Node.Known, "reads all")},
			{widget.Quiet, when(b.loopStopped(), "looks in %s", b.Node.LoopNap)},
		}},
		{
			place: story.Channel, wide: true, title: "channel", about: "Events for the sync loop. When the channel is full, new events are lost.",
			figures: []figure{
				{widget.Bad, when(b.full(), "full: %d", b.Channel.Len)},
				{widget.Warn, when(b.fills() && !b.full(), "%d of %d", b.Channel.Len, b.Channel.Capacity)},
				{widget.Plain, when(!b.fills(), "%d of %d", b.Channel.Len, b.Channel.Capacity)},
				{widget.Warn, when(b.Channel.Discarded > 0, "%s lost", text.Count(b.Channel.Discarded))},
				{widget.Plain, text.Count(b.Channel.Delivered) + " sent"},
				{widget.Quiet, text.Count(b.Channel.Filtered) + " filtered"},
			},
		},
		{
			place: story.ListAge, wide: true, title: "list age", about: "The kubelet posts NotReady when the last good list is older than this limit. Nothing else counts.",
			figures: []figure{
				{widget.Quiet, when(b.health.Level == diagnose.HealthUnknown, "no list yet")},
				{widget.Bad, when(b.unhealthy(), "unhealthy  %s", b.age())},
				{widget.Warn, when(b.health.Level == diagnose.HealthLate, "grows  %s", b.age())},
				{widget.Good, when(b.health.Level == diagnose.HealthWell, "healthy  %s", b.age())},
			},
			bar: float64(b.Snapshot.Health.ListAge(b.At)) / float64(b.Threshold),
		},
		{place: story.Ready, title: "node", about: "The kubelet posts it.", figures: []figure{
			{widget.Quiet, when(!b.Node.Known, "not known yet")},
			{widget.Good, when(b.Node.Known && b.Node.Ready, "Ready")},
			{widget.Bad, when(b.Node.Known && !b.Node.Ready, "NotReady")},
			{widget.Warn, when(say.FellBack(&b.Mode), "fell back")},
			{widget.Quiet, "kubelet " + b.Release.String() + ", " + b.Mode.Mode.String()},
		}},
	}
}

// age says how old the list is, of how long it may become, and when it will be too old.
func (b *board) age() string {
	left := b.health.Until.Sub(b.At)
	return cmp.Or(when(b.Snapshot.Health.ListedAt.IsZero(), "never listed"),
		say.Fresh(b.Snapshot.Health.ListAge(b.At))+" of "+text.Took(b.Threshold)+
			when(b.health.Level == diagnose.HealthLate && !b.health.Until.IsZero() && !b.health.Ends && left > 0, ", NotReady in %s", text.Age(left)))
}

// ways are what leads from one box to another, in the order of their letters in the drawing.
var ways = []struct {
	from, to story.Place
	blocked  func(*board) bool
}{
	{story.Runtime, story.Lists, (*board).listsWait},
	{story.Lists, story.Compare, (*board).inspectWaits},
	{story.Compare, story.Inspect, (*board).inspectWaits},
	{story.Inspect, story.Cache, (*board).never},
	{story.Cache, story.Workers, (*board).never},
	{story.Workers, story.Runtime, (*board).never},
	{story.Inspect, story.Channel, (*board).never},
	{story.Channel, story.Loop, (*board).loopStands},
	{story.Loop, story.Workers, (*board).loopStands},
	{story.ListAge, story.Ready, (*board).unhealthy},
	{story.ListAge, story.Loop, (*board).unhealthy},
}
