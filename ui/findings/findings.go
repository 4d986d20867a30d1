// Package findings is the pane of what is wrong, causes before their effects, and the
// sheet of one finding with what to do next.
package findings

import (
	"slices"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// findings is the pane: one row for each finding, of as many lines as its summary
// takes, and below it one for each of those that it sums up, if it is unfolded.
type findings struct {
	layer.TablePane[*row, place]
	width int
	since time.Time    // when the texts that are shown were taken over
	theme *theme.Theme // of those texts: that of a view may change
	head  string       // the headline then
	open  map[diagnose.Key]bool
}

// New returns the pane. It is not safe for concurrent use.
func New(pane.Settings) pane.Pane {
	f := &findings{open: map[diagnose.Key]bool{}}
	f.Name = "findings"
	f.Table = widget.Table[*row, place]{
		Columns: f.columns(),
		Key:     (*row).place,
		Parent:  func(k place) place { return place{key: k.key, ended: k.ended} },
		Skips:   func(r *row) bool { return r.Finding == nil || r.chain },
		Whole:   f.whole,
		Below:   func(r *row) [][]text.Span { return r.below },
	}
	return f
}

// textsKept is for how long the texts of findings stay as they are while the
// findings and the headline are the same: the figures in them change with every snapshot.
// An age that the headline has as well changes with that.
const textsKept = time.Second

// Observe takes over what was found. The cursor stays on its finding once a person has
// put it there, and on its row if that has gone; until then it is on the worst, and again
// if that becomes another one while nobody sees it.
func (f *findings) Observe(v *pane.View, w, h int) {
	was, rows, age := f.Rows(), f.list(v), v.At.Sub(f.since)
	same := v.Theme == f.theme && w == f.width && v.Headline.Text == f.head && slices.EqualFunc(was, rows, (*row).alike)
	f.View, f.width = v, w
	f.Resize(v.Pen(), w, h)
	if h == 0 && rowAt(rows, 0).place() != rowAt(was, 0).place() {
		f.Table.Do(keymap.Top)
	}
	if same && age >= 0 && age < textsKept {
		for i, r := range rows {
			r.first, r.whole, r.below = was[i].first, was[i].whole, was[i].below
		}
	} else {
		f.since, f.theme, f.head = v.At, v.Theme, v.Headline.Text
		f.write(rows)
	}
	f.Set(rows)
}

// footer is what the footer names, the most useful first.
var footer = []keymap.Action{
	keymap.Help, keymap.Detail, keymap.Copy, keymap.Fold, keymap.Sweep, keymap.Node, keymap.PauseRelist, keymap.RelistNow, keymap.NextPane,
	keymap.FullScreen, keymap.Freeze, keymap.Quit,
}

// Info says how many findings there are of what severity.
func (f *findings) Info() pane.Info {
	info := pane.Info{Name: "Findings", Scope: keymap.Folding, Footer: footer, Least: 2, Wanted: 1 + f.Lines(), Tells: true}
	if f.View == nil {
		return info
	}
	look := f.View.Theme
	for _, s := range []diagnose.Severity{diagnose.Critical, diagnose.Warning, diagnose.Info} {
		n := 0
		for i := range f.View.Findings {
			if f.View.Findings[i].Severity == s {
				n++
			}
		}
		if n == 0 {
			continue
		}
		symbol, st := say.SeverityLook(look, s)
		few := symbol + strconv.Itoa(n)
		if info.Mark == nil {
			info.Mark = []text.Span{text.Say(st, few)}
		}
		info.About = append(info.About, text.Say(st, few+" "+s.String()))
	}
	if info.About == nil {
		info.About = []text.Span{text.Say(look.Dim, "none")}
	}
	return info
}

// Subject returns the finding under the cursor and what it is about; below one that is
// unfolded, one of those that it sums up.
func (f *findings) Subject() pane.Subject {
	r := f.current()
	s := pane.Subject{ObjectRef: r.about().ObjectRef}
	if r.one == nil {
		s.Finding = r.Finding
	}
	return s
}

// current returns the row under the cursor; it is of no finding if there is none.
func (f *findings) current() *row { return rowAt(f.Rows(), f.Cursor()) }

// Do moves the cursor, unfolds, opens and copies.
func (f *findings) Do(a keymap.Action, h pane.Host) (tea.Cmd, bool) {
	switch r := f.current(); a {
	case keymap.Fold, keymap.Left, keymap.Right:
		f.fold(r, a, h)
	case keymap.Detail:
		if r.Finding == nil {
			h.Say("no finding is under the cursor")
			break
		}
		openSheet(h, f.Subject())
	case keymap.Copy:
		return f.copy(r, h), true
	case keymap.SortNext, keymap.SortPrev, keymap.SortInvert:
		h.Say("findings stay in the order of their causes")
	default:
		return f.TablePane.Do(a, h)
	}
	return nil, true
}

// openSheet opens the sheet of a finding, or of the pod that it is about.
func openSheet(h pane.Host, s pane.Subject) {
	switch {
	case s.Finding == nil && s.Pod.UID == "":
		h.Say("this finding is about no pod")
	case !h.OpenSheet(s):
		h.Say(s.Pod.String() + " has gone")
	}
}

// fold shows those that a finding sums up, or hides them.
func (f *findings) fold(r *row, a keymap.Action, h pane.Host) {
	if r.Finding == nil || !r.folds() {
		if a == keymap.Fold {
			h.Say("nothing to unfold here")
		}
		return
	}
	open := a == keymap.Right || a == keymap.Fold && !r.open
	if f.open[r.Key()] = open; !open {
		f.GoTo(f.Parent(r.place()))
	}
}

// copy puts the next safe command of a finding into the clipboard; of one that it sums
// up, the name.
func (f *findings) copy(r *row, h pane.Host) tea.Cmd {
	switch {
	case r.one != nil:
		return pane.Copy(h, r.one.Pod.Name)
	case r.Finding == nil:
		return pane.Copy(h, "")
	}
	return copySafe(h, r.Finding)
}

// copySafe copies the first command that is safe.
func copySafe(h pane.Host, of *diagnose.Finding) tea.Cmd {
	for _, s := range of.Next {
		if s.Looks() {
			return pane.CopyCommand(h, s.Command)
		}
	}
	h.Say("no safe command to copy here")
	return nil
}

// Draw draws the heads, or what is there in the place of findings, and the rows.
func (f *findings) Draw(l *text.Line, y int, focused bool) {
	if y == 0 && len(f.View.Findings) == 0 {
		none := f.nothing()
		l.Put(none.Style, none.Text)
		return
	}
	f.Table.Draw(l, f.View.Pen(), y, focused)
}

// nothing says what a person sees in the place of findings when there are none.
func (f *findings) nothing() text.Span {
	v, look := f.View, f.View.Theme
	switch {
	case v.Seq == 0:
		return text.Say(look.Dim, "waiting for the first list")
	case v.Paused:
		return text.Say(look.Warn, "paused: not judged")
	case say.Sweeping(v.Snapshot):
		return text.Say(look.Text, "no findings so far; "+say.SweepProgress(v.Sweep))
	case !v.Headline.Sound():
		return text.Say(look.Text, "no findings yet")
	}
	none := look.Symbols.Good + " No findings"
	if v.Past == "" {
		none += ". " + v.Keys.Keys(keymap.Sweep) + " checks every container"
	}
	return text.Say(look.Good, none)
}
