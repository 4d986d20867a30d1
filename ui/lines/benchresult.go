package lines

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/ui/jsonline"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// BenchSchema names the shape of what bench writes as JSON. Fields are only ever added to it.
const BenchSchema = "plegtop/bench/1"

// A benchObject is what a bench has measured, as one line of JSON.
type benchObject struct {
	Schema         string           `line:"schema"`
	Time           time.Time        `line:"time"` // when it began
	Node           string           `line:"node,raw"`
	Source         string           `line:"source"` // "cri" or "demo"
	Runtime        benchRuntime     `line:"runtime"`
	KubeletVersion string           `line:"kubeletVersion,raw"`
	For            time.Duration    `line:"forSeconds"` // that was wanted for each
	CutShort       bool             `line:"cutShort"`
	Rows           []benchRowObject `line:"rows"`
	Remarks        []string         `line:"remarks"`
	Notes          []string         `line:"notes,omitempty"` // what was left out, and why
}

type benchRuntime struct {
	Name     string `line:"name,raw"`
	Version  string `line:"version,raw"`
	Endpoint string `line:"endpoint,raw"`
}

type benchRowObject struct {
	Period         time.Duration    `line:"periodSeconds"`
	Source         string           `line:"source"` // "none", or the one beside the relist
	For            time.Duration    `line:"forSeconds"`
	Relists        uint64           `line:"relists"`
	LagP50         *time.Duration   `line:"lagP50Seconds"` // null where no transition said when it was
	LagP99         *time.Duration   `line:"lagP99Seconds"`
	Lags           int              `line:"lags"`        // how many said so
	Transitions    uint64           `line:"transitions"` // seen
	Missed         *uint64          `line:"missed"`      // by whom the row is about; null where nobody else looked
	MissedOf       uint64           `line:"missedOf"`
	Referees       []sources.Source `line:"referees"` // who else looked
	CallsPerSecond float64          `line:"callsPerSecond"`
	PlegtopCores   *float64         `line:"plegtopCores"` // null where nobody can tell
	RuntimeCores   *float64         `line:"runtimeCores"` // null where its process is not seen, or is ours
	Remarks        []string         `line:"remarks"`
}

// A benchResult is what was measured so far.
type benchResult struct {
	o    BenchOptions
	at   time.Time
	rows []*measurement
	cut  bool

	recorded string // when and where, of a recording; else empty
}

// written returns the result as it is printed.
func (r *benchResult) written() []byte {
	o := r.object()
	if r.o.JSON {
		return jsonline.Append(nil, o)
	}
	return r.o.write(nil, func(d *widget.Doc, t *theme.Theme) { o.write(d, t, r.said()) })
}

// write writes the result for people, with how it was measured.
func (o *benchObject) write(d *widget.Doc, t *theme.Theme, measured string) {
	var head, remarks widget.Section
	head.Add(widget.Fact("runtime", widget.Plain, fmt.Sprintf("%s %s at %s, as kubelet %s", o.Runtime.Name, o.Runtime.Version, o.Runtime.Endpoint, o.KubeletVersion)),
		widget.Fact("measured", widget.Plain, measured))
	d.Sections(head)
	d.Line()
	var rows [][]text.Span
	for _, row := range o.Rows {
		rows = append(rows, text.Each(theme.When(len(row.Remarks) > 0, t.Warn, t.Text), row.cells()...))
	}
	table(d, t, rows, "period", "source", "lag p50", "p99", "seen", "missed", "calls/s", "plegtop cpu", "runtime cpu")
	for i, remark := range o.remarks() {
		if i == 0 {
			d.Line()
		}
		remarks.Add(widget.Fact(remark[0], widget.Plain, remark[1]))
	}
	d.Sections(remarks)
}

// remarks returns all of them, each once, with what it is about.
func (o *benchObject) remarks() (all [][2]string) {
	for _, row := range o.Rows {
		for _, remark := range row.Remarks {
			period := row.Period.String()
			same := func(r [2]string) bool { return r[1] == remark && strings.HasPrefix(r[0], row.Source+" ") }
			if at := slices.IndexFunc(all, same); at >= 0 {
				all[at][0] += ", " + period
			} else {
				all = append(all, [2]string{row.Source + " " + period, remark})
			}
		}
	}
	for _, remark := range o.Remarks {
		all = append(all, [2]string{"remark", remark})
	}
	return all
}

// said tells for how long what was measured.
func (r *benchResult) said() string {
	all := len(r.o.Periods) * len(r.o.Sources)
	if r.recorded != "" {
		return "in a recording, " + r.recorded
	}
	if r.cut {
		return fmt.Sprintf("cut short: %d of %d, for %v each", len(r.rows), all, r.o.For)
	}
	return fmt.Sprintf("%d, for %v each", all, r.o.For)
}

func (row benchRowObject) cells() []string {
	if row.For == 0 {
		return []string{row.Period.String(), row.Source, "-", "-", "-", "-", "-", "-", "-"}
	}
	missed := "?"
	if row.Missed != nil {
		missed = fmt.Sprintf("%d of %d", *row.Missed, row.MissedOf)
	}
	return []string{
		row.Period.String(), row.Source, took(row.LagP50), took(row.LagP99),
		text.Count(row.Transitions), missed, fmt.Sprintf("%.1f", row.CallsPerSecond), percent(row.PlegtopCores), percent(row.RuntimeCores),
	}
}

func took(d *time.Duration) string {
	if d == nil {
		return "-"
	}
	return text.Took(*d)
}

// percent returns a share of one core.
func percent(cores *float64) string {
	if cores == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f%%", 100**cores)
}

func (r *benchResult) object() *benchObject {
	o := &benchObject{
		Schema: BenchSchema, Time: r.at, Node: r.o.Node, Source: r.o.Source,
		Runtime: benchRuntime{Endpoint: r.o.Endpoint}, For: r.o.For, CutShort: r.cut,
	}
	for _, m := range r.rows {
		o.Rows = append(o.Rows, m.object(r.cut && r.recorded == ""))
		if s := m.last; s != nil {
			o.Runtime.Name, o.Runtime.Version = cmp.Or(s.Version.RuntimeName, o.Runtime.Name), cmp.Or(s.Version.RuntimeVersion, o.Runtime.Version)
			o.KubeletVersion = r.o.kubelet(s)
		}
	}
	if r.o.Source == "demo" {
		o.Remarks = append(o.Remarks, "the runtime of a demo is in this process: plegtop's share of a core is that of both")
	}
	if slices.ContainsFunc(o.Rows, func(row benchRowObject) bool { return len(row.Referees) > 0 && row.Source == "none" }) {
		o.Remarks = append(o.Remarks, "with none, what the relist missed is what the other sources saw "+theme.When(r.recorded != "",
			"while they were open", "in the second half of the time; calls and shares are of the first half"))
	}
	return o
}

func (m *measurement) object(cut bool) benchRowObject {
	o := benchRowObject{Period: m.period, Source: sourceName(m.source)}
	if m.why != "" {
		o.Remarks = append(o.Remarks, "not measured: "+text.Clean(m.why))
	} else if m.end.at.IsZero() {
		o.Remarks = append(o.Remarks, "cut short before it began")
	}
	if m.end.at.IsZero() || m.why != "" {
		return o
	}
	took := m.end.at.Sub(m.start.at)
	o.For, o.Transitions, o.Lags = took, m.seen, len(m.lags)
	o.Relists = m.end.relists.Count - m.start.relists.Count
	if n := len(m.lags); n > 0 {
		slices.Sort(m.lags)
		o.LagP50, o.LagP99 = new(quantile(m.lags, 50)), new(quantile(m.lags, 99))
	}
	if missed, of, known := m.missed(); known {
		o.Missed, o.MissedOf = &missed, of
	}
	o.Referees = m.lookers()
	paid := m.paid.real.Sub(m.start.real).Seconds()
	if paid > 0 {
		o.CallsPerSecond = float64(m.paid.calls-m.start.calls) / paid
		if m.paid.cpu >= 0 {
			o.PlegtopCores = new((m.paid.cpu - m.start.cpu).Seconds() / paid)
		}
	}
	if m.runtime >= 0 {
		o.RuntimeCores = &m.runtime
	}
	o.Remarks = append(o.Remarks, m.remarks(took, cut)...)
	return o
}

// lookers are those who can say what was missed.
func (m *measurement) lookers() []sources.Source {
	if m.source != sources.FromRelist {
		return []sources.Source{sources.FromRelist}
	}
	return m.referees
}

// remarks say what keeps the figures from saying more.
func (m *measurement) remarks(took time.Duration, cut bool) (remarks []string) {
	if m.when != "" {
		remarks = append(remarks, m.when)
	}
	if cut && took < m.o.For {
		remarks = append(remarks, "cut short after "+text.Took(took))
	}
	if m.stopped.Load() {
		remarks = append(remarks, "plegtop was stopped (^z) meanwhile: measure again")
	}
	if m.seen == 0 {
		remarks = append(remarks, "no transitions: start or stop some pods meanwhile")
	}
	if failed := m.end.relists.Failed - m.start.relists.Failed; failed > 0 {
		remarks = append(remarks, fmt.Sprintf("%d of %d relists failed", failed, m.end.relists.Count-m.start.relists.Count))
	}
	if len(m.told) == mostTold {
		remarks = append(remarks, fmt.Sprintf("only the first %d transitions are measured", mostTold))
	}
	if m.tooMany > 0 {
		remarks = append(remarks, fmt.Sprintf("%d events came too fast to be measured", m.tooMany))
	}
	if m.broke() {
		remarks = append(remarks, "the stream broke meanwhile")
	}
	if lost := m.state(m.source).Lost; lost > 0 {
		remarks = append(remarks, fmt.Sprintf("%d events of the stream came too fast to be looked at", lost))
	}
	if _, why := m.open(); why != "" {
		remarks = append(remarks, text.Clean(why))
	}
	return remarks
}

// broke reports whether the stream was lost while it was measured.
func (m *measurement) broke() bool {
	return slices.ContainsFunc(m.last.SourceChanges, func(c sources.SourceChange) bool {
		return c.Source == m.source && c.State == sources.StreamLost && c.At.After(m.start.at)
	})
}

// quantile returns the value that so many of 100 of the sorted values are not above.
func quantile(sorted []time.Duration, percent int) time.Duration {
	return sorted[(len(sorted)*percent+99)/100-1]
}
