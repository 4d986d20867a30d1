package ui

import (
	"cmp"
	"strconv"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// A pen is what rows are drawn with.
type pen struct {
	*theme.Theme
	at time.Time // as of which ages are measured
}

// heads draws the heads of the columns, with the order in the one that sorts.
func (p *pods) heads(l *text.Line, b pen) {
	for i, c := range p.columns {
		l.Space(min(i, 1))
		col := &podColumns[c.id]
		columnHead(l, b, col.head, c.width, col.right, c.id == p.sort, p.invert)
	}
}

// columnHead draws the head of one column, with the order if its pane is sorted by
// it.
func columnHead(l *text.Line, b pen, head string, w int, right, sorts, invert bool) {
	st := b.Head
	if sorts {
		head = head[:min(len(head), max(w-1, 0))] + pick(invert, b.Symbols.Up, b.Symbols.Down)
		st = b.SortBy
	}
	if right {
		l.Right(st, head, w)
	} else {
		l.Cell(st, head, w)
	}
}

// row draws line y of those that are visible.
func (p *pods) row(l *text.Line, b pen, y int, focused bool) {
	i := p.top + y
	if i >= len(p.rows) {
		return
	}
	if i == p.cursor {
		cursorBar(l, b, focused)
	}
	for j, c := range p.columns {
		if j > 0 {
			l.Space(1)
		}
		if r := p.rows[i]; r.tree < 0 {
			p.podCell(l, b, r.info, c)
		} else {
			treeCell(l, b, r.info, r.info.tree[r.tree], c)
		}
	}
}

func cursorBar(l *text.Line, b pen, focused bool) {
	l.Over(pick(focused, b.Selected, b.Idle))
}

func (p *pods) podCell(l *text.Line, b pen, f *podInfo, c shownColumn) {
	var buf [24]byte
	switch c.id {
	case colNamespace:
		l.Cell(b.Dim, f.pod.Namespace, c.width)
	case colPod:
		p.podName(l, b, f, c.width)
	case colState:
		symbol, st := podLook(b, f)
		stateCell(l, st, symbol, f.word(b.at), c.width)
	case colReady:
		l.RightBytes(pick(f.running < f.wanted && f.state != completed, b.Warn, b.Text), appendReady(buf[:0], f.running, f.wanted, c.width), c.width)
	case colContainers:
		dots(l, b, f.now, c.width)
	case colExit:
		exitCell(l, b, f.exit, f.hasExit, c.width)
	case colRestarts:
		countCell(l, b, uint64(f.restarts), c.width)
	case colAge:
		ageCell(l, b, f.created, c.width)
	case colEvent:
		lastEvent(l, b, f.pod.LastEvent, c.width)
	case colInspect:
		if f.out != nil {
			l.Right(b.Bad, outFor(f.out.Elapsed(b.at)), c.width)
			return
		}
		tookCell(l, b, f.pod.InspectLast, f.pod.Inspected > 0, c.width)
	case colWorst:
		tookCell(l, b, f.pod.InspectWorst, f.pod.Inspected > 0, c.width)
	case colRemark:
		if f.remark == "" {
			l.Space(c.width)
			return
		}
		l.Cell(pick(f.state >= failing, b.Bad, b.Warn), f.remark, c.width)
	}
}

// appendReady appends how many containers run of those that should: in thousands
// where w cells do not hold them, and where that does not help how many run of
// more than there is room for. A figure that lost a digit would be a wrong one.
func appendReady(dst []byte, running, wanted, w int) []byte {
	r, of := strconv.Itoa(running), strconv.Itoa(wanted)
	if running >= 1000 {
		r = strconv.Itoa(running/1000) + "k"
	}
	if wanted >= 1000 && len(r)+1+len(of) > w {
		of = strconv.Itoa(wanted/1000) + "k"
	}
	if len(r)+1+len(of) > w {
		of = "+"
	}
	return append(dst, r+"/"+of...)
}

func (p *pods) podName(l *text.Line, b pen, f *podInfo, w int) {
	l.Sign(b.Dim, pick(p.open[f.pod.UID], b.Symbols.Unfolded, b.Symbols.Folded))
	l.Space(1)
	l.Name(b.Text, cmp.Or(f.pod.Name, string(f.pod.UID)), w-2)
}

func treeCell(l *text.Line, b pen, f *podInfo, r treeRow, c shownColumn) {
	switch c.id {
	case colPod:
		treeName(l, b, r, c.width)
	case colState:
		if f.hangs(r) {
			stateCell(l, b.Bad, b.Symbols.Bad, f.word(b.at), c.width)
			return
		}
		symbol, st := stateLook(b, r.state)
		stateCell(l, st, symbol, pick(r.sandbox, sandboxWord(r.state), r.state.String()), c.width)
	case colExit:
		if r.status == nil || r.status.State != pleg.Exited {
			l.Space(c.width)
			return
		}
		exitCell(l, b, r.status.ExitCode, true, c.width)
	case colRestarts:
		countCell(l, b, uint64(r.attempt), c.width)
	case colAge:
		ageCell(l, b, r.created, c.width)
	case colEvent:
		if e := f.pod.LastEvent; e.Seq > 0 && e.ID == r.id {
			lastEvent(l, b, e, c.width)
			return
		}
		l.Space(c.width)
	case colRemark:
		if f.hangs(r) {
			l.Cell(b.Bad, f.problem, c.width)
			return
		}
		l.Cell(b.Dim, r.remark(), c.width)
	default:
		l.Space(c.width)
	}
}

func treeName(l *text.Line, b pen, r treeRow, w int) {
	indent := pick(r.sandbox, 2, 4)
	l.Space(indent)
	l.Sign(b.Border, pick(r.last, b.Symbols.Last, b.Symbols.Branch))
	l.Space(1)
	if r.sandbox {
		l.Cell(b.Dim, "sandbox "+text.ShortID(r.id), w-indent-2)
		return
	}
	l.Cell(b.Text, r.name, w-indent-2)
}

// remark is why a container ended, or else what it runs.
func (r treeRow) remark() string {
	switch {
	case r.status != nil && r.status.Reason != "" && r.status.Message != "":
		return r.status.Reason + ": " + r.status.Message
	case r.status != nil && r.status.Reason != "" && r.status.Reason != "Completed":
		return r.status.Reason
	}
	return r.image
}

func sandboxWord(s pleg.State) string {
	switch s {
	case pleg.Running:
		return "ready"
	case pleg.Exited:
		return "not ready"
	}
	return s.String()
}
