package diagnose

import (
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
)

// EventDrift is an event stream of the runtime that differs from its lists.
const EventDrift ID = "event-drift"

const (
	// driftLeast is how many changes must have been seen lately: of fewer a single one is more than a twentieth.
	driftLeast = 20
	// amissLeast is how many of them must have been lost, or sent twice, and amissShare the part of all: one or two are a stream
	// that was just being opened again, and a runtime that is well loses none.
	amissLeast, amissShare = 5, 0.02
	// lateShare is the part that must come after the relist. With a relist every second and a stream that takes 20 ms it is a
	// fiftieth, with one every 250 ms a tenth.
	lateShare = 0.2
	// The restart of a runtime breaks the stream once or twice.
	brokenWindow = 10 * time.Minute
	brokenLeast  = 3
	// floodLeast is how many events of nothing must have come in 5 min: 33 a second, more than any node has of its own.
	floodLeast = 10_000
)

// The runtime's event stream loses events, sends them twice or late, or breaks again and again: a kubelet could not trust it.
var eventDrift = Rule{
	ID: EventDrift, Needs: Lists,
	Find: func(f *Facts, report func(Match)) {
		k, fellBack := f.Stream(sources.FromCRI), f.Mode.Asked != f.Mode.Mode
		if k == nil || k.State == sources.StreamOff || k.State == sources.StreamRefused && !fellBack {
			return
		}
		w, broken := f.window(sources.FromCRI), f.brokenStreams()
		all, used := w.Both+w.MissedBySource, f.Mode.Asked != pleg.Generic // a kubelet of this mode goes by the stream
		part := func(n uint64, share float64) bool {
			return all >= driftLeast && n >= amissLeast && float64(n) >= share*float64(all)
		}
		m := Match{Severity: Warning, Subject: Subject{Operation: "GetContainerEvents"}, Group: sources.FromCRI.String()}
		milder := Info
		if used {
			milder = Warning
		}
		switch {
		case fellBack:
			m.Variant = "fell-back"
		case w.Unknown+w.Lost >= floodLeast && w.Unknown+w.Lost > w.Transitions: // a reader cannot keep up with the others as well
			m.Variant = "flood"
		case part(w.MissedBySource, amissShare):
			m.Variant = "missed"
		case len(broken) >= brokenLeast:
			m.Variant = "broke"
		case part(w.Duplicates, amissShare) && w.Duplicates > 2*all:
			m.Variant = "again"
		case part(w.Duplicates, amissShare):
			m.Variant = "twice"
		case part(w.Late, lateShare):
			m.Variant, m.Severity = "late", milder
		case k.BadClock != "":
			m.Variant, m.Severity = "clock", milder
		default:
			return
		}
		m.Values = f.driftValues(k, w, all, broken)
		for _, d := range f.Drift {
			m.Lines = map[string][]line{"sources": append(m.Lines["sources"], f.driftLine(d))}
		}
		m.Values["unlessUsed"] = "each waited for a relist, one every " + span(f.Period)
		if !used {
			m.Values["unused"] = "yes"
			m.Values["unlessUsed"] = "a kubelet with evented PLEG would have lost them until its next relist"
		}
		report(m)
	},
}

func (f *Facts) driftValues(k *sources.SourceState, w sources.Window, all uint64, broken []sources.SourceChange) Values {
	v := Values{
		"asked": f.Mode.Asked, "mode": f.Mode.Mode, "why": extract(f.Mode.Reason), "within": age(w.Lasted), "changes": many{int(all), "change"},
		"missed": w.MissedBySource, "duplicates": w.Duplicates, "late": w.Late, "period": f.Period, "clock": extract(k.BadClock),
		"received": many{int(k.Received), "event"}, "lost": k.Lost, "backlog": k.Backlog, "unknown": k.Unknown, "useless": many{int(w.Unknown + w.Lost), "event"},
	}
	if n := len(broken); n > 0 {
		v["times"], v["brokeIn"], v["brokeAt"], v["reason"] = frequency(n), age(f.at().Sub(broken[0].At)), broken[n-1].At, extract(broken[n-1].Reason)
	}
	return v
}

// driftLine says what a source saw of the changes that relists saw.
func (f *Facts) driftLine(d sources.Drift) line {
	w := f.window(d.Source)
	v := Values{
		"within": age(w.Lasted), "source": d.Source, "both": w.Both, "changes": many{int(w.Both + w.MissedBySource), "change"},
		"alone": w.MissedByRelist, "duplicates": w.Duplicates, "late": w.Late,
	}
	if d.Both > 0 {
		v["half"] = span(d.LeadP50) + " or more before"
		if d.LeadP50 < 0 {
			v["half"] = span(-d.LeadP50) + " or more after"
		}
	}
	return lineOf("drift", v)
}

// brokenStreams returns when the runtime's stream broke lately, the oldest first.
func (f *Facts) brokenStreams() (all []sources.SourceChange) {
	for _, c := range f.SourceChanges {
		if c.Source == sources.FromCRI && c.State == sources.StreamLost && f.at().Sub(c.At) <= brokenWindow {
			all = append(all, c)
		}
	}
	return all
}

// window returns what came of a source lately; nothing if it was never open.
func (f *Facts) window(of sources.Source) sources.Window {
	for _, w := range f.DriftLately {
		if w.Source == of {
			return w
		}
	}
	return sources.Window{}
}
