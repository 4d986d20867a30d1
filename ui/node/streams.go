package node

import (
	"strconv"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/look"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/wording"
)

// streams adds the mode, the event sources and how far they agree with the relist, and
// what changed with them, the newest first; nothing where there can be none.
func (n *node) streams() {
	if len(n.Sources) == 0 {
		return
	}
	n.Section("Event sources: what they see, and what the relist does")
	n.mode()
	table, besides := look.StreamTable(n.Theme, n.Snapshot)
	if table == nil {
		n.say("event sources", n.Theme.Dim, "off; "+n.View.Keys.Keys(keymap.EventSources)+" opens one")
	}
	for _, line := range table {
		n.Line(append([]text.Span{{Width: 2}}, line...)...)
	}
	for _, said := range besides {
		n.Paragraph(said.Style, said.Text, text.Span{Width: 2})
	}
	for i := len(n.SourceChanges) - 1; i >= 0; i-- {
		c := &n.SourceChanges[i]
		state := wording.SourceState(c)
		n.say(c.At.Local().Format(time.TimeOnly), n.Theme.Text, c.Source.String()+" "+state)
	}
}

// mode adds what the kubelet makes of the runtime's event stream, with the period and the
// threshold that hold in it.
func (n *node) mode() {
	m := &n.Mode
	says := wording.ModeStands(m) + "; a relist every " + wording.Period(n.Period) + ", unhealthy after " + text.Took(n.Threshold)
	if m.Mode == pleg.Generic && !wording.FellBack(m) {
		says += "; event sources only observe"
	}
	n.say("mode", pick(wording.FellBack(m), n.Theme.Warn, n.Theme.Text), says)
	if m.Asked == pleg.Generic {
		return
	}
	says = text.Count(m.Applied) + " of " + text.Count(m.Applied+m.Ignored) + " events of the stream were acted on"
	if m.Asks > 0 {
		says += "; " + text.Count(m.Asks) + " relists of one pod asked for"
	}
	if m.Repeated > 0 {
		says += "; " + text.Count(m.Repeated) + " would be sent again by a relist"
	}
	if m.Attempts > 0 {
		says += "; " + strconv.Itoa(m.Attempts) + " of 5 attempts failed"
	}
	n.say("", n.Theme.Text, says)
}
