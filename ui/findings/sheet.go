package findings

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/report"
	"github.com/plegtop/plegtop/ui/say"
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
	found := report.Found{Finding: &d.of, Ended: d.ended, At: v.At}
	for _, f := range v.Findings {
		if f.Cause == d.of.ID {
			found.LeadsTo = append(found.LeadsTo, string(f.ID))
		}
	}
	d.Write(v, w, h, func(doc *widget.Doc) {
		doc.Sections(report.Finding(report.Form{Theme: v.Theme, Width: w - 2}, found)...)
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

// copy puts the command under the cursor into the clipboard, or the first safe one where
// no command is in view: a risky one only if a person has put the cursor there.
func (d *sheet) copy(h pane.Host) tea.Cmd {
	all := slices.Clone(d.of.Next)
	for _, l := range say.Cuts(d.of.Chain) {
		all = append(all, *l.Cut)
	}
	i := slices.IndexFunc(all, func(s diagnose.Step) bool { return s.Command != "" && s.Command == d.Current() })
	switch {
	case i < 0:
		return copySafe(h, &d.of)
	case all[i].Risky() && !d.moved && !d.said:
		d.said = true
		h.Say("not copied, for it changes the node; " + h.Keys(keymap.Copy) + " again copies it all the same")
		return nil
	}
	return pane.CopyCommand(h, all[i].Command)
}
