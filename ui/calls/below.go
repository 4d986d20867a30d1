package calls

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

const (
	// sweptKept is for how long the outcome of a sweep is told: later it says little of
	// the node as it is.
	sweptKept = 10 * time.Minute
	mostLines = 5 // of one text
)

// below returns what the columns have no room for: which calls are answered while one
// hangs, what the last sweep found, how the event sources stand, and errors by their code.
func below(v *pane.View, rows []*row, w int) [][]text.Span {
	var out [][]text.Span
	put := func(st theme.Style, s string) {
		for _, line := range text.Few(s, max(w, 16), mostLines, v.Theme.Symbols.Ellipsis) {
			out = append(out, []text.Span{text.Say(st, line)})
		}
	}
	if len(v.Probes) > 0 {
		put(v.Theme.Strong, probed(v.Snapshot))
	}
	if say.Sweeping(v.Snapshot) {
		put(v.Theme.Info, say.SweepProgress(v.Sweep))
	} else if said := say.Swept(v.Theme, v.Snapshot, v.Headline, sweptKept); said.Text != "" {
		put(said.Style, said.Text)
	}
	table, besides := say.StreamTable(v.Theme, v.Snapshot)
	out = append(out, table...)
	for _, said := range besides {
		put(said.Style, said.Text)
	}
	for _, r := range rows {
		if r.Errors > 0 {
			put(v.Theme.Bad, failed(r))
		}
	}
	return out
}

const mostOut = 3 // calls that are listed

// inFlight lists the calls that are out, the oldest first.
func inFlight(v *pane.View) [][]text.Span {
	out := slices.DeleteFunc(slices.Clone(v.InFlight), func(f call.Flight) bool { return f.Op == call.GetContainerEvents })
	more := len(out) - mostOut
	lines := say.Flights(v.Theme, v.Snapshot, out[:min(len(out), mostOut)])
	switch {
	case len(out) == 0:
		return [][]text.Span{{text.Say(v.Theme.Head, "IN FLIGHT  none")}}
	case more > 0:
		lines[0][len(lines[0])-1].Width = 0
		lines[0] = append(lines[0], text.Say(v.Theme.Dim, "  and "+text.Count(uint64(more))+" more"))
	}
	return lines
}

// legend says what the signs of the column LATENCY mean.
func legend(t *theme.Theme) []text.Span {
	all := []text.Span{text.Say(t.Head, "LATENCY")}
	for i, shade := range t.Symbols.Shades {
		means := "longer"
		if i < len(widget.ShadeSteps) {
			means = "<" + text.Round(widget.ShadeSteps[i])
		}
		all = append(all, text.Say(t.Dim, "  "+shade+" "+means))
	}
	return append(all,
		text.Say(t.Bad, "  "+t.Symbols.SparkFailed), text.Say(t.Dim, " failed"),
		text.Say(t.Bad, "  "+t.Symbols.Blind), text.Say(t.Dim, " no answer yet"))
}

// beside says what is known of an operation, also what its columns have no room for.
func beside(r *row) string {
	gone := ""
	if r.Gone > 0 {
		gone = ", " + text.Count(r.Gone) + " gone"
	}
	calls := theme.When(r.Count == 1, "call", "calls")
	return fmt.Sprintf("%v: %s %s, the longest %s%s; received %s, sent %s",
		r.Op, text.Count(r.Count), calls, text.Took(r.Max), gone, text.Bytes(coarse(r.ResponseBytes)), text.Bytes(coarse(r.RequestBytes)))
}

// failed says how an operation failed: how often by gRPC code, and the last time in
// the runtime's words.
func failed(r *row) string {
	out := r.Op.String() + " errors:"
	for _, c := range r.ByCode {
		out += " " + c.Code + " " + text.Count(c.Count)
	}
	if r.LastErr != nil {
		out += "; " + text.AgeCoarse(r.view.At.Sub(r.LastErrAt)) + " ago " + say.Reason(r.LastErr)
	}
	return out
}

// probed says which calls are answered while another one hangs.
func probed(s *engine.Snapshot) string {
	var well, not []string
	for i := range s.Probes {
		switch p := &s.Probes[i]; {
		case p.At.IsZero():
			not = append(not, p.Op.String()+": no reply for "+say.OutFor(p.Elapsed(s.At)))
		case p.Err != nil:
			not = append(not, p.Op.String()+" fails: "+say.Reason(p.Err))
		default:
			well = append(well, p.Op.String()+" "+text.Took(p.Took))
		}
	}
	hung := "it"
	if f := diagnose.RelistCall(s); f != nil {
		if hung = f.Op.String(); say.Try(s, f) != "" {
			hung += " (" + say.Try(s, f) + ")"
		}
	}
	switch len(well) {
	case 0:
	case 1:
		not = append([]string{well[0] + " answers"}, not...)
	default:
		not = append([]string{strings.Join(well, ", ") + " answer"}, not...)
	}
	return "while " + hung + " hangs: " + strings.Join(not, "; ")
}
