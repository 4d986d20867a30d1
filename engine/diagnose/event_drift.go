package diagnose

import (
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
)

// EventDrift is an event stream of the runtime's that parts from its lists.
const EventDrift ID = "event-drift"

var eventDriftKind = &kind{
	id: EventDrift, find: eventDrift,
	needs:    lists,
	severity: "warning", scenario: "`event-drift`",
	when: "with `--events=cri`, of 5 minutes and 20 changes at least: the runtime's event stream missed 5 of them and 2 %, or sent so many twice; it broke " +
		"3 times in 10 minutes, or sent 10,000 events of unknown containers; the evented mode fell back. Info where the kubelet does not go by the stream and a fifth came after the relist, or its clock makes no sense. A kubelet with " +
		"`EventedPLEG` on this node could not trust it",
}

const (
	// driftLeast is how many transitions must have been seen lately: of fewer a single one
	// is more than a twentieth.
	driftLeast = 20
	// amissLeast is how many of them must have been lost, or told twice: one or two are a
	// stream that was just being opened again.
	amissLeast = 5
	// amissShare is the part of them from which on it is the stream, and no chance: a
	// runtime that is well loses and doubles none.
	amissShare = 0.02
	// lateShare is the part that must come after the relist. With a relist every second
	// and a stream that takes 20 ms it is a fiftieth, with one every 250 ms a tenth.
	lateShare = 0.2
	// brokenWindow and brokenLeast say how often the stream must break to be told: the
	// restart of a runtime breaks it once, or twice.
	brokenWindow = 10 * time.Minute
	brokenLeast  = 3
	// floodLeast is how many events of nothing must have come in 5 min: 33 a
	// second, more than any node has of its own.
	floodLeast = 10_000
)

// eventDrift finds a stream of events of the runtime that a kubelet could not trust: one
// that loses events, tells them twice or late, or breaks again and again. It needs a
// history, and the stream to be open. Sources that no kubelet has are evidence alone.
func eventDrift(v *view) []Finding {
	k := v.Stream(sources.FromCRI)
	fellBack := v.Mode.Asked != v.Mode.Mode
	if k == nil || k.State == sources.StreamOff || k.State == sources.StreamRefused && !fellBack {
		return nil
	}
	w := v.window(sources.FromCRI)
	f := Finding{ID: EventDrift, Severity: Warning, Subject: Subject{Operation: "GetContainerEvents"}, Group: sources.FromCRI.String()}
	used := v.Mode.Asked != pleg.Generic // a kubelet of this mode goes by the stream
	told := w.Both + w.MissedBySource
	part := func(n uint64, share float64) bool { // whether n is such a share of all, and no chance
		return told >= driftLeast && n >= amissLeast && float64(n) >= share*float64(told)
	}
	broken := v.brokenStreams()
	switch {
	case fellBack:
		f.Summary = fmt.Sprintf("%v has fallen back to %v for good: %s", v.Mode.Asked, v.Mode.Mode, excerpt(v.Mode.Reason))
	case w.Unknown+w.Lost >= floodLeast && w.Unknown+w.Lost > w.Transitions: // before what is lost of the others: a reader cannot keep up with both
		f.Summary = fmt.Sprintf("the runtime floods its event stream: %s in %s", unusable(w), going(w.Lasted))
		if part(w.MissedBySource, amissShare) {
			f.Summary += fmt.Sprintf("; %s of %s were lost in it", thousands(w.MissedBySource), count(told, "change"))
		}
	case part(w.MissedBySource, amissShare):
		f.Summary = fmt.Sprintf("the runtime's event stream missed %s of %s in %s", thousands(w.MissedBySource), count(told, "change"), going(w.Lasted))
		if used {
			f.Summary += ": each waited for a relist, one every " + span(v.Period)
		} else {
			f.Summary += ": a kubelet with evented PLEG would have lost them until its next relist"
		}
	case len(broken) >= brokenLeast:
		f.Summary = fmt.Sprintf("the runtime's event stream broke %d times in %s", len(broken), going(v.At.Sub(broken[0].At)))
		if said := broken[len(broken)-1].Reason; said != "" {
			f.Summary += ": " + excerpt(said)
		}
	case part(w.Duplicates, amissShare) && w.Duplicates > 2*told: // those of the newest changes are counted before these are
		f.Summary = fmt.Sprintf("the runtime's event stream sent %s, and some of them again and again, %s times in %s", count(told, "change"), thousands(w.Duplicates), going(w.Lasted))
	case part(w.Duplicates, amissShare):
		f.Summary = fmt.Sprintf("the runtime's event stream sent %s of %s twice in %s", thousands(w.Duplicates), count(told, "change"), going(w.Lasted))
	case part(w.Late, lateShare):
		f.Summary = fmt.Sprintf("the runtime's event stream sent %s of %s in %s only after the relist had seen them, one every %s", thousands(w.Late), count(told, "change"), going(w.Lasted), span(v.Period))
		f.Severity = v.unlessUsed(used)
	case k.BadClock != "":
		f.Summary = "the times of the runtime's events make no sense: " + excerpt(k.BadClock)
		f.Severity = v.unlessUsed(used)
	default:
		return nil
	}
	v.driftEvidence(&f, k, broken)
	f.Next = v.driftSteps()
	return []Finding{f}
}

// unusable counts the events that nobody could make anything of, by why.
func unusable(w sources.Window) string {
	var all []string
	if w.Lost > 0 {
		all = append(all, count(w.Lost, "event")+" too fast to be read")
	}
	if w.Unknown > 0 {
		all = append(all, count(w.Unknown, "event")+" of unknown containers")
	}
	return join(all)
}

// unlessUsed is the severity of what leads to nothing on a node whose kubelet does not go
// by the stream.
func (v *view) unlessUsed(used bool) Severity {
	if used {
		return Warning
	}
	return Info
}

// brokenStreams returns when the runtime's stream broke lately, the oldest first.
func (v *view) brokenStreams() (all []sources.SourceChange) {
	for _, c := range v.SourceChanges {
		if c.Source == sources.FromCRI && c.State == sources.StreamLost && v.At.Sub(c.At) <= brokenWindow {
			all = append(all, c)
		}
	}
	return all
}

// driftEvidence adds the figures by source, and what the runtime's stream says of itself.
func (v *view) driftEvidence(f *Finding, k *sources.SourceState, broken []sources.SourceChange) {
	for i := range v.Drift {
		d := v.Drift[i]
		w := v.window(d.Source)
		text := fmt.Sprintf("in %s the stream %v told %s of the %s that relists saw, and %s that none saw; it told %s twice, and %s late",
			going(w.Lasted), d.Source, thousands(w.Both), count(w.Both+w.MissedBySource, "change"), thousands(w.MissedByRelist), thousands(w.Duplicates), thousands(w.Late))
		if d.Both > 0 {
			text += "; " + leads(d.LeadP50, d.LeadP99)
		}
		f.say(text)
	}
	if n := len(broken); n > 0 {
		f.say(fmt.Sprintf("broken %s, at last at %s: %s", times(n), v.clock(broken[n-1].At), broken[n-1].Reason))
	}
	if k.LastErr != "" && (len(broken) == 0 || broken[len(broken)-1].Reason != k.LastErr) {
		f.say("the last that broke: " + k.LastErr)
	}
	if k.BadClock != "" {
		f.say("its times are not used: " + k.BadClock + "; a kubelet up to 1.36 takes what seems older than what it has for nothing")
	}
	f.say(fmt.Sprintf("since the start %s received: %s came too fast, %s were older than the stream, %s of ids that no relist had", count(k.Received, "event"), thousands(k.Lost), thousands(k.Backlog), thousands(k.Unknown)))
	if m := v.Mode; m.Reason != "" {
		f.say("the kubelet's own reason: " + m.Reason)
	}
	if v.Mode.Asked == pleg.Generic {
		f.say("this kubelet does not go by the stream: with PLEG in its generic mode all is seen by relists")
	}
}

// leads says by how much a source is ahead of the relist, or behind it: half of the time,
// and at the least in 99 of 100.
func leads(half, most time.Duration) string {
	switch {
	case half < 0:
		return "half come " + span(-half) + " or more after the relist, 1 in 100 " + span(-most) + " or more"
	case most < 0:
		return "half come " + span(half) + " or more before the relist, 1 in 100 " + span(-most) + " or more after it"
	}
	return "half come " + span(half) + " or more before the relist, 99 in 100 at least " + span(most)
}

func (v *view) driftSteps() []Step { return v.advise("events.drift", nil) }

// window returns what came together of a source lately; nothing if it was never open.
func (v *view) window(of sources.Source) sources.Window {
	for _, w := range v.DriftLately {
		if w.Source == of {
			return w
		}
	}
	return sources.Window{}
}
