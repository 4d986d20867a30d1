package strip

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/widget"
)

// Names appends the containers of a pod that have a lane: those that it has, by name, and
// then those that it had in the time of the axis.
func Names(v *pane.View, p *model.Pod, dst []string) []string {
	for _, c := range p.Now {
		dst = append(dst, c.Name)
	}
	begin := v.Axis.End.Add(-v.Axis.Width)
	var had []*model.Row
	for name, r := range v.Journal.Containers(p.Pod.UID) {
		if !r.SeenAt.Before(begin) && !has(p, name) {
			had = append(had, r)
		}
	}
	slices.SortFunc(had, func(a, b *model.Row) int { return cmp.Compare(b.Seq, a.Seq) })
	for _, r := range had[:min(len(had), namesMost)] {
		dst = append(dst, r.Container)
	}
	return dst
}

// namesMost is how many containers that a pod had are named: no person gave names to more of them.
const namesMost = 100

func has(p *model.Pod, name string) bool {
	_, found := slices.BinarySearchFunc(p.Now, name, func(c *pleg.Container, name string) int { return strings.Compare(c.Name, name) })
	return found
}

// mostLanes is how many lanes the sheet of a pod shows.
const mostLanes = 100

// A Story is what a pod went through, worked out anew only when that has changed. The zero
// Story is of no pod.
type Story struct {
	pod    *engine.Pod
	newest uint64 // the Seq of the pod's newest event
	stages []model.Stage
}

// Of returns the stages of p, which may have gone: see [model.Journal.Life].
func (s *Story) Of(j *model.Journal, p *engine.Pod) []model.Stage {
	if newest := j.Newest(p.UID); s.pod != p || s.newest != newest {
		*s = Story{p, newest, j.Life(p.UID, p)}
	}
	return s.stages
}

// Lanes returns what a pod went through as lines of a [widget.Doc] of w cells: the scale
// of time, its sandboxes, and each of its containers. Line makes a line when it is drawn,
// from the view as it was when Lanes was called. P may be a pod that has gone.
func (s *Story) Lanes(v *pane.View, p *model.Pod, w int) (n int, line func(i int) []text.Span) {
	room := max(w-widget.LabelWidth(w), 1)
	life := s.Of(v.Journal, p.Pod)
	names := Names(v, p, []string{""})
	names = names[:min(len(names), mostLanes)]
	sights := Sights(v, room, nil)
	lane := Lane{Gone: v.Journal.Gone(p.Pod.UID) != nil} // one for all lines, for its room
	return len(names) + 1, func(i int) []text.Span {
		if i == 0 {
			return []text.Span{{Width: widget.LabelWidth(w)}, text.Say(v.Theme.Dim, v.Axis.Ago(room))}
		}
		lane.Held = Held(v, p.Pod.UID, names[i-1])
		lane.Set(v, life, names[i-1], sights)
		label := "  " + cmp.Or(names[i-1], "sandbox")
		return lane.slots(v, text.Say(v.Theme.Dim, label).In(widget.LabelWidth(w)))
	}
}
