package ui

import (
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/finding"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

func conditionLook(b pen, c condition) (symbol string, st theme.Style) {
	s := b.Symbols
	switch c {
	case running:
		return s.Running, b.Good
	case completed:
		return s.Exited, b.Dim
	case bare, exited:
		return s.Exited, b.Text
	case created:
		return s.Created, b.Info
	case unknown:
		return s.Unknown, b.Warn
	}
	return s.Bad, b.Bad
}

// podLook returns the look of a pod's state. The runtime's own words may be those
// of a sound pod while a finding knows better: then it has the finding's look.
func podLook(b pen, f *podInfo) (symbol string, st theme.Style) {
	if f.foundOnly() {
		return finding.Look(b.Theme, f.trouble.Severity)
	}
	return conditionLook(b, f.state)
}

func stateLook(b pen, state pleg.State) (symbol string, st theme.Style) {
	switch state {
	case pleg.Running:
		return b.Symbols.Running, b.Good
	case pleg.Exited:
		return b.Symbols.Exited, b.Dim
	case pleg.Created:
		return b.Symbols.Created, b.Info
	case pleg.Absent:
		return b.Symbols.Gone, b.Dim
	}
	return b.Symbols.Unknown, b.Warn
}

func stateCell(l *text.Line, st theme.Style, symbol, word string, w int) {
	kept := l.Left()
	l.Sign(st, symbol)
	l.Space(1)
	l.Put(st, word)
	l.Space(w - (kept - l.Left()))
}

// dots draws one sign for the state of each container.
func dots(l *text.Line, b pen, containers []*pleg.Container, w int) {
	for i, c := range containers {
		if i == w-1 && len(containers) > w {
			l.Put(b.Dim, "+")
			return
		}
		symbol, st := stateLook(b, c.State)
		l.Sign(st, symbol)
	}
	l.Space(w - len(containers))
}

func exitCell(l *text.Line, b pen, code int32, known bool, w int) {
	if !known {
		l.Space(w)
		return
	}
	var buf [12]byte
	l.RightBytes(pick(code != 0, b.Bad, b.Dim), strconv.AppendInt(buf[:0], int64(code), 10), w)
}

// countCell leaves zero out: it says nothing.
func countCell(l *text.Line, b pen, n uint64, w int) {
	if n == 0 {
		l.Space(w)
		return
	}
	if n < 1000 {
		var buf [4]byte
		l.RightBytes(b.Text, strconv.AppendUint(buf[:0], n, 10), w)
		return
	}
	l.Right(b.Text, text.Count(n), w)
}

func ageCell(l *text.Line, b pen, since time.Time, w int) {
	if since.IsZero() {
		l.Right(b.Dim, "-", w)
		return
	}
	var buf [16]byte
	l.RightBytes(b.Text, text.AppendAgeCoarse(buf[:0], b.at.Sub(since)), w)
}

func tookCell(l *text.Line, b pen, d time.Duration, known bool, w int) {
	if !known {
		l.Space(w)
		return
	}
	var buf [16]byte
	l.RightBytes(pick(d >= time.Second, b.Warn, b.Text), text.AppendTook(buf[:0], d), w)
}

func lastEvent(l *text.Line, b pen, e engine.Event, w int) {
	if e.Seq == 0 {
		l.Space(w)
		return
	}
	var buf [16]byte
	_, st := eventLook(b, e)
	l.Cell(st, eventWord(e.Kind), w-5)
	l.RightBytes(b.Dim, appendLately(buf[:0], b.at.Sub(e.SeenAt)), 5)
}

// appendLately appends an age that stays the same for some seconds.
func appendLately(dst []byte, d time.Duration) []byte {
	switch {
	case d < 5*time.Second:
		return append(dst, "now"...)
	case d < 10*time.Second:
		return append(dst, "5s"...)
	}
	return text.AppendAgeCoarse(dst, d)
}

// pick returns yes or no.
func pick[T any](condition bool, yes, no T) T {
	if condition {
		return yes
	}
	return no
}

// bytesPerCell is how many bytes of a text are looked at for each cell that it
// may take. Cleaning a text is what costs most, and a runtime's may be long; one
// of which a cell takes more than this on the average is no text to be read.
const bytesPerCell = 3

// clip returns as much of s as may be seen in so many cells. What is left out is
// still seen to be missing: the rest is too wide for them, but for such a text.
func clip(s string, cells int) string {
	return text.CutAt(s, (cells+1)*bytesPerCell)
}

// few breaks s into lines of w cells, at most most of them. Where something is
// left out the last ends in ellipsis.
func few(s string, w, most int, ellipsis string) []string {
	lines := text.Wrap(clip(s, w*most), w)
	if len(lines) > most {
		lines[most-1] = text.Fit(strings.Join(lines[most-1:], " "), w, ellipsis)
	}
	return lines[:min(len(lines), most)]
}

// brokenTexts keeps texts that were broken into lines, as most of them come again
// with the next snapshot. The zero value is empty.
type brokenTexts struct {
	now, was map[brokenText][]string
	ellipsis string
}

type brokenText struct {
	text  string
	width int
}

// turn begins anew: what is not asked for until the next turn is forgotten.
func (t *brokenTexts) turn() { t.now, t.was = map[brokenText][]string{}, t.now }

// few is the function of that name, for the lines of a pane.
func (t *brokenTexts) few(s string, w int) []string {
	key := brokenText{s, w}
	lines, ok := t.was[key]
	if !ok {
		lines = few(s, w, mostLines, t.ellipsis)
	}
	t.now[key] = lines
	return lines
}
