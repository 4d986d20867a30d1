package lines

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/waits"
	"github.com/plegtop/plegtop/ui/finding"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// appendText appends the check for people: the headline, the findings, what was
// seen, and the table of calls.
func appendText(b []byte, u diagnose.Update, o CheckOptions) []byte {
	p := newPage(b, o)
	p.headline(u)
	p.findings(u)
	p.blank()
	p.facts(u, o)
	p.blank()
	p.calls(u.Snapshot)
	return p.b
}

// headline writes the one line that a person in a hurry reads. Where something holds it
// all up it ends with that, and has before it what comes next.
func (p *page) headline(u diagnose.Update) {
	h := u.Headline
	symbol, look := finding.HeadlineLook(&p.look, h)
	head, said := symbol+" "+text.Clean(h.Word), clauses(h)
	if last := finding.LastProven(chainOf(u.Findings)); last.Name != "" {
		if next := finding.Countdown(h); next != "" {
			head += " (" + text.Clean(next) + ")"
		}
		said = text.After(h.Word, h.Text)
		named := last.Kind == waits.Relist || last.Kind == waits.Call || // that is what hangs, and no cause
			last.Kind == waits.Kernel && last.NamedIn(said) || // with its process
			strings.Contains(said, last.Name) && (last.Kind == waits.Container || strings.Contains(said, " -> ")) // also where more follows
		if !named && !strings.HasSuffix(said, last.Name) {
			said = strings.TrimLeft(said+" -> "+last.Name, " ->")
		}
	}
	p.put(0, look, head+"  ", p.look.Strong, said)
}

// chainOf returns the chain of the first critical finding that has one.
func chainOf(all []diagnose.Finding) []diagnose.Link {
	i := slices.IndexFunc(all, func(f diagnose.Finding) bool { return f.Severity == diagnose.Critical && len(f.Chain) > 0 })
	if i < 0 {
		return nil
	}
	return all[i].Chain
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
		if id := f.Subject.ID; id != "" {
			on += ", id " + pleg.ShortID(id)
		}
		p.row(indent, "subject", on)
	}
	p.chain(indent, f, written)
	for i, line := range f.Evidence {
		if i == 0 {
			p.row(indent, "evidence", line)
			continue
		}
		p.rest(indent, line)
	}
	title := "next"
	for _, step := range f.Next {
		if key := cmp.Or(step.Command, step.Text); !written[key] {
			written[key] = true
			p.step(indent, title, step)
			title = ""
		}
	}
}

// chain writes what waits for what in one line, and unless another finding has the same,
// what cuts it, and as a tree what proves it.
func (p *page) chain(indent int, f *diagnose.Finding, written map[string]bool) {
	line := diagnose.ChainLine(f.Chain)
	if len(f.Chain) < 2 {
		return
	}
	if p.row(indent, "chain", line); written[line] {
		return
	}
	written[line] = true
	for _, l := range finding.Cuts(f.Chain) {
		written[cmp.Or(l.Cut.Command, l.Cut.Text)] = true
		p.step(indent, "cut here", *l.Cut)
	}
	w := 0
	if p.width > 0 {
		w = max(p.width-indent-label, narrow)
	}
	before := p.ink(p.look.Dim, fmt.Sprintf("%-*s", label, "proof"))
	for _, part := range finding.Chain(&p.look, f.Chain, w) {
		for _, s := range part.Before {
			before += p.ink(s.Style, text.Fit(s.Text, s.Width, ""))
		}
		p.block(indent, lipgloss.JoinHorizontal(lipgloss.Top, before, p.ink(part.Style, p.wrap(text.Clean(part.Text), indent+label+part.Indent())...)))
		before = strings.Repeat(" ", label)
	}
}

// step writes what to do next, after a title that may be empty, and the command that does
// it: in one line however long it is, for one that was broken in two cannot be copied.
func (p *page) step(indent int, title string, s diagnose.Step) {
	said, look := s.Text, theme.Style{}
	if s.Risky {
		said, look = "RISKY: "+said, p.look.Warn
	}
	title = fmt.Sprintf("%-*s", label, title)
	if said != "" {
		p.put(indent, p.look.Dim, title, look, said)
		title = strings.Repeat(" ", label)
	}
	if s.Command != "" {
		p.block(indent, p.ink(p.look.Dim, title)+p.ink(p.look.Strong, "$ "+text.Clean(s.Command)))
	}
}

// calls writes the table of calls that were made.
func (p *page) calls(s *engine.Snapshot) {
	var rows [][]string
	var trouble []bool
	for _, c := range s.Calls {
		if !made(c) {
			continue
		}
		took := []string{"-", "-", "-"}
		if c.Count > 0 {
			took = []string{text.Took(c.P50), text.Took(c.P99), text.Took(c.Max)}
		}
		rows = append(rows, slices.Concat([]string{c.Op.String(), text.Count(c.Count), text.Count(c.Errors), text.Count(c.Gone)},
			took, []string{out(s, c), text.Bytes(c.ResponseBytes)}))
		trouble = append(trouble, c.Errors > 0 || c.InFlight > 0)
	}
	p.table([]string{"call", "count", "errors", "gone", "p50", "p99", "max", "out", "bytes"}, rows, trouble)
}

// table writes rows under their heads, those in trouble in another look. The first column
// stands to the left.
func (p *page) table(head []string, rows [][]string, trouble []bool) {
	t := table.New().Border(lipgloss.Border{}).BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).
		BorderColumn(false).BorderHeader(false).Wrap(false).Headers(head...).Rows(rows...)
	p.block(0, t.StyleFunc(func(row, column int) lipgloss.Style {
		look := p.lip.Text
		switch {
		case row == table.HeaderRow:
			look = p.lip.Head
		case trouble[row]:
			look = p.lip.Warn
		}
		if column == 0 {
			return look
		}
		return look.Align(lipgloss.Right).PaddingLeft(2)
	}).Render())
}

// out says how many calls are out, and since when.
func out(s *engine.Snapshot, c answers.Calls) string {
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
	width int                         // 0: nothing is wrapped
	look  theme.Theme                 // without colours where there are to be none
	lip   theme.Looks[lipgloss.Style] // likewise
}

func newPage(b []byte, o CheckOptions) *page {
	look := o.Theme
	if look.Symbols.Ellipsis == "" {
		look = theme.Default()
	}
	if !o.Colour {
		look = theme.Theme{Symbols: look.Symbols, Lip: new(theme.Looks[lipgloss.Style])}
	}
	return &page{b: b, width: o.Width, look: look, lip: *look.Lip}
}

// row writes body, with a label before its first line.
func (p *page) row(indent int, title, body string) {
	p.put(indent, p.look.Dim, fmt.Sprintf("%-*s ", label-1, title), theme.Style{}, body)
}

// rest writes body under the text of a row.
func (p *page) rest(indent int, body string) {
	p.put(indent+label, theme.Style{}, "", theme.Style{}, body)
}

// put writes body after head, each in its own look. Further lines stand under
// the body's first, or two cells in where head is too long for that.
func (p *page) put(indent int, headLook theme.Style, head string, bodyLook theme.Style, body string) {
	body = text.Clean(body)
	if body == "" {
		head = strings.TrimRight(head, " :")
	}
	if hang := text.Width(head); p.width == 0 || hang <= 2*label {
		p.block(indent, lipgloss.JoinHorizontal(lipgloss.Top, p.ink(headLook, head), p.ink(bodyLook, p.wrap(body, indent+hang)...)))
		return
	}
	lines := p.wrap(head+body, indent+2)
	begin := p.ink(bodyLook, lines[0])
	if first, whole := strings.CutPrefix(lines[0], head); whole {
		begin = p.ink(headLook, head) + p.ink(bodyLook, first)
	}
	p.block(indent, begin)
	if len(lines) > 1 {
		p.block(indent+2, p.ink(bodyLook, lines[1:]...))
	}
}

// wrap breaks a clean text into lines that fit behind so many cells.
func (p *page) wrap(body string, hang int) []string {
	if p.width == 0 {
		return []string{body}
	}
	return text.Wrap(body, max(p.width-hang, narrow))
}

// ink returns clean lines as a block in a look.
func (p *page) ink(look theme.Style, lines ...string) string {
	var b []byte
	for i, line := range lines {
		if i > 0 {
			b = append(b, '\n')
		}
		if p.look.Symbols.ASCII {
			line = text.PlainASCII(line)
		}
		if line != "" {
			b = look.Append(b, line)
		}
	}
	return string(b)
}

// block appends lines, without the spaces that they would end with.
func (p *page) block(indent int, lines string) {
	for line := range strings.SplitSeq(lines, "\n") {
		p.b = append(p.b, strings.TrimRight(strings.Repeat(" ", indent)+line, " ")...)
		p.b = append(p.b, '\n')
	}
}

func (p *page) blank() { p.block(0, "") }
