package pods

import (
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/widget"
)

// none returns what a person sees in the place of the pods when there are none: what is
// going on, what comes next, and what to type. It returns nil if there are pods.
func (p *pods) none(w, h int) *widget.Doc {
	if p.Len() > 0 {
		return nil
	}
	write := p.noMatch
	switch {
	case p.View.Snapshot.Pods == nil:
		write = p.unlisted
	case len(p.View.Snapshot.Pods) == 0:
		write = p.empty
	}
	d := new(widget.Doc)
	d.Write(p.View.Pen(), w, h, write)
	return d
}

func (p *pods) empty(d *widget.Doc) {
	t := p.View.Theme
	d.Line(text.Say(t.Strong, "No pods on this node"))
	d.Line()
	d.Paragraph(t.Text, "The runtime answers, and lists no sandbox and no container.")
	d.Paragraph(t.Dim, "Pods appear here with the relist that first lists them.")
}

// unlisted says why there is no list yet, what comes next, and what to type.
func (p *pods) unlisted(d *widget.Doc) {
	v, t := p.View, p.View.Theme
	d.Line(text.Say(t.Strong, "No list yet"))
	d.Line()
	if f := v.Failure; f != nil {
		d.Paragraph(t.Text, text.Clip(say.Failure(v.Snapshot, f), 4*d.Width()))
	}
	d.Paragraph(t.Text, p.next())
	d.Paragraph(t.Dim, v.Source.Endpoint)
	if !v.Headline.Sound() && v.Seq > 0 {
		d.Line()
		p.advice(d)
	}
}

// next says what a list that is not there waits for.
func (p *pods) next() string {
	s, keys, past := p.View.Snapshot, p.View.Keys, p.View.Past != ""
	switch f := diagnose.RelistCall(s); {
	case s.Paused && past:
		return "The relist is paused."
	case s.Paused:
		return "The relist is paused: " + keys.Keys(keymap.PauseRelist) + " resumes it, " + keys.Keys(keymap.RelistNow) + " relists once."
	case f != nil:
		return f.Op.String() + ": no reply for " + say.OutFor(f.Elapsed(s.At)) + "; it is given up after " + text.Took(s.Timeout) + "."
	case s.Seq == 0:
		return "Waiting for the first one."
	case past:
		return "Tried again every " + say.Period(s.Period) + "."
	}
	return "Tried again every " + say.Period(s.Period) + "; " + keys.Keys(keymap.RelistNow) + " tries now."
}

// advice names commands to look into it: those of what was found, each once.
func (p *pods) advice(d *widget.Doc) {
	t := p.View.Theme
	d.Line(text.Say(t.Dim, "To look into it:"))
	var all []string
	for _, f := range p.View.Findings {
		for _, step := range f.Next {
			if step.Looks() && !slices.Contains(all, step.Command) {
				all = append(all, step.Command)
			}
		}
	}
	if all == nil {
		all = []string{"crictl -r " + p.View.Source.Endpoint + " version"}
	}
	for _, command := range all {
		d.Line(text.Say(t.Key, "  "+command))
	}
	d.Paragraph(t.Dim, "plegtop shows the pods as soon as the runtime lists them.")
}

func (p *pods) noMatch(d *widget.Doc) {
	v, t := p.View, p.View.Theme
	d.Line(text.Say(t.Strong, "No pod matches"))
	d.Line()
	say := func(what string, a keymap.Action, does string) {
		d.Paragraph(t.Text, what+"   ("+p.View.Keys.Keys(a)+" "+does+")")
	}
	if f := v.Filter.Text; f != "" {
		say("filter      "+f, keymap.Back, "drops it")
	}
	if ns := v.Filter.Namespaces; len(ns) > 0 {
		say("namespaces  "+strings.Join(ns, " "), keymap.AllNamespaces, "shows all")
	}
	if v.Pods.ProblemsOnly() {
		say("problems only: none of "+text.Count(uint64(v.Pods.Len()))+" pods has one", keymap.ProblemsOnly, "shows all")
	}
}
