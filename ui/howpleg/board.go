package howpleg

import (
	"cmp"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/story"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// A board is what the figures of all boxes are made of.
type board struct {
	*pane.View
	use      pleg.Use
	stuck    story.Place   // where a call of the relist is late; Runtime if none is
	waits    string        // for how long
	pod      pleg.PodRef   // that the call is about
	failures int           // of lists, in a row
	last     engine.Relist // the newest that has finished; zero before the first
	blocked  int           // workers

	held, failed, entries int       // pods: whose records do not move on, as inspections fail; with an error in the cache; with anything there
	asOf                  time.Time // the cache: the start of the last relist that could list, or, where the stream writes it, the newest status
}

func newBoard(v *pane.View) *board {
	b := &board{View: v, use: v.Mode.Mode.Use(v.Release), blocked: diagnose.WorkersHeld(v.Snapshot)}
	if f := diagnose.RelistCall(v.Snapshot); f != nil && diagnose.Late(v.Snapshot, *f) {
		b.stuck, b.waits, b.pod = story.Lists, text.Age(f.Elapsed(v.At)), f.Pod
		if f.ID != "" {
			b.stuck = story.Inspect
		}
	}
	if v.Failure != nil {
		b.failures = v.Failure.InRow
	}
	for _, r := range v.Relists.History {
		if b.last = r; !r.Failed {
			b.asOf = r.At
		}
	}
	for _, p := range v.Snapshot.Pods {
		b.held += theme.When(p.Failure != nil, 1, 0)
		b.failed += theme.When(p.StatusErr != nil, 1, 0)
		b.entries += theme.When(p.StatusErr != nil || p.Status != nil, 1, 0)
		if b.streamWrites() && p.StatusAt.After(b.asOf) {
			b.asOf = p.StatusAt
		}
	}
	return b
}

// These say what is blocked. A call without an answer stops the relist at its box, and all arrows up
// to that one are red.
func (b *board) inspectWaits() bool { return b.stuck == story.Inspect }
func (b *board) listsWait() bool    { return b.stuck != story.Runtime || b.failures > 0 }
func (b *board) loopHeld() bool     { return !b.Node.LoopHeld.IsZero() }
func (b *board) loopStopped() bool  { return !b.Node.LoopStopped.IsZero() && !b.loopHeld() }
func (b *board) loopStands() bool   { return b.loopHeld() || b.loopStopped() }
func (b *board) unhealthy() bool    { return b.Snapshot.Health.Verdict != "" }
func (b *board) streamWrites() bool { return b.use == pleg.StreamWrites }
func (b *board) relisted() bool     { return !b.last.At.IsZero() }
func (b *board) compared() bool     { return b.Phase.Step != engine.Listing } // else it is not known yet what has changed
func (b *board) fills() bool        { return diagnose.ChannelFills(&b.Channel) }
func (b *board) full() bool         { return b.Channel.Capacity > 0 && b.Channel.Len >= b.Channel.Capacity }

func (b *board) age() string {
	h := &b.Snapshot.Health
	return cmp.Or(when(h.ListedAt.IsZero(), "never listed"), say.Fresh(h.ListAge(b.At))+" of "+text.Took(b.Threshold))
}

// head returns the title of a box, and what it is for, which both may depend on the kubelet.
func (b *board) head(of *box) (title, about string) {
	right := b.Theme.Symbols.Right
	switch {
	case of.place == story.Ready:
		return of.title + " " + b.Release.String(), of.about
	case of.place == story.Sources && b.use == pleg.StreamWrites:
		return "cri " + right + " cache", "The runtime's stream writes cache and channel itself; the relist is the safety net."
	case of.place == story.Sources && b.use == pleg.StreamAsks:
		return "cri " + right + " lists", "An end that the runtime's stream tells asks for a relist of that pod alone."
	}
	return of.title, of.about
}

// lines returns the figures of a place, for lines of w cells, and the worst level among them.
func (b *board) lines(of story.Place, w int) (lines []text.Span, worst widget.Level) {
	if of == story.Sources {
		for i := range b.Sources {
			if k := &b.Sources[i]; k.State != engine.StreamOff {
				said := say.StreamLook(b.Theme, k)
				symbol, word, _ := strings.Cut(said.Text, " ")
				lines = append(lines, text.Say(said.Style, symbol+" "+k.Source.String()+" "+word))
			}
		}
	}
	for _, f := range figures {
		if f.place != of {
			continue
		}
		if says := f.says(b); says != "" {
			sign, st := f.level.Look(b.Theme)
			lines = append(lines, text.Say(st, strings.TrimLeft(sign+" "+says, " ")))
			worst = max(worst, f.level)
		}
	}
	if of == story.ListAge {
		lines = append(lines, b.bar(lines[0].Style, w))
	}
	return lines, worst
}

// bar shows the age of the list: it is full where PLEG becomes unhealthy.
func (b *board) bar(st theme.Style, w int) text.Span {
	full := w
	if age := b.Snapshot.Health.ListAge(b.At); age < b.Threshold {
		full = max(1, int(int64(w)*int64(age)/int64(b.Threshold)))
	}
	return text.Say(st, strings.Repeat(b.Theme.Symbols.Full, full)+strings.Repeat(b.Theme.Symbols.Empty, w-full))
}
