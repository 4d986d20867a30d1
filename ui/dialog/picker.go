package dialog

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// A Row is one choice of a [Picker].
type Row struct {
	Name string
	Note string // after the name, in a column of its own
	On   bool
}

// A Picker shows rows that can be switched on and off. What is typed narrows
// them down to those that contain it.
type Picker struct {
	Title string

	// Live says that switching a row acts at once: enter does the same as
	// space, and esc leaves. Otherwise enter accepts what is on, or, if nothing
	// is, the row under the cursor.
	Live bool

	rows  []Row
	shown []int // indices of rows that contain what was typed
	typed edit
	at    int // cursor, in shown
	page  int // rows that were visible last
}

// NewPicker returns a picker with the cursor on the first row that is on.
func NewPicker(title string, rows []Row, live bool) *Picker {
	p := &Picker{Title: title, Live: live, rows: slices.Clone(rows)}
	p.narrow()
	p.at = max(0, slices.IndexFunc(rows, func(r Row) bool { return r.On }))
	return p
}

// Key moves, switches, narrows down or ends. a is what the key means in
// [keymap.Global].
func (p *Picker) Key(k tea.KeyPressMsg, a keymap.Action) Answer {
	switch s := k.String(); {
	case s == "space" || s == "enter" && p.Live:
		return p.toggle()
	case s == "enter":
		return p.accept()
	case s == "ctrl+c" || s == "esc" && len(p.typed.runes) == 0:
		return Closed
	case s == "esc":
		p.typed = edit{}
		p.narrow()
		return Changed
	}
	if k.Text == "" {
		if at, ok := Move(a, p.at, len(p.shown), p.page); ok {
			p.at = at
			return Open
		}
	}
	if !p.typed.key(k) {
		return Open
	}
	p.narrow()
	return Changed
}

// Current returns the row under the cursor, and false if no row is shown.
func (p *Picker) Current() (Row, bool) {
	if p.at >= len(p.shown) {
		return Row{}, false
	}
	return p.rows[p.shown[p.at]], true
}

// On returns the names of all rows that are on, shown or not, in their order.
func (p *Picker) On() []string {
	var names []string
	for _, r := range p.rows {
		if r.On {
			names = append(names, r.Name)
		}
	}
	return names
}

func (p *Picker) toggle() Answer {
	if p.at >= len(p.shown) {
		return Open
	}
	r := &p.rows[p.shown[p.at]]
	r.On = !r.On
	return Toggled
}

func (p *Picker) accept() Answer {
	if len(p.On()) == 0 && p.toggle() == Open {
		return Open
	}
	return Accepted
}

func (p *Picker) narrow() {
	want := strings.ToLower(p.typed.String())
	under, had := p.Current()
	p.shown = p.shown[:0]
	for i, r := range p.rows {
		if strings.Contains(strings.ToLower(r.Name+" "+r.Note), want) {
			p.shown = append(p.shown, i)
		}
	}
	p.at = clamp(p.at, len(p.shown)-1)
	if had {
		p.at = max(0, slices.IndexFunc(p.shown, func(i int) bool { return p.rows[i].Name == under.Name }))
	}
}

// Lines returns h lines of exactly w cells.
func (p *Picker) Lines(w, h int, t theme.Theme) []string {
	g := newPage(w, h, t)
	g.title(p.Title, p.hint())
	g.add(func() { p.search(g) })
	p.page = max(0, h-len(g.lines))
	top := clamp(p.at-p.page/2, len(p.shown)-p.page)
	names := 0
	for _, r := range p.rows {
		names = max(names, text.Width(r.Name))
	}
	names = min(names, max(12, w/2))
	for i := top; i < len(p.shown) && i < top+p.page; i++ {
		g.add(func() { p.row(g, p.rows[p.shown[i]], i == p.at, names) })
	}
	if len(p.shown) == 0 {
		g.add(func() { g.Space(3); g.Put(g.Dim, "nothing matches; esc shows all") })
	}
	return g.full()
}

func (p *Picker) hint() string {
	if p.Live {
		return "type to search  space on/off  esc close"
	}
	return "type to search  space choose  enter show  esc close"
}

func (p *Picker) search(g *page) {
	before, under, after := p.typed.parts()
	g.Space(1)
	g.Put(g.Key, "/ ")
	g.Put(g.Input, before)
	g.Put(g.Selected, under)
	g.Put(g.Input, after)
	if n := len(p.shown); n != len(p.rows) {
		g.Put(g.Dim, "  "+strconv.Itoa(n)+" of "+strconv.Itoa(len(p.rows)))
	}
}

func (p *Picker) row(g *page, r Row, current bool, names int) {
	if current {
		g.Over(g.Selected)
	}
	box, style := "[ ]", g.Text
	if r.On {
		box, style = "[x]", g.Strong
	}
	g.Space(1)
	g.Put(style, box+" ")
	g.Cell(style, r.Name, names)
	g.Space(2)
	g.Put(g.Dim, r.Note)
	g.Space(g.Left())
}
