package strip

import (
	"regexp"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/pane"

	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// at returns a moment so many seconds before noon.
func at(seconds float64) time.Time { return noon.Add(-time.Duration(seconds * float64(time.Second))) }

func secs(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// viewAt returns a view at a moment of a node with these pods. Cells of a strip of 30 are
// one second; the newest is that of noon.
func viewAt(now time.Time, th theme.Theme) *pane.View {
	s := &engine.Snapshot{At: now, Started: at(33), Period: time.Second, Threshold: 3 * time.Minute}
	v := &pane.View{Snapshot: s, Latest: s, Theme: &th, Pods: &model.Pods{}, Journal: model.NewJournal(1000), Axis: &widget.Axis{Width: 30 * time.Second}}
	v.Axis.Follow(now)
	return v
}

// see has the journal observe the view's snapshot.
func see(v *pane.View, events ...engine.Event) {
	v.Journal.Observe(engine.Update{Snapshot: v.Snapshot, Events: events})
}

// relists are relists that began so many seconds before noon and took so long.
func relists(v *pane.View, all ...[2]float64) {
	for _, r := range all {
		v.Relists.Count++
		v.Relists.History = append(v.Relists.History, engine.Relist{At: at(r[0]), Took: secs(r[1]), List: min(secs(r[1]), 10*time.Millisecond)})
	}
}

// steady are quick relists, one a second, from one moment to another.
func steady(v *pane.View, from, to float64) {
	for ; from >= to; from-- {
		relists(v, [2]float64{from, 0.01})
	}
}

// pause has the journal see a pause.
func pause(v *pane.View, from, to float64) {
	now := v.Snapshot
	for _, s := range []float64{from, to} {
		v.Snapshot = &engine.Snapshot{At: at(s), Started: now.Started, Paused: s == from, Resumed: at(s)}
		see(v)
	}
	v.Snapshot = now
}

var looks = regexp.MustCompile("\x1b\\[[0-9;:]*m")

// drawn returns what is drawn in w cells, without looks, framed.
func drawn(v *pane.View, w int, draw func(l *text.Line)) string {
	var l text.Line
	l.Begin(w)
	draw(&l)
	l.End()
	return "|" + looks.ReplaceAllString(string(l.Buf), "") + "|"
}

func TestRelists(t *testing.T) {
	run := func(began, list float64) func(*pane.View) {
		return func(v *pane.View) {
			v.Phase = engine.Phase{Step: engine.Inspecting, Began: at(began), ListTook: secs(list)}
		}
	}
	for _, tt := range []struct {
		name  string
		story func(v *pane.View)
		want  string
		plain string
	}{
		{"nothing before the start", func(v *pane.View) { steady(v, 4.5, 0.5) }, "|                         ▁▁▁▁▁|", "|                         _____|"},
		{"a wait that can be seen", func(v *pane.View) { relists(v, [2]float64{19.5, 0.01}, [2]float64{9.5, 0.01}); steady(v, 1.5, 0.5) }, "|          ▁         ▁       ▁▁|", "|          _         _       __|"},
		{"a long one climbs at its true length", func(v *pane.View) { steady(v, 22.5, 20.5); relists(v, [2]float64{19.9, 14}); steady(v, 4.9, 0.9) }, "|       ▁▁▁▄▅▅▆▆▆▆▆▆▆▇▇▇▇▇▁▁▁▁▁|", "|       ___-==+++++++*****_____|"},
		{"one under way", func(v *pane.View) { steady(v, 22.5, 12.5); run(11.9, 0.01)(v) }, "|       ▁▁▁▁▁▁▁▁▁▁▁▄▅▅▆▆▆▆▆▆▆▇▇|", "|       ___________-==+++++++**|"},
		{"one that fails", func(v *pane.View) {
			steady(v, 22.5, 12.5)
			relists(v, [2]float64{11.9, 8})
			v.Relists.History[len(v.Relists.History)-1].Failed = true
			steady(v, 2.9, 0.9)
		}, "|       ▁▁▁▁▁▁▁▁▁▁▁▄▅▅▆▆▆▆▆✕▁▁▁|", "|       ___________-==+++++x___|"},
		{"an inspection that fails", func(v *pane.View) {
			relists(v, [2]float64{4.9, 2.5})
			v.Relists.History[0].Failures = 1
		}, "|                         ▄▅%  |", "|                         -=%  |"},
		{"one in three fails", func(v *pane.View) {
			steady(v, 89.5, 0.5)
			for i := range v.Relists.History {
				v.Relists.History[i].Failed = i%3 == 0
			}
		}, "|✕▁▁✕▁▁✕▁▁✕▁▁✕▁▁✕▁▁✕▁▁✕▁▁✕▁▁✕▁▁|", "|x__x__x__x__x__x__x__x__x__x__|"},
		{"one past the threshold", func(v *pane.View) { run(190, 0.01)(v); v.Threshold = 170 * time.Second }, "|      ▆▇▇██████████████████▲▲▲|", "|      +**##################!!!|"},
		{"lists that fail until the last good one is too old", func(v *pane.View) {
			relists(v, [2]float64{40, 0.01}, [2]float64{28.9, 10.5}, [2]float64{17.9, 17})
			v.Relists.History[1].Failed, v.Relists.History[2].Failed = true, true
			v.Threshold = 30 * time.Second
			v.Phase = engine.Phase{Step: engine.Listing, Began: at(0.5)}
		}, "|          ▁    ▄▅▆▆▆✕▅▆▆▲▲▲▲▲✕|", "|          _    -=+++x=++!!!!!x|"},
		{"a pause makes no list old", func(v *pane.View) {
			steady(v, 65, 60)
			pause(v, 58, 3)
			v.Threshold = 30 * time.Second
			v.Phase = engine.Phase{Step: engine.Listing, Began: at(2.5)}
		}, "|             ▁▁▁║║║║║║║║║║║║║▅|", "|             ___|||||||||||||=|"},
		{"a pause", func(v *pane.View) {
			steady(v, 22.5, 15.5)
			pause(v, 15, 6)
			steady(v, 5.5, 0.5)
		}, "|       ▁▁▁▁▁▁▁▁║║║║║║║║║▁▁▁▁▁▁|", "|       ________|||||||||______|"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, th := range []theme.Theme{theme.Default(), theme.Default().Plain()} {
				v := viewAt(noon, th)
				v.Axis.End = at(0.1)
				v.Axis.Follow(at(0.1))
				v.Snapshot.At = at(0.1)
				tt.story(v)
				see(v)
				want := tt.want
				if th.Symbols.ASCII {
					want = tt.plain
				}
				if got := drawn(v, 30, func(l *text.Line) { Relists(l, v, 30) }); got != want {
					t.Errorf("drew\n%s, want\n%s", got, want)
				}
			}
		})
	}
}

// A strip is drawn with each frame, also where it shows half an hour of relists.
func TestRelistsTakeNoMemory(t *testing.T) {
	v := viewAt(noon, theme.Default())
	v.Axis.Width = 30 * time.Minute
	steady(v, 1800.5, 1.5)
	v.Phase = engine.Phase{Step: engine.Listing, Began: at(0.5)}
	see(v)
	var l text.Line
	if n := testing.AllocsPerRun(100, func() {
		l.Buf = l.Buf[:0]
		l.Begin(100)
		Relists(&l, v, 100)
	}); n > 4 {
		t.Errorf("%v allocations a frame", n)
	}
}
