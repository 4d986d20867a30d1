package strip

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// A Cell is what a container went through in the time of one cell.
type Cell struct {
	State   pleg.State // at its end; Absent where there was no container
	Lag     bool       // something had happened that was not seen yet
	Late    bool       // and was not seen for long
	Sight   Sight      // what could be seen of it
	ID      string     // of the container at its end; empty where there was none
	Sighted uint64     // the Seq of the event that an event source saw in it, and the relist elsewhere; 0 for none
	Event   uint64     // the Seq of the event that was made in it, the worst if there were some; 0 for none
	digit   string     // of the exit code of what ended shortly before; empty for none
	rank    uint8      // how bad Event is
}

// A Lane is what the containers of one name in one pod went through, one after the other,
// or its sandboxes. The zero Lane is empty.
type Lane struct {
	Cells []Cell
	Gone  bool // the pod is no longer listed
	Held  bool // its status hangs, and may be what the others wait for

	drawn []byte // room for one line
}

// Held reports whether the status of a container hangs, or of a sandbox where name is empty.
func Held(v *pane.View, pod pleg.UID, name string) bool {
	for _, f := range v.Findings {
		for _, s := range append(slices.Clip(f.Members), f.Subject) {
			if f.ID == diagnose.InspectHung && s.Pod.UID == pod && (s.Container == name || s.Container == "" || name == "") {
				return true
			}
		}
	}
	return false
}

// Set works out the cells: as many as there are sights. Life is all stages of the pod, as
// [model.Journal.Life] returns them, and name that of the container; empty for the sandboxes.
func (n *Lane) Set(v *pane.View, life []model.Stage, name string, sights []Sight) {
	life = stagesOf(life, name)
	n.Cells = n.Cells[:0]
	for _, s := range sights {
		n.Cells = append(n.Cells, Cell{Sight: s})
	}
	w := len(n.Cells)
	begin, _ := v.Axis.Cell(w, 0)
	state, current, filled := pleg.Absent, "", 0
	until := func(i int) {
		for ; filled < i; filled++ {
			n.Cells[filled].State, n.Cells[filled].ID = state, current
		}
	}
	for i := range life {
		s := &life[i]
		if diagnose.InFuture(s.At, v.At) {
			continue
		}
		came := -1
		if !s.At.Before(begin) {
			came = min(v.Axis.Index(w, s.At), w-1)
		}
		if s.ID == current || current == "" || s.State == pleg.Created || s.State == pleg.Running {
			until(came)
			current, state = s.ID, s.State
		}
		if s.Event > 0 && !s.AtStart {
			n.tick(v, s, came)
		}
	}
	until(w)
	for i := range life {
		if s := &life[i]; s.Event > 0 && s.ExitCode != 0 {
			n.code(s, v.Axis.Index(w, seen(s)))
		}
	}
}

// stagesOf returns those of one container.
func stagesOf(life []model.Stage, name string) []model.Stage {
	from, _ := slices.BinarySearchFunc(life, name, func(s model.Stage, name string) int { return strings.Compare(s.Container, name) })
	to := from
	for to < len(life) && life[to].Container == name {
		to++
	}
	return life[from:to]
}

// tick marks the event of a stage that came in one cell: where the relist saw it, and
// where an event source did. Where no relist has, that is its place.
func (n *Lane) tick(v *pane.View, s *model.Stage, came int) {
	at, w := seen(s), len(n.Cells)
	to, late := v.Axis.Index(w, at), diagnose.LagsBehind(at.Sub(s.At))
	for i := max(came, 0); i < min(to, w); i++ {
		n.Cells[i].Lag, n.Cells[i].Late = true, late
	}
	if sighted := v.Axis.Index(w, s.SightedAt); !s.SightedAt.IsZero() && sighted >= 0 && sighted < w {
		n.Cells[sighted].Sighted = s.Event
	}
	if to < 0 || to >= w {
		return
	}
	if c, rank := &n.Cells[to], rankOf(s); rank >= c.rank {
		c.Event, c.rank = s.Event, rank
	}
}

// seen returns when a relist saw the event of a stage, or else who saw it first.
func seen(s *model.Stage) time.Time {
	return theme.When(s.SeenAt.IsZero(), s.SightedAt, s.SeenAt)
}

// rankOf is how much an event matters among others of the same cell.
func rankOf(s *model.Stage) uint8 {
	switch {
	case s.Exited && s.ExitCode != 0:
		return 5
	case s.State == pleg.Exited:
		return 4
	case s.State == pleg.Running:
		return 3
	case s.State == pleg.Absent:
		return 2
	}
	return 1
}

// code writes the exit code of what ended behind its event, where there is room for all
// of it: a part of a number is another number.
func (n *Lane) code(s *model.Stage, seen int) {
	if seen < 0 || seen >= len(n.Cells) || n.Cells[seen].Event != s.Event {
		return
	}
	digits := strconv.Itoa(int(s.ExitCode))
	for i := range digits {
		at := seen + 1 + i
		if at >= len(n.Cells) || n.Cells[at].State != pleg.Exited || n.Cells[at].Lag || n.Cells[at].Event > 0 || n.Cells[at].Sighted > 0 {
			return
		}
	}
	for i := range digits {
		n.Cells[seen+1+i].digit = digits[i : i+1]
	}
}

// Look returns how cell i is drawn. An empty symbol is nothing.
func (n *Lane) Look(v *pane.View, i int) (symbol string, st theme.Style) {
	c, t := &n.Cells[i], v.Theme
	if c.Event > 0 {
		if r := v.Journal.Row(c.Event); r != nil {
			return say.Event(t, &r.Event)
		}
	}
	symbol, st = stateLook(t, c.State)
	switch {
	case c.Sighted > 0:
		symbol, st = t.Symbols.Sight, t.Info
	case c.digit != "":
		symbol, st = c.digit, t.Bad
	case c.Late:
		symbol, st = t.Symbols.Lag, t.Warn
	case c.Lag:
		symbol, st = t.Symbols.Lag, t.Dim
	case c.Sight == Blind:
		symbol, st = t.Symbols.Blind, theme.When(n.Held, t.Bad, t.Warn)
	case c.Sight == Paused:
		symbol, st = t.Symbols.Pause, t.Dim
	}
	if n.Gone && symbol != "" {
		st = t.Dim
	}
	return symbol, st
}

func stateLook(t *theme.Theme, s pleg.State) (symbol string, st theme.Style) {
	symbol, st = say.State(t, s)
	switch s {
	case pleg.Absent:
		symbol = ""
	case pleg.Created:
		symbol = t.Symbols.Made
	case pleg.Running:
		symbol = t.Symbols.Run
	case pleg.Exited:
		symbol = t.Symbols.Ended
	}
	return symbol, st
}

// Draw draws the lane; the cell of the cursor, if there is one, in the look of a cursor.
func (n *Lane) Draw(l *text.Line, v *pane.View, cursor int, st theme.Style) {
	for i := range n.Cells {
		symbol, look := n.Look(v, i)
		if i == cursor {
			look = st.With(look)
		}
		l.Sign(look, symbol)
	}
}

// slots returns the lane as a line of a [widget.Doc] behind its label: cells beside each other that
// look alike are one slot, and all of them parts of one string.
func (n *Lane) slots(v *pane.View, label text.Span) []text.Span {
	all := slices.Grow(n.drawn[:0], 4*len(n.Cells))
	line, ends := make([]text.Span, 1, 16), make([]int, 1, 16)
	line[0] = label
	for i := range n.Cells {
		symbol, st := n.Look(v, i)
		all = append(all, cmp.Or(symbol, " ")...)
		if last := len(line) - 1; last > 0 && line[last].Style == st {
			ends[last] = len(all)
		} else {
			line, ends = append(line, text.Span{Style: st}), append(ends, len(all))
		}
	}
	n.drawn = all
	drawn := string(all)
	for i := 1; i < len(line); i++ {
		line[i] = text.Say(line[i].Style, drawn[ends[i-1]:ends[i]])
	}
	return line
}
