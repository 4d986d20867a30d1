package calls

import (
	"cmp"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/report"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/widget"
)

// sheet is all that is known of the calls of one operation.
type sheet struct {
	layer.Text
	op call.Operation
}

// An object is an item of the sheet: what a call was about.
type object struct {
	pleg.ObjectRef
	out bool // it is in flight
}

// Sheet returns the sheet of the operation that s is about; nil if it is about none.
func Sheet(_ *pane.View, s pane.Subject) pane.Pane {
	for _, op := range call.Operations() {
		if s.Operation == op.String() {
			return &sheet{op: op}
		}
	}
	return nil
}

// sheetFooter is what the footer names below a sheet, the most useful first.
var sheetFooter = []keymap.Action{
	keymap.Help, keymap.Back, keymap.Detail, keymap.Copy, keymap.Filter, keymap.Sweep, keymap.PauseRelist, keymap.Freeze,
}

// Info names the operation.
func (s *sheet) Info() pane.Info {
	return s.Titled(s.op.String(), keymap.Over|keymap.Matching, sheetFooter...)
}

// Subject returns the object under the cursor, or the operation where there is none.
func (s *sheet) Subject() pane.Subject {
	if on, ok := s.Current().(object); ok {
		return pane.Subject{ObjectRef: on.ObjectRef}
	}
	return pane.Subject{Operation: s.op.String()}
}

// Do opens the sheet of the pod under the cursor, copies its object, or scrolls.
func (s *sheet) Do(a keymap.Action, h pane.Host) (tea.Cmd, bool) {
	on := s.Subject()
	switch a {
	case keymap.Detail:
		if on.Operation != "" || !h.OpenSheet(on) {
			h.Say("no pod under the cursor")
		}
		return nil, true
	case keymap.Copy:
		return pane.Copy(h, cmp.Or(on.ID, on.Pod.Name, on.Operation)), true
	}
	return s.Text.Do(a, h)
}

// Observe writes the sheet.
func (s *sheet) Observe(v *pane.View, w, h int) {
	s.Write(v, w, h, func(d *widget.Doc) {
		form := report.Form{Theme: v.Theme, Width: max(w-widget.LabelWidth(w), 1)}
		c := v.Sums(s.op)
		all := report.Operation(form, v.Snapshot, &c)
		d.Sections(all[0])
		out := slices.DeleteFunc(slices.Clone(v.InFlight), func(f call.Flight) bool { return f.Op != s.op })
		var refs []object
		for i := range out {
			refs = append(refs, object{out[i].Object(), true})
		}
		table(d, "In flight", say.Flights(v.Theme, v.Snapshot, out), refs)
		refs = nil
		for i := range c.Slowest {
			refs = append(refs, object{c.Slowest[i].Object(), false})
		}
		d.Sections(all[1:]...)
		table(d, "Slowest objects, the longest call of each", report.Slowest(form, v.Snapshot, &c), refs)
	})
}

// table writes lines below their heads, each an item where it is about an object.
func table(d *widget.Doc, title string, lines [][]text.Span, refs []object) {
	if len(refs) == 0 {
		return
	}
	d.Section(title)
	for i, line := range lines {
		if d.End(); i > 0 && refs[i-1].Pod.UID != "" {
			d.Item(refs[i-1])
		}
		d.Line(append([]text.Span{{Width: 2}}, line...)...)
	}
	d.End()
}
