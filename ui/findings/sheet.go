package findings

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/finding"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/widget"
)

// sheet is about one finding. It follows that while it changes, and keeps it after its
// end, so that it can be read to its end. The cursor goes through the commands.
type sheet struct {
	layer.Text
	of    diagnose.Finding
	ended *diagnose.Ended // nil while it holds
	moved bool            // a person has moved the cursor
	said  bool            // the last key told that the cursor is on what changes the node
}

// Sheet returns the sheet of the finding that s is about; nil if it is about none.
func Sheet(v *pane.View, s pane.Subject) pane.Pane {
	if s.Finding == nil {
		return nil
	}
	d := &sheet{of: *s.Finding}
	for i := range v.Ended {
		if &v.Ended[i].Finding == s.Finding { // the like of it may hold again
			d.ended = &v.Ended[i]
		}
	}
	return d
}

// Observe brings the sheet up to date with what was found.
func (d *sheet) Observe(v *pane.View, w, h int) {
	d.follow(v)
	d.Write(v, w, h, func(doc *widget.Doc) {
		d.summary(doc)
		d.chain(doc)
		d.evidence(doc)
		d.steps(doc)
		d.subject(doc)
	})
}

// follow takes over the finding as it is now, or its end. What has ended stays so as long
// as it is among what did, though the like of it may come again.
func (d *sheet) follow(v *pane.View) {
	if e := d.ended; e != nil && slices.ContainsFunc(v.Ended, func(o diagnose.Ended) bool { return o.Key() == e.Key() && o.End.Equal(e.End) }) {
		return
	}
	if i := slices.IndexFunc(v.Findings, func(f diagnose.Finding) bool { return f.Key() == d.of.Key() }); i >= 0 {
		d.of, d.ended = v.Findings[i], nil
	} else if i := slices.IndexFunc(v.Ended, func(e diagnose.Ended) bool { return e.Key() == d.of.Key() }); i >= 0 {
		d.of, d.ended = v.Ended[i].Finding, &v.Ended[i]
	}
}

func (d *sheet) summary(doc *widget.Doc) {
	look := d.View.Theme
	symbol, st := finding.Look(look, d.of.Severity)
	doc.Paragraph(look.Strong, d.of.Summary, text.Say(st, symbol).In(2))
	if e := d.ended; e != nil {
		over := " over for " + text.AgeCoarse(d.View.At.Sub(e.End)) + ", it lasted " + text.Age(e.End.Sub(e.Began)) + "; this is the last of it"
		doc.Line(text.Say(look.Good, look.Symbols.Good+over))
	}
	d.holder(doc)
	doc.Field("because of", look.Text, string(d.of.Cause))
	doc.Field("leads to", look.Text, d.effects())
}

// holder names what holds it all up, and the command that cuts that: where a person sees
// both in the smallest window.
func (d *sheet) holder(doc *widget.Doc) {
	look := d.View.Theme
	label := func(s string) text.Span {
		return text.Say(look.Dim, s).In(min(widget.LabelWidth, max(doc.Width()/3, len("  held up by "))))
	}
	for _, l := range finding.Cuts(d.of.Chain) {
		if !d.of.IsAbout(l) {
			doc.Paragraph(look.Strong, finding.Holder(l), label("  held up by"))
		}
		with, does := label("  cut with"), l.Cut.Text
		if l.Cut.Risky {
			with, does = label("  cut with "+look.Symbols.Warn), "changes the node: "+does
		}
		if l.Cut.Command != "" {
			doc.Item(l.Cut.Command)
			doc.Paragraph(look.Key, l.Cut.Command, with)
			doc.End()
			with = label("")
		}
		doc.Paragraph(look.Dim, does, with)
	}
}

// effects lists the kinds of findings that this one explains.
func (d *sheet) effects() string {
	var out []string
	for _, f := range d.View.Findings {
		if f.Cause == d.of.ID {
			out = append(out, string(f.ID))
		}
	}
	return strings.Join(out, ", ")
}

func (d *sheet) evidence(doc *widget.Doc) {
	look := d.View.Theme
	for i, line := range d.of.Evidence {
		if i == 0 {
			doc.Section("Evidence")
		}
		doc.Paragraph(look.Text, line, text.Say(look.Dim, "  "+look.Symbols.Bullet).In(4))
	}
}

// chain adds what waits for what.
func (d *sheet) chain(doc *widget.Doc) {
	for i, p := range finding.Chain(d.View.Theme, d.of.Chain, doc.Width()-2) {
		if i == 0 {
			doc.Section("Each waits for the next")
		}
		doc.Paragraph(p.Style, p.Text, append([]text.Span{{Width: 2}}, p.Before...)...)
	}
}

// steps adds what to do next, but for what cuts the chain. A command has lines of its own, so that it can be taken
// with the mouse where the terminal has no clipboard.
func (d *sheet) steps(doc *widget.Doc) {
	look, n, cuts := d.View.Theme, 0, finding.Cuts(d.of.Chain)
	for _, step := range d.of.Next {
		if slices.ContainsFunc(cuts, func(l diagnose.Link) bool { return *l.Cut == step }) {
			continue
		}
		if n++; n == 1 {
			doc.Section("Next")
		}
		if doc.End(); step.Command != "" {
			doc.Item(step.Command)
		}
		number := text.Say(look.Dim, "  "+strconv.Itoa(n)).In(5)
		what, st := finding.Step(look, step)
		doc.Paragraph(st, what, number)
		if step.Command != "" {
			doc.Paragraph(look.Key, step.Command, text.Span{Width: number.Width})
		}
	}
	doc.End()
}

// subject adds what the finding is about, ids in full: last, as its names stand in the
// first line.
func (d *sheet) subject(doc *widget.Doc) {
	about := d.of.Subject
	if about == (diagnose.Subject{}) {
		return
	}
	name := "Subject"
	if d.of.Count > 1 {
		name += ", the first of " + strconv.Itoa(d.of.Count)
	}
	doc.Section(name)
	for _, f := range []struct{ label, text string }{
		{"call", about.Operation}, {"namespace", about.Pod.Namespace}, {"pod", about.Pod.Name}, {"uid", string(about.Pod.UID)},
		{"container", about.Container}, {"id", about.ID},
	} {
		doc.Field(f.label, d.View.Theme.Text, f.text)
	}
}

// sheetFooter is what the footer names below a sheet, the most useful first.
var sheetFooter = []keymap.Action{
	keymap.Help, keymap.Back, keymap.Copy, keymap.Detail, keymap.Filter, keymap.Sweep, keymap.Node, keymap.PauseRelist, keymap.Freeze,
}

// Info names the finding.
func (d *sheet) Info() pane.Info {
	return d.Titled("Finding: "+d.of.Severity.String()+" "+string(d.of.ID), keymap.Over|keymap.Matching, sheetFooter...)
}

// Subject returns the finding and what it is about.
func (d *sheet) Subject() pane.Subject {
	return pane.Subject{ObjectRef: d.of.Subject.ObjectRef, Finding: &d.of}
}

// Do scrolls, copies the command under the cursor, and opens the pod.
func (d *sheet) Do(a keymap.Action, h pane.Host) (tea.Cmd, bool) {
	switch a {
	case keymap.Detail:
		openSheet(h, pane.Subject{ObjectRef: d.of.Subject.ObjectRef})
	case keymap.Copy:
		return d.copy(h), true
	default:
		d.said = false
		cmd, done := d.Text.Do(a, h)
		d.moved = d.moved || done && a != keymap.Filter
		return cmd, done
	}
	return nil, true
}

// Click puts the cursor on a command.
func (d *sheet) Click(_, y int, _ pane.Host) { d.moved = d.Doc.Click(y) || d.moved }

// copy puts the command under the cursor into the clipboard, or the first safe one where
// no command is in view: a risky one only if a person has put the cursor there.
func (d *sheet) copy(h pane.Host) tea.Cmd {
	all := slices.Clone(d.of.Next)
	for _, l := range finding.Cuts(d.of.Chain) {
		all = append(all, *l.Cut)
	}
	i := slices.IndexFunc(all, func(s diagnose.Step) bool { return s.Command != "" && s.Command == d.Current() })
	switch {
	case i < 0:
		return copySafe(h, &d.of)
	case all[i].Risky && !d.moved && !d.said:
		d.said = true
		h.Say("not copied, for it changes the node; " + h.Keys(keymap.Copy) + " again copies it all the same")
		return nil
	}
	return copyStep(h, all[i].Command)
}
