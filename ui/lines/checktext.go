package lines

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/finding"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// appendText appends the check for people: the headline, the findings, what was
// seen, and the table of calls.
func appendText(b []byte, u diagnose.Update, o CheckOptions) []byte {
	p := newPage(b, o)
	p.headline(u.Headline)
	p.findings(u)
	p.blank()
	p.facts(u, o)
	p.blank()
	p.calls(u.Snapshot)
	return p.b
}

// headline writes the one line that a person in a hurry reads.
func (p *page) headline(h diagnose.Headline) {
	symbol, look := finding.HeadlineLook(&p.look, h)
	p.put(0, look, symbol+" "+text.Clean(h.Word)+"  ", p.look.Strong, clauses(h))
}

// findings writes all of them, each effect under its cause. A summary that the
// headline holds is not written again, and neither is a step: what an effect calls
// for is often what its cause calls for.
func (p *page) findings(u diagnose.Update) {
	written := map[string]bool{} // steps, by their commands, or by their texts where they have none
	for _, r := range finding.Tree(u.Findings) {
		indent := r.Depth * (inward + 2)
		if r.Depth == 0 {
			p.blank()
		} else {
			p.row(indent-2, "leads to", "")
		}
		symbol, look := finding.Look(&p.look, r.Severity)
		summary := finding.Summary(r.Finding)
		if strings.Contains(u.Headline.Text, summary) {
			summary = ""
		}
		p.put(indent, look, symbol+" "+r.Severity.String()+" "+string(r.ID)+": ", theme.Style{}, summary)
		p.body(indent+inward, r.Finding, written)
	}
}

// body writes what stands under the summary of a finding.
func (p *page) body(indent int, f *diagnose.Finding, written map[string]bool) {
	if on := finding.Subject(f.Subject); on != "" {
		if id := f.Subject.ContainerID; id != "" {
			on += ", id " + text.ShortID(id)
		}
		p.row(indent, "subject", on)
	}
	for i, line := range f.Evidence {
		if i == 0 {
			p.row(indent, "evidence", line)
			continue
		}
		p.rest(indent, line)
	}
	first := true
	for _, step := range f.Next {
		if key := cmp.Or(step.Command, step.Text); !written[key] {
			written[key] = true
			p.step(indent, first, step)
			first = false
		}
	}
}

// step writes what to do next, and the command that does it.
func (p *page) step(indent int, first bool, s diagnose.Step) {
	title, look := "", theme.Style{}
	if first {
		title = "next"
	}
	said := s.Text
	if s.Risky {
		said, look = "RISKY: "+said, p.look.Warn
	}
	head := title + strings.Repeat(" ", label-len(title))
	if said != "" {
		p.put(indent, p.look.Dim, head, look, said)
		head = strings.Repeat(" ", label)
	}
	if s.Command != "" {
		p.space(indent)
		p.ink(p.look.Dim, head)
		p.whole(0, p.look.Strong, "$ "+s.Command)
	}
}

// calls writes the table of calls that were made.
func (p *page) calls(s *engine.Snapshot) {
	const row = "%-17s %6s %6s %6s  %6s %6s %6s  %7s %6s"
	p.whole(0, p.look.Head, fmt.Sprintf(row, "call", "count", "errors", "gone", "p50", "p99", "max", "out", "bytes"))
	for _, c := range s.Calls {
		if !made(c) {
			continue
		}
		took := func(figure string) string {
			if c.Count == 0 {
				return "-"
			}
			return figure
		}
		look := theme.Style{}
		if c.Errors > 0 || c.InFlight > 0 {
			look = p.look.Warn
		}
		p.whole(0, look, fmt.Sprintf(row, c.Op, text.Count(c.Count), text.Count(c.Errors), text.Count(c.Gone),
			took(text.Took(c.P50)), took(text.Took(c.P99)), took(text.Took(c.Max)), out(s, c), text.Bytes(c.ResponseBytes)))
	}
}

// out says how many calls are out, and since when.
func out(s *engine.Snapshot, c engine.Calls) string {
	if c.InFlight == 0 {
		return "-"
	}
	return fmt.Sprintf("%d, %s", c.InFlight, text.Age(oldest(s, c.Op)))
}

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
