package ui

import (
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/widget"
)

// oneMore is a pane that nobody has thought of yet.
type oneMore struct{ layer.Text }

func (o *oneMore) Info() pane.Info { return o.Titled("One more", 0) }

func (o *oneMore) Observe(v *pane.View, w, h int) {
	o.Write(v, w, h, func(d *widget.Doc) { d.Field("one", v.Theme.Text, "more") })
}
