package ui

import (
	"github.com/plegtop/plegtop/ui/pane"
)

// From previewFrom cells on a screen shows the sheet of what the cursor is on beside the panes, which
// keep previewBeside cells and half of what more there is. What columns they lose by that the
// sheet tells. On a wide screen it stands beside the first pane, which then has a third of the lines, however few its rows are.
const (
	previewFrom   = 160
	previewBeside = 112
	previewed     = -1 // as which a box has no pane, but the preview
)

// A preview is the sheet of what the cursor is on. The keys stay with the pane.
type preview struct {
	sheet pane.Pane // nil where there is none
	of    pane.Subject
}

// same reports whether two subjects have one sheet.
func same(a, b pane.Subject) bool {
	if a.Finding != nil && b.Finding != nil && a.Finding.Key() == b.Finding.Key() {
		a.Finding, b.Finding = nil, nil
	}
	return a == b
}

// followed returns the preview of what the cursor of the focused pane is on, or else that of the
// first.
func (m *Model) followed() preview {
	if m.width < previewFrom || m.full || m.form() == tiny || m.top() != nil {
		return preview{}
	}
	for _, p := range []pane.Pane{m.panes[m.focus], m.panes[0]} {
		of := p.Subject()
		if m.preview.sheet != nil && same(of, m.preview.of) {
			return m.preview
		}
		if sheet := m.sheetOf(of); sheet != nil {
			return preview{sheet, of}
		}
	}
	return preview{}
}

// showPreview gives the preview the view, once the panes know what their cursors are on.
func (m *Model) showPreview() {
	b := m.layout.find(previewed)
	if b == nil {
		return
	}
	if now := m.followed(); now.sheet != nil {
		m.preview = now
	}
	m.preview.sheet.Observe(&m.view, b.w-2, b.h-1)
}

// beside is how wide the panes are that the preview stands beside.
func (m *Model) beside() int {
	if m.preview.sheet == nil {
		return m.width
	}
	return previewBeside + (m.width-previewFrom)/2
}

// placePreview puts the preview into what is left beside the panes.
func (m *Model) placePreview(l *layout) {
	w := m.beside()
	if w == m.width || len(l.boxes) == 0 {
		return
	}
	b := box{pane: previewed, x: w + 1, y: l.body, w: m.width - w - 1, h: l.lines}
	if m.form() == wide {
		b.h = l.boxes[0].h
	}
	l.boxes = append(l.boxes, b)
}

// in returns the pane in a box.
func (m *Model) in(b box) pane.Pane {
	if b.pane == previewed {
		return m.preview.sheet
	}
	return m.panes[b.pane]
}
