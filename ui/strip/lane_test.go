package strip

import (
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

var web = pleg.PodRef{UID: "u", Namespace: "shop", Name: "web"}

// happened is an event of a container that was seen so many seconds before noon, so
// late.
func happened(seq uint64, seen, lag float64, kind pleg.Kind, id string, to pleg.State) engine.Event {
	e := engine.Event{Seq: seq, SeenAt: at(seen), Lag: secs(lag), HasLag: lag > 0}
	e.Event = pleg.Event{Kind: kind, ObjectRef: pleg.ObjectRef{Pod: web, Container: "app", ID: id}, To: to, At: at(seen)}
	return e
}

func died(seq uint64, seen, lag float64, id string, code int32) engine.Event {
	e := happened(seq, seen, lag, pleg.Died, id, pleg.Exited)
	e.Exited, e.ExitCode = true, code
	return e
}

func started(seq uint64, seen, lag float64, id string) engine.Event {
	return happened(seq, seen, lag, pleg.Started, id, pleg.Running)
}

func removed(seq uint64, seen float64, id string) engine.Event {
	return happened(seq, seen, 0, pleg.Removed, id, pleg.Absent)
}

// sighted has an event seen by an event source as well, so many seconds before noon; only
// by that if the kubelet does not see it. Its lag goes from who saw it first.
func sighted(e engine.Event, source float64) engine.Event {
	e.Seen = &sources.Sightings{}
	if e.Seen.At[sources.FromCRI] = at(source); e.Delivery != pleg.Unseen {
		e.Seen.At[sources.FromRelist] = e.SeenAt
	}
	_, e.SeenAt = e.Seen.First()
	return e
}

// unseen is a death that no relist has seen.
func unseen(seq uint64, source float64, id string, code int32) engine.Event {
	e := died(seq, source, 0, id, code)
	e.Delivery = pleg.Unseen
	return sighted(e, source)
}

// status is a pod with one container.
func status(st pleg.ContainerStatus) *engine.Pod {
	st.ID, st.Name = "c0", "app"
	return &engine.Pod{PodRef: web, Status: &pleg.PodStatus{PodRef: web, Containers: []pleg.ContainerStatus{st}}}
}

// lane draws the lane of app.
func lane(v *pane.View, p *engine.Pod) string {
	var n Lane
	n.Set(v, v.Journal.Life(web.UID, p), "app", Sights(v, 30, nil))
	return drawn(v, 30, func(l *text.Line) { n.Draw(l, v, -1, theme.Style{}) })
}

var lanes = []struct {
	name        string
	pod         *engine.Pod
	events      []engine.Event
	story       func(v *pane.View)
	want, plain string
}{
	{
		name: "running since before the start", pod: status(pleg.ContainerStatus{State: pleg.Running, CreatedAt: at(9000), StartedAt: at(9000)}),
		want: "|━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━|", plain: "|==============================|",
	},
	{
		name: "what was there at the start is no event", pod: status(pleg.ContainerStatus{State: pleg.Running, CreatedAt: at(9000), StartedAt: at(9000)}),
		events: []engine.Event{{Event: started(1, 12.5, 0, "c0").Event, Seq: 1, SeenAt: at(12.5), AtStart: true}},
		want:   "|━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━|", plain: "|==============================|",
	},
	{
		name: "created, started, exited and removed",
		events: []engine.Event{
			happened(1, 24.5, 0.2, pleg.Changed, "c1", pleg.Created), started(2, 19.5, 1.2, "c1"), died(3, 11.5, 2, "c1", 137), removed(4, 3.5, "c1"),
		},
		want: "|     ◌╌╌╌░●━━━━━░░✖137┈┈┈┈−   |", plain: "|     ....%*=====%%X137____-   |",
	},
	{
		name:   "a code that has no room is left out",
		events: []engine.Event{died(1, 11.5, 0, "c1", 137), started(2, 8.5, 0, "c2"), died(3, 1.5, 0, "c2", 1)},
		want:   "|                  ✖┈┈●━━━━━━✖1|", plain: "|                  X__*======X1|",
	},
	{
		name:   "of two events in one cell the worse is seen",
		events: []engine.Event{died(1, 11.4, 0, "c1", 2), removed(2, 11.3, "c1"), started(3, 11.2, 0, "c2"), died(4, 5.5, 0, "c2", 0)},
		want:   "|                  ✖━━━━━○┈┈┈┈┈|", plain: "|                  X=====o_____|",
	},
	{
		name:   "an old one that is removed leaves the new one running",
		events: []engine.Event{died(1, 21.5, 0, "c1", 0), started(2, 15.5, 0, "c2"), removed(3, 5.5, "c1")},
		want:   "|        ○┈┈┈┈┈●━━━━━━━━━−━━━━━|", plain: "|        o_____*=========-=====|",
	},
	{
		name: "a relist that hangs hides all but what is known afterwards", pod: status(pleg.ContainerStatus{State: pleg.Running, CreatedAt: at(9000), StartedAt: at(9000)}),
		events: []engine.Event{died(1, 4.4, 6, "c0", 3)},
		story: func(v *pane.View) {
			steady(v, 32.5, 21.5)
			relists(v, [2]float64{20.5, 15})
			steady(v, 4.5, 0.5)
		},
		want: "|━━━━━━━━━━━━╱╱╱╱╱╱╱░░░░░░✖3┈┈┈|", plain: "|============///////%%%%%%X3___|",
	},
	{
		name: "a relist that hangs now", pod: status(pleg.ContainerStatus{State: pleg.Running, CreatedAt: at(9000), StartedAt: at(9000)}),
		story: func(v *pane.View) {
			steady(v, 32.5, 21.5)
			v.Phase = engine.Phase{Step: engine.Listing, Began: at(20.5)}
		},
		want: "|━━━━━━━━━━━╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱|", plain: "|===========///////////////////|",
	},
	{
		name: "lists that fail", pod: status(pleg.ContainerStatus{State: pleg.Running, CreatedAt: at(9000), StartedAt: at(9000)}),
		story: func(v *pane.View) {
			steady(v, 32.5, 0.5)
			for i := 10; i < 20; i++ {
				v.Relists.History[i].Failed = true
			}
		},
		want: "|━━━━━━━━━╱╱╱╱╱╱╱╱━━━━━━━━━━━━━|", plain: "|=========////////=============|",
	},
	{
		name: "relists that nobody has taken notice of", pod: status(pleg.ContainerStatus{State: pleg.Running, CreatedAt: at(9000), StartedAt: at(9000)}),
		story: func(v *pane.View) {
			steady(v, 32.5, 25.5)
			see(v)
			v.Relists = engine.Relists{Count: 100}
			steady(v, 10.5, 0.5)
		},
		want: "|━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━|", plain: "|==============================|",
	},
	{
		name: "a pause", pod: status(pleg.ContainerStatus{State: pleg.Created, CreatedAt: at(9000)}),
		story: func(v *pane.View) {
			steady(v, 32.5, 20.5)
			pause(v, 20, 8)
			steady(v, 7.5, 0.5)
		},
		want: "|╌╌╌╌╌╌╌╌╌╌╌╌║║║║║║║║║║╌╌╌╌╌╌╌╌|", plain: "|............||||||||||........|",
	},
	{
		name: "a stamp that the engine does not believe", pod: status(pleg.ContainerStatus{State: pleg.Running, StartedAt: at(20)}), events: []engine.Event{started(1, 9.5, 0, "c0")},
		want: "|                    ●━━━━━━━━━|", plain: "|                    *=========|",
	},
	{
		name: "an inspection that never succeeded", pod: &engine.Pod{PodRef: web, ListedAt: at(7.5), Current: &pleg.Pod{PodRef: web, Containers: []pleg.Container{{ID: "c0", Name: "app", State: pleg.Running, CreatedAt: at(9.5)}}}},
		want: "|                    ━━━━━━━━━━|", plain: "|                    ==========|",
	},
	{
		name: "an event source saw the start before the relist, and the end alone", events: []engine.Event{sighted(started(1, 19.5, 1, "c1"), 21.5), unseen(2, 11.5, "c1", 3)},
		want: "|       ░◦░●━━━━━━━◇3┈┈┈┈┈┈┈┈┈┈|", plain: "|       %'%*=======u3__________|",
	},
	{
		name: "an event source saw the start after the relist", events: []engine.Event{sighted(started(1, 19.5, 1, "c1"), 17.5)},
		want: "|         ░●━◦━━━━━━━━━━━━━━━━━|", plain: "|         %*='=================|",
	},
	{
		name: "a relist saw the end at last", events: []engine.Event{started(1, 25.5, 0, "c1"), unseen(2, 20.5, "c1", 3), sighted(died(3, 5.5, 0, "c1", 3), 20.5)},
		want: "|    ●━━━━◦░░░░░░░░░░░░░░✖3┈┈┈┈|", plain: "|    *===='%%%%%%%%%%%%%%X3____|",
	},
	{
		name:   "a code gives way to where the stream was late",
		events: []engine.Event{sighted(died(1, 11.5, 0, "c1", 137), 9.5)},
		want:   "|                  ✖┈◦┈┈┈┈┈┈┈┈┈|", plain: "|                  X_'_________|",
	},
	{name: "another container's", events: []engine.Event{{Seq: 1, SeenAt: at(5), Event: pleg.Event{ObjectRef: pleg.ObjectRef{Pod: web, Container: "other", ID: "o"}, To: pleg.Running}}}, want: "|                              |", plain: "|                              |"},
}

func TestLane(t *testing.T) {
	for _, tt := range lanes {
		t.Run(tt.name, func(t *testing.T) {
			for _, th := range []theme.Theme{theme.Default(), theme.Default().Plain()} {
				v := viewAt(at(0.1), th)
				if tt.story == nil {
					steady(v, 32.5, 0.5)
				} else {
					tt.story(v)
				}
				see(v, tt.events...)
				want := tt.want
				if th.Symbols.ASCII {
					want = tt.plain
				}
				if got := lane(v, tt.pod); got != want {
					t.Errorf("drew\n%s, want\n%s", got, want)
				}
			}
		})
	}
}

// What a cell shows stays when time moves on by whole cells and nothing else happens,
// but for exit codes, which need room behind their event.
func TestLaneIsSteady(t *testing.T) {
	for _, tt := range lanes {
		v := viewAt(at(0.1), theme.Default())
		if tt.story != nil {
			continue // relists go on
		}
		steady(v, 32.5, 0.5)
		see(v, tt.events...)
		before := []rune(lane(v, tt.pod))[1:]
		for n := 1; n < 10; n++ {
			later := *v.Snapshot
			later.At = v.At.Add(time.Duration(n) * time.Second)
			steady := later.Relists.History
			for i := range n {
				steady = append(steady, engine.Relist{At: noon.Add(time.Duration(i)*time.Second + 500*time.Millisecond), Took: time.Millisecond, List: time.Millisecond})
			}
			later.Relists.History, later.Relists.Count = steady, uint64(len(steady))
			u := *v
			u.Snapshot = &later
			axis := *v.Axis
			axis.Follow(later.At)
			u.Axis = &axis
			see(&u)
			after := []rune(lane(&u, tt.pod))[1:]
			if got, want := string(after[:30-n]), string(before[n:30]); got != want {
				t.Errorf("%s: after %d cells\n%s, want\n%s", tt.name, n, got, want)
			}
		}
	}
}
