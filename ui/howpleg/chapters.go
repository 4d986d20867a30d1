package howpleg

import (
	"fmt"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/journal"
	"github.com/plegtop/plegtop/ui/look"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// steps is how many steps the way of an event has.
const steps = 6

// A chapter is what is told of one step, and where in the picture that is.
type chapter struct {
	number int // 0 for the whole picture
	title  string
	says   string
	field  string // what goes wrong there on real nodes; empty for nothing
	parts  []part
}

// lines returns the chapter w cells wide.
func (c *chapter) lines(t *theme.Theme, w int) (lines [][]text.Span) {
	title := c.title
	if c.number > 0 {
		title = fmt.Sprintf("%s %d %s", t.Symbols.Mark, c.number, c.title)
	}
	for _, s := range text.Wrap(title, max(w, 1)) {
		lines = append(lines, []text.Span{text.Say(t.Title, s)})
	}
	for _, p := range []struct {
		st   theme.Style
		said string
	}{{t.Text, c.says}, {t.Dim, c.field}} {
		if p.said == "" {
			continue
		}
		for _, s := range text.Wrap(p.said, max(w, 1)) {
			lines = append(lines, []text.Span{text.Say(p.st, s)})
		}
	}
	return lines
}

// A way is how an event came about.
type way uint8

const (
	byRelist way = iota
	byStream     // the runtime's stream wrote it
	unseen       // only an event source saw it
	derived      // from an inspection, by nobody but plegtop
)

func wayOf(r *journal.Row) way {
	switch {
	case r.Delivery == pleg.Unseen:
		return unseen
	case r.Delivery == pleg.Derived:
		return derived
	case r.Streamed:
		return byStream
	}
	return byRelist
}

// chapters returns the whole picture and the steps of an event, which may be nil.
func chapters(v *pane.View, r *journal.Row) []chapter {
	all := []chapter{overview(v, r)}
	if r == nil {
		return all
	}
	s := story{v, r}
	all = append(all, map[way]func(story) []chapter{byRelist: story.byRelist, byStream: story.byStream, unseen: story.unseen, derived: story.derived}[wayOf(r)](s)...)
	for i := range all {
		all[i].number = i
	}
	return all
}

// overview tells of the whole picture.
func overview(v *pane.View, r *journal.Row) chapter {
	c := chapter{title: "How PLEG works: the Pod Lifecycle Event Generator", says: fmt.Sprintf("Nobody tells the kubelet what its containers do: every %s it lists all of them and compares with the lists before. "+
		"A pod that differs is inspected, its status cached, its worker woken.", span(v.Period))}
	switch useOf(v) {
	case writes:
		c.says = fmt.Sprintf("In this mode the runtime tells what its containers do, and that goes straight to cache and channel. The relist, every %s, finds what the stream has lost.", span(v.Period))
	case asks:
		c.says = fmt.Sprintf("Every %s the kubelet lists all that its runtime has. What differs is inspected and cached, and wakes a worker. In this mode the runtime's stream asks for a relist of one pod as soon as it tells of an end.", span(v.Period))
	}
	next := key(v, keymap.NextStep)
	if r == nil {
		c.field = "Nothing has happened yet. With the first event " + next + " follows it step by step."
		return c
	}
	c.field = fmt.Sprintf("%s: follow %s of %s step by step; %s, %s: another event.", next, r.Kind, strings.TrimSpace(r.Pod.String()+" "+name(r)), key(v, keymap.Up), key(v, keymap.Down))
	return c
}

// key is the first of the keys that an action has.
func key(v *pane.View, a keymap.Action) string {
	first, _, _ := strings.Cut(v.Keys.Keys(a), " ")
	return first
}

// name is what in its pod an event is about.
func name(r *journal.Row) string {
	switch {
	case r.ID == "":
		return ""
	case r.Sandbox:
		return "sandbox"
	case r.Container != "":
		return r.Container
	}
	return pleg.ShortID(r.ID)
}

// thing is [name] in a sentence.
func thing(r *journal.Row) string {
	switch {
	case r.ID == "":
		return "pod"
	case r.Sandbox:
		return "sandbox"
	}
	return "container"
}

// did is what happened, in a word or two.
func did(r *journal.Row) string {
	switch {
	case r.Kind == pleg.Started:
		return "started"
	case r.Kind == pleg.Died:
		return "died"
	case r.Kind == pleg.Removed:
		return "was removed"
	case r.Kind == pleg.PodSync:
		return "is looked at again"
	case r.Kind == pleg.NetworkSetUp:
		return "has its network"
	case r.Kind == pleg.NetworkFailed:
		return "has no network"
	case r.To == pleg.Created:
		return "was created"
	}
	return "is in no known state"
}

// event is the event's name as the kubelet has it.
func event(r *journal.Row) string { return look.EventWord(r.Kind) }

// span is a period as one says it: 1s, 5m.
func span(d time.Duration) string {
	if d >= time.Minute {
		return text.Age(d)
	}
	return d.String()
}
