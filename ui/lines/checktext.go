package lines

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
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

// headline writes the one line that a person in a hurry reads.
func (p *page) headline(u diagnose.Update) {
	h := u.Headline
	symbol, look, _ := p.severity(h.Severity)
	said := clauses(h)
	if sound(h) {
		symbol, look, said = p.look.Symbols.Good, p.look.Good, cmp.Or(said, fine(u.Snapshot))
	}
	p.put(0, look, symbol+" "+text.Clean(h.Word)+"  ", p.look.Strong, said)
}

// severity returns how a severity is shown: never by colour alone.
func (p *page) severity(s diagnose.Severity) (symbol string, look theme.Style, word string) {
	switch s {
	case diagnose.Critical:
		return p.look.Symbols.Bad, p.look.Bad, s.String()
	case diagnose.Warning:
		return p.look.Symbols.Warn, p.look.Warn, s.String()
	}
	return p.look.Symbols.Bullet, p.look.Info, s.String()
}

// findings writes all of them, each effect under its cause.
func (p *page) findings(u diagnose.Update) {
	all := u.Findings
	t := findingTree{all: all, written: make([]bool, len(all)), above: u.Headline.Text, steps: map[string]bool{}}
	for i, f := range all {
		if causeOf(all, f) < 0 {
			p.blank()
			p.finding(0, t, i)
		}
	}
	for i := range all { // only what explains itself in a circle is left
		if !t.written[i] {
			p.blank()
			p.finding(0, t, i)
		}
	}
}

// A findingTree knows which findings have been written already, and which steps.
type findingTree struct {
	all     []diagnose.Finding
	written []bool
	above   string          // the headline: a summary that is in it is not written again
	steps   map[string]bool // by their commands, or by their texts where they have none
}

// fresh returns the steps of f that have not been written yet, and counts them as
// written: what an effect calls for is often what its cause calls for.
func (t findingTree) fresh(f diagnose.Finding) []diagnose.Step {
	return slices.DeleteFunc(slices.Clone(f.Next), func(s diagnose.Step) bool {
		key := cmp.Or(s.Command, s.Text)
		known := t.steps[key]
		t.steps[key] = true
		return known
	})
}

// finding writes one, and below it what it explains.
func (p *page) finding(indent int, t findingTree, i int) {
	t.written[i] = true
	f := t.all[i]
	symbol, look, word := p.severity(f.Severity)
	summary := strings.TrimPrefix(f.Summary, strings.ReplaceAll(string(f.ID), "-", " ")+": ")
	if strings.Contains(t.above, summary) {
		summary = ""
	}
	p.put(indent, look, symbol+" "+word+" "+string(f.ID)+": ", theme.Style{}, summary)
	p.body(indent+inward, f, t.fresh(f))
	for j, effect := range t.all {
		if !t.written[j] && causeOf(t.all, effect) == i {
			p.row(indent+inward, "leads to", "")
			p.finding(indent+inward+2, t, j)
		}
	}
}

// body writes what stands under the summary of a finding.
func (p *page) body(indent int, f diagnose.Finding, next []diagnose.Step) {
	if on := name(f.Subject); on != "" {
		if id := f.Subject.ContainerID; id != "" {
			on += ", id " + short(id)
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
	for i, step := range next {
		p.step(indent, i == 0, step)
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
