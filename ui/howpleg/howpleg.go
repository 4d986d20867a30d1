// Package howpleg shows how PLEG works: one picture with the figures of the engine as it runs.
package howpleg

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/widget"
)

// how is the layer.
type how struct{ layer.Text }

// New returns the layer. It is not safe for concurrent use.
func New() pane.Pane { return new(how) }

// footer is what the footer names, the most useful first.
var footer = []keymap.Action{keymap.Help, keymap.Back, keymap.Director, keymap.PauseRelist, keymap.RelistNow, keymap.Freeze}

// Info says that it stands beside the director, who shows it to others.
func (p *how) Info() pane.Info {
	i := p.Titled("How PLEG works", keymap.Over, footer...)
	i.Beside = true
	return i
}

// Observe draws the picture as the engine stands now, and below it what it shows.
func (p *how) Observe(v *pane.View, w, h int) {
	p.Write(v, w, h, func(d *widget.Doc) {
		says := fmt.Sprintf(whole[v.Mode.Mode], say.Period(v.Period))
		for _, line := range draw(v, d.Width(), max(tightHeight, h-len(text.Wrap(says, max(d.Width(), 1))))) {
			d.Line(line...)
		}
		d.Paragraph(v.Theme.Text, says)
	})
}

// Do closes the layer, or scrolls.
func (p *how) Do(a keymap.Action, h pane.Host) (tea.Cmd, bool) {
	if a == keymap.HowPLEG || a == keymap.Back {
		h.Close(p)
		return nil, true
	}
	return p.Text.Do(a, h)
}

// whole is what is said of the picture, by what the kubelet makes of the runtime's events.
var whole = [...]string{
	pleg.Generic: "The Pod Lifecycle Event Generator (PLEG) lists all containers every %s, and inspects the pods that changed. Workers sync those pods.",
	pleg.Evented: "PLEG lists all containers every %s, and inspects the pods that changed. When a container ends, the runtime's stream asks for a relist of its pod.",
}
