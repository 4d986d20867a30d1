package ui

import (
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/ui/text"
)

// below returns what the columns have no room for: which are answered
// while one hangs, what the last sweep found, which is swept, and errors for which the table is
// too narrow. With the keys in this pane also more on the operation under the
// cursor. It is shown below the table, where most of the pane is empty.
func (c *calls) below(b pen, s *engine.Snapshot, swept span, focused bool) []span {
	var out []span
	put := func(f span) {
		for _, line := range few(f.text, max(c.width, 16), mostLines, b.Symbols.Ellipsis) {
			out = append(out, span{f.style, line})
		}
	}
	if len(s.Probes) > 0 {
		put(span{b.Strong, probesText(s)})
	}
	if swept.text != "" {
		put(swept)
	}
	if focused && c.cursor < len(c.of) {
		put(span{b.Dim, aboutCall(&c.of[c.cursor])})
	}
	if _, rest := fitCallColumns(c.width); rest > leastErrors {
		return out
	}
	for i := range c.of {
		if c.of[i].Errors > 0 {
			put(span{b.Bad, errorsText(s, &c.of[i])})
		}
	}
	return out
}

// aboutCall says what is known of an operation beside its columns.
func aboutCall(op *engine.Calls) string {
	return op.Op.String() + ": p90 " + text.Took(op.P90) + pick(op.Gone > 0, ", "+text.Count(op.Gone)+" gone", "") +
		", received " + text.Bytes(coarseBytes(op.ResponseBytes)) + ", sent " + text.Bytes(coarseBytes(op.RequestBytes))
}

// errorsText says how an operation failed: how often by gRPC code, and the last
// time in the runtime's words.
func errorsText(s *engine.Snapshot, op *engine.Calls) string {
	out := op.Op.String() + " errors: " + codes(op)
	if op.LastErr != nil {
		out += "; " + text.AgeCoarse(s.At.Sub(op.LastErrAt)) + " ago " + reason(op.LastErr)
	}
	return out
}

// probesText says which calls are answered while another one hangs.
func probesText(s *engine.Snapshot) string {
	var well, not []string
	for i := range s.Probes {
		switch p := &s.Probes[i]; {
		case p.At.IsZero():
			not = append(not, p.Op.String()+" out for "+outFor(p.Elapsed(s.At)))
		case p.Err != nil:
			not = append(not, p.Op.String()+" fails: "+reason(p.Err))
		default:
			well = append(well, p.Op.String()+" "+text.Took(p.Took))
		}
	}
	out := "while it hangs: "
	if f := oldest(s); f != nil {
		out = "while " + f.Op.String() + " hangs: "
	}
	if len(well) > 0 {
		well[len(well)-1] += pick(len(well) == 1, " answers", " answer")
	}
	parts := append([]string{strings.Join(well, ", ")}, not...)
	return out + strings.TrimPrefix(strings.Join(parts, "; "), "; ")
}
