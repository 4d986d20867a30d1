// Package pods is the pane of pods, the worst first, and the sheet of one pod.
package pods

import (
	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/widget"
)

// A place is what the cursor stands on, whatever line that is on.
type place struct {
	uid pleg.UID
	id  string // of a sandbox or container; empty for the pod
}

type pods struct {
	layer.TablePane[row, place]
	open  map[pleg.UID]bool // unfolded
	only  bool              // pods with a problem only
	led   bool              // the same, while the answer to what is wrong comes first
	made  uint64            // model.Pods.Changed of which the rows are, and one
	blank *widget.Doc       // in the place of the table; nil if there are pods
	about []text.Span
	mark  []text.Span
}

// New returns the pane as set wants it at the start: a column that it has not is none.
// The pane is not safe for concurrent use.
func New(set pane.Settings) pane.Pane {
	p := &pods{only: set.Problems, led: true, open: map[pleg.UID]bool{}}
	p.Name, p.Own, p.Sorts = "pods", "trouble", true
	p.Table = widget.Table[row, place]{
		Columns: columns,
		Key: func(r row) place {
			if r.part == nil {
				return place{uid: r.of.Pod.UID}
			}
			return place{r.of.Pod.UID, r.part.ID}
		},
		Parent: func(k place) place { return place{uid: k.uid} },
		Faint:  func(r row) bool { return !p.View.Pods.AsOf.IsZero() && r.of.Problem == "" },
		Idle:   true,
	}
	p.SortBy(set.Sort)
	if set.Descending {
		p.Invert()
	}
	return p
}

// footer is what the footer names, the most useful first.
var footer = []keymap.Action{
	keymap.Help, keymap.Filter, keymap.Detail, keymap.NextProblem, keymap.ProblemsOnly, keymap.PauseRelist, keymap.RelistNow, keymap.Namespaces,
	keymap.SortNext, keymap.NextPane, keymap.Fold, keymap.Freeze, keymap.Quit,
}

// Info says how much of the pods is shown, and how many have a problem.
func (p *pods) Info() pane.Info {
	wanted := p.Len() + 1
	if p.blank != nil {
		wanted = p.blank.Len()
	}
	return pane.Info{Name: "Pods", About: p.about, Mark: p.mark, Scope: keymap.Folding, Footer: footer, Least: 4, Wanted: wanted}
}

// Observe takes over the pods in their order; where there are none, what to do about that.
func (p *pods) Observe(v *pane.View, w, h int) {
	p.TablePane.Observe(v, w, h)
	p.mark = p.problems("")
	if h == 0 {
		return
	}
	p.rows()
	p.blank = p.none(w, h)
	p.entitle()
}

// rows takes over the pods that are shown, if they are others than before.
func (p *pods) rows() {
	l := p.View.Pods
	if p.made == l.Changed+1 {
		return
	}
	p.made = l.Changed + 1
	rows := make([]row, 0, len(l.Shown)+len(l.Shown)/8)
	for i, of := range l.Shown {
		open := p.open[of.Pod.UID]
		rows = append(rows, row{of: of, n: i + 1, open: open})
		if open {
			parts := of.Parts()
			for j := range parts {
				rows = append(rows, row{of: of, part: &parts[j], n: i + 1})
			}
		}
	}
	for uid := range p.open {
		if l.Find(uid) == nil {
			delete(p.open, uid)
		}
	}
	p.Set(rows)
}

// Order returns how a person wants all pods to stand.
func (p *pods) Order(v *pane.View) model.Order {
	name, invert := p.Sorted()
	o := model.Order{By: name, Invert: invert, Problems: p.only}
	if v.Led {
		o.Problems = p.led && v.Pods.Troubled > 0
	}
	if name != "" {
		pen := v.Pen()
		o.Sort = func(all []*model.Pod) {
			widget.Sort(all, func(of *model.Pod) widget.Cell { return p.Value(pen, row{of: of}) }, invert)
		}
	}
	return o
}

// Do moves the cursor, unfolds, sorts, and goes to pods with a problem.
func (p *pods) Do(a keymap.Action, h pane.Host) (tea.Cmd, bool) {
	p.rows()
	switch a {
	case keymap.Back:
		if !p.only {
			return nil, false
		}
		p.problemsOnly(h)
	case keymap.ProblemsOnly:
		p.problemsOnly(h)
	case keymap.NextProblem:
		p.problem(1, h)
	case keymap.PrevProblem:
		p.problem(-1, h)
	case keymap.Fold, keymap.Left, keymap.Right:
		p.fold(a)
	default:
		return p.TablePane.Do(a, h)
	}
	return nil, true
}

// problemsOnly leaves out the pods without a problem, or shows all again.
func (p *pods) problemsOnly(h pane.Host) {
	only := &p.only
	if p.View.Led {
		only = &p.led
	}
	if *only = !*only; p.Order(p.View).Problems {
		h.Say("pods with a problem only")
		return
	}
	h.Say("all pods")
}

// problem goes to the next pod with a problem in the direction of step, round the end;
// from one that has none first to one whose call hangs.
func (p *pods) problem(step int, h pane.Host) {
	h.Focus(p)
	ill := func(r row) bool { return r.part == nil && r.of.Problem != "" }
	hangs := func(r row) bool { return r.part == nil && r.of.Out != nil }
	here, ok := p.Current()
	switch {
	case (!ok || here.of.Problem == "") && p.Next(step, hangs):
	case p.Next(step, ill):
	case p.View.Pods.Troubled > 0:
		h.Say("the pods with a problem are not among those shown")
	default:
		h.Say("no pod has a problem")
	}
}

// fold folds or unfolds the pod under the cursor, which goes to the pod.
func (p *pods) fold(a keymap.Action) {
	r, ok := p.Current()
	if !ok {
		return
	}
	uid := r.of.Pod.UID
	if p.open[uid] = a == keymap.Right || a == keymap.Fold && !p.open[uid]; !p.open[uid] {
		delete(p.open, uid)
		p.GoTo(place{uid: uid})
	}
	p.made = 0
}

// Draw draws the heads, a row, or what stands in the place of all rows.
func (p *pods) Draw(l *text.Line, y int, focused bool) {
	if p.blank != nil {
		p.blank.Draw(l, p.View.Pen(), y, false)
		return
	}
	p.TablePane.Draw(l, y, focused)
}

// Subject returns the pod under the cursor, or a part of one that is unfolded.
func (p *pods) Subject() pane.Subject {
	r, ok := p.Current()
	switch {
	case !ok:
		return pane.Subject{}
	case r.part == nil:
		return pane.Subject{ObjectRef: pleg.ObjectRef{Pod: r.of.Pod.PodRef}}
	}
	return pane.Subject{ObjectRef: pleg.ObjectRef{ID: r.part.ID, Pod: r.of.Pod.PodRef, Container: r.part.Name, Sandbox: r.part.Sandbox}}
}

// Legend explains the columns, and the words that STATE shows.
func (p *pods) Legend() [][2]string { return append(p.TablePane.Legend(), diagnose.PodLegend()...) }
