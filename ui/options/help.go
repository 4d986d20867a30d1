package options

import (
	"fmt"

	"github.com/plegtop/plegtop/cri/sim"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// A Page is where help is written.
type Page struct {
	Width int // in cells; 0 where there is no terminal
	Theme *theme.Theme
}

// Page returns the page of a terminal with that COLORFGBG. Call it only for help: to compile looks
// takes longer than all else at the start.
func (o Options) Page(width int, colorfgbg string) Page {
	look := o.Look(colorfgbg)
	return Page{Width: width, Theme: &look}
}

// How wide help is, in cells: what is wider is hard to read.
const (
	usual  = 100 // where nobody knows
	least  = 60
	widest = 120

	scenarioWidth = 20 // cells of its name, with the gap after it
)

// uses are the ways to call plegtop, and what each shows.
var uses = [][2]string{
	{"", "the screen"},
	{" check", "one look at everything: headline, findings, exit code"},
	{" watch", "headline, events, findings and changes of health, one line each"},
	{" record", "no screen: all that happens is written to a file, which --replay shows"},
	{" serve", "no screen: metrics for Prometheus, and what check says, over HTTP"},
	{" bench", "what each relist period and event source sees and costs, measured"},
	{" explain ID", "what a finding means, where it comes from, what checks it and what ends it"},
	{" completion", "bash, zsh, fish: what makes that shell complete all of this; man: the manual page"},
	{" version", "the version of plegtop; -o json: what it was built from"},
}

// about says in a line what plegtop is.
const about = "top for the kubelet's PLEG: which call on which container hangs"

// Help returns what --help prints.
func (p Page) Help() string {
	how := widget.Section{}
	for _, use := range uses {
		how.Add(p.row(30, "  plegtop [flags]"+use[0], "", use[1]))
	}
	all := []widget.Section{how}
	for _, g := range new(Options).groups() {
		flags := widget.Section{Title: g.title}
		for _, f := range g.flags {
			kind, usage := f.said()
			name := "      --" + f.name
			if f.short != "" {
				name = "  -" + f.short + ", --" + f.name
			}
			flags.Add(p.row(35, name, kind, usage))
		}
		all = append(all, flags)
	}
	return p.print(func(d *widget.Doc) {
		d.Paragraph(p.Theme.Text, "plegtop is "+about+".")
		d.Line()
		d.Sections(all...)
	})
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
	var all widget.Section
	for _, s := range sim.Scenarios() {
		all.Add(p.row(scenarioWidth, s.Name, "", s.Summary), widget.Fact("", widget.Quiet, s.Keys))
	}
	return p.print(func(d *widget.Doc) { d.Sections(all) })
}

// row returns a row with what is said from a cell on, beside a name and its kind.
func (p Page) row(from int, name, kind, said string) widget.Row {
	return widget.Row{
		Mark:  text.Say(p.Theme.Key, name),
		Spans: []text.Span{text.Say(p.Theme.Dim, kind).In(from - text.Width(name)), text.Say(p.Theme.Text, said)},
	}
}

func (p Page) print(write func(d *widget.Doc)) string {
	width := usual
	if p.Width > 0 {
		width = min(max(p.Width, least), widest)
	}
	d := widget.Doc{Labels: scenarioWidth}
	d.Write(widget.Pen{Theme: p.Theme}, width, 0, write)
	return string(d.Append(nil))
}
