package options

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/plegtop/plegtop/cri/sim"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// A Page is where help is written.
type Page struct {
	Width int                          // in cells; 0 where there is no terminal
	Looks *theme.Looks[lipgloss.Style] // with what colours
}

// How wide help is, in cells: what is wider is hard to read.
const (
	usual  = 100 // where nobody knows
	least  = 60
	widest = 120
)

// Help returns what --help prints.
func (p Page) Help() string {
	var b strings.Builder
	p.row(&b, 0, "", p.Looks.Text, "plegtop is top for the kubelet's PLEG: which call on which container hangs.")
	b.WriteString("\n")
	for _, use := range [][2]string{
		{"", "the screen"},
		{" check", "one look at everything: headline, findings, exit code"},
		{" watch", "headline, events, findings and changes of health, one line each"},
		{" bench", "what each relist period and event source sees and costs, measured"},
		{" version", "the version of plegtop"},
	} {
		p.row(&b, 27, p.Looks.Key.Render("  plegtop [flags]"+use[0]), p.Looks.Text, use[1])
	}
	for _, g := range new(Options).groups() {
		b.WriteString("\n" + p.Looks.Title.Render(g.title) + "\n")
		for _, f := range g.flags {
			kind, usage := f.said()
			name := "      --" + f.name
			if f.short != "" {
				name = "  -" + f.short + ", --" + f.name
			}
			p.row(&b, 35, p.Looks.Key.Render(name)+p.Looks.Dim.Render(kind), p.Looks.Text, usage)
		}
	}
	return b.String()
}

// said returns what stands after the name of a flag, and what the flag does.
func (f flag) said() (kind, usage string) {
	switch {
	case f.kind == "":
		return "", f.usage
	case f.bare != "":
		return "[=" + f.kind + "]", fmt.Sprintf("%s (%s if none is named)", f.usage, f.bare)
	case f.preset != "":
		return " " + f.kind, fmt.Sprintf("%s (default %s)", f.usage, f.preset)
	}
	return " " + f.kind, f.usage
}

// Scenarios returns what --demo=list prints: every scenario, and what to press.
func (p Page) Scenarios() string {
	var b strings.Builder
	for _, s := range sim.Scenarios() {
		p.row(&b, 20, p.Looks.Key.Render(s.Name), p.Looks.Text, s.Summary)
		p.row(&b, 20, "", p.Looks.Dim, s.Keys)
	}
	return b.String()
}

// row writes body beside head, from cell at on.
func (p Page) row(b *strings.Builder, at int, head string, look lipgloss.Style, body string) {
	width := usual
	if p.Width > 0 {
		width = min(max(p.Width, least), widest)
	}
	body = look.Render(strings.Join(text.Wrap(body, width-at), "\n"))
	row := lipgloss.JoinHorizontal(lipgloss.Top, lipgloss.NewStyle().Width(at).Render(head), body)
	for line := range strings.Lines(row) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
}
