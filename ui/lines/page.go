package lines

import (
	"strings"

	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// The columns of a page.
const (
	label  = 10 // cells of a label with the space after it
	inward = 4  // of what belongs to the line above
	narrow = 24 // a text is never wrapped to fewer cells, however narrow the terminal
)

// A page is the text of a check under construction. Everything put on it is
// cleaned. Lines are wrapped at its width, if it has one, and go on below where
// their text began.
type page struct {
	b     []byte
	width int         // 0: nothing is wrapped
	look  theme.Theme // without colours where there are to be none
}

func newPage(b []byte, o CheckOptions) *page {
	look := o.Theme
	if look.Symbols.Ellipsis == "" {
		look = theme.Default()
	}
	if !o.Colour {
		look = theme.Theme{Symbols: look.Symbols}
	}
	return &page{b: b, width: o.Width, look: look}
}

// row writes body, with a label before its first line.
func (p *page) row(indent int, title, body string) {
	p.put(indent, p.look.Dim, title+strings.Repeat(" ", max(label-len(title), 1)), theme.Style{}, body)
}

// rest writes body under the text of a row.
func (p *page) rest(indent int, body string) {
	p.put(indent+label, theme.Style{}, "", theme.Style{}, body)
}

// put writes body after head, each in its own look. Further lines stand under
// the body's first, or two cells in where head is too long for that.
func (p *page) put(indent int, headLook theme.Style, head string, bodyLook theme.Style, body string) {
	hang := indent + text.Width(head)
	all := []string{text.Clean(body)}
	switch {
	case p.width == 0:
	case hang <= indent+2*label:
		all = p.wrap(body, hang)
	default:
		hang = indent + 2
		all = p.wrap(head+text.Clean(body), hang)
		if rest, whole := strings.CutPrefix(all[0], head); whole {
			all[0] = rest
		} else {
			head = ""
		}
	}
	for i, line := range all {
		if i == 0 {
			p.space(indent)
			p.ink(headLook, beside(head, line))
		} else {
			p.space(hang)
		}
		p.ink(bodyLook, line)
		p.end()
	}
}

// beside returns head as it stands before body: without the space between them
// if there is no body.
func beside(head, body string) string {
	if body == "" {
		return strings.TrimRight(head, " :")
	}
	return head
}

// whole writes body in one line however long it is: a command that was broken
// in two cannot be copied.
func (p *page) whole(indent int, look theme.Style, body string) {
	p.space(indent)
	p.ink(look, text.Clean(body))
	p.end()
}

func (p *page) wrap(body string, hang int) []string {
	return text.Wrap(text.Clean(body), max(p.width-hang, narrow))
}

// ink appends what is clean already.
func (p *page) ink(look theme.Style, s string) {
	if s == "" {
		return
	}
	if p.look.Symbols.ASCII {
		s = text.PlainASCII(s)
	}
	p.b = look.Append(p.b, s)
}

func (p *page) space(n int) {
	for range n {
		p.b = append(p.b, ' ')
	}
}

// end ends a line, without the spaces that it would end with.
func (p *page) end() {
	for len(p.b) > 0 && p.b[len(p.b)-1] == ' ' {
		p.b = p.b[:len(p.b)-1]
	}
	p.b = append(p.b, '\n')
}

func (p *page) blank() { p.end() }
