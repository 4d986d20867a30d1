package story

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/widget"
)

// words returns what puts figures and names into a tale.
func (t *teller) words() *strings.Replacer {
	r := t.row
	the, thing := "Container "+Name(r), "container"
	switch {
	case r.ID == "":
		the, thing = "The pod", "pod"
	case r.Sandbox:
		the, thing = "The sandbox", "sandbox"
	}
	source, _ := r.Seen.First()
	return strings.NewReplacer(
		"{The}", the, "{thing}", thing, "{name}", Name(r), "{did}", t.did(), "{pod}", r.Pod.String(), "{kind}", r.Kind.String(), "{event}", say.EventWord(r.Kind),
		"{from}", r.From.String(), "{to}", r.To.String(), "{source}", source.String(), "{told}", t.told(),
		"{time}", cmp.Or(said(r.AtStart, ", before plegtop first looked"), said(!r.HasLag, "; the runtime keeps no time of it")),
		"{exit}", said(r.Exited, fmt.Sprintf(", exit code %d", r.ExitCode)+said(r.Reason != "", ", "+r.Reason)),
		"{lists}", cmp.Or(said(t.relisted, "Its lists took "+text.Took(t.relist.List)+". "), said(t.byCRI() && r.Mode.Use(t.Release) == pleg.StreamAsks, "The runtime's stream asked for a relist of this pod alone. ")),
		"{inspection}", t.inspection(), "{asof}", cmp.Or(said(t.Release < 36, "inspection"), "lists, "+r.At.Local().Format(Clock)), "{entry}", t.entry(), "{address}", t.address(),
		"{atstart}", said(r.AtStart, "A kubelet that was there before saw it when it happened."), "{otherwise}", t.otherwise(), "{worker}", t.works(),
		"{period}", say.Period(t.Period), "{threshold}", text.Took(t.Threshold), "{timeout}", text.Took(t.Timeout), "{repeated}", text.Count(t.Mode.Repeated),
		"{capacity}", fmt.Sprint(t.Channel.Capacity), "{waiting}", fmt.Sprint(t.Channel.Len), "{discarded}", text.Count(t.Channel.Discarded),
	)
}

func said(holds bool, s string) string {
	if holds {
		return s
	}
	return ""
}

// did is what happened, in a word or two.
func (t *teller) did() string {
	all := map[pleg.Kind]string{
		pleg.Started: "started", pleg.Died: "died", pleg.Removed: "was removed", pleg.PodSync: "is looked at again",
		pleg.NetworkSetUp: "has its network", pleg.NetworkFailed: "has no network",
	}
	return cmp.Or(all[t.row.Kind], said(t.row.To == pleg.Created, "was created"), "is in no known state")
}

// told says who saw it before a relist did.
func (t *teller) told() string {
	first, when := t.row.Seen.First()
	lead, ahead := t.row.Seen.Lead(first)
	return cmp.Or(
		said(t.streamed(), "The runtime says so by itself, over its event stream."),
		said(first == ledger.FromRelist, "Nobody tells the kubelet."),
		fmt.Sprintf("The source %s saw it at %s", first, when.Local().Format(Clock))+said(ahead, ", "+text.Took(lead)+" before the relist")+".",
	)
}

// inspection says how many calls inspect the pod, as far as it is known, and how long that took.
func (t *teller) inspection() string {
	found, _ := t.released()
	says := text.Took(found.Sub(t.row.At)) + " from the start of the relist until it had succeeded"
	p := t.pod
	if p == nil {
		return "one by one; " + says
	}
	if p.Inspected > 0 && found.Sub(p.InspectedAt).Abs() < 100*time.Millisecond { // else the last one was another
		says = "it took " + text.Took(p.InspectLast) + ", " + says
	}
	n := 0
	if p.Seen() != nil {
		n = len(p.Seen().Sandboxes) + len(p.Seen().Containers)
	}
	return said(n > 0, fmt.Sprintf("now %d, ", n)) + "one by one; " + says
}

// entry says what has become of the entry in the cache.
func (t *teller) entry() string {
	if t.gone {
		return " By now the pod has gone, and its entry."
	}
	return cmp.Or(said(t.pod.StatusErr != nil, " By now it has an error in its place."),
		said(t.pod.StatusAt.After(t.row.At), " By now it has one of "+t.pod.StatusAt.Local().Format(Clock)+"."))
}

func (t *teller) address() string {
	if p := t.pod; p != nil && p.Status != nil {
		for _, b := range p.Status.Sandboxes {
			if b.ID == t.row.ID && len(b.IPs) > 0 {
				return "the address " + b.IPs[0]
			}
		}
	}
	return "no address"
}

// works says what the pod's worker does now.
func (t *teller) works() string {
	if t.worker == nil {
		return ""
	}
	return " Now: " + say.WorkerTells(&t.Workers, t.worker, t.At) + "."
}

// otherwise says which kubelet could have acted on what no relist has seen.
func (t *teller) otherwise() string {
	return cmp.Or(
		said(!t.byCRI(), "No kubelet could: none has a source of events but the runtime's stream, and that has not told it."),
		said(t.row.Mode == pleg.Generic, "With the gate EventedPLEG a kubelet up to 1.36 would have had it from the runtime's stream at once; one of 1.37 would have relisted the pod then if it was an end by a failure."),
		"The runtime's stream has told it; nothing of it was left for the relist that should have followed.",
	)
}

func (t *teller) byCRI() bool { return t.row.Seen != nil && !t.row.Seen.At[ledger.FromCRI].IsZero() }

// acts says on what a kubelet acts, by what it makes of the runtime's event stream.
var acts = [...]string{
	pleg.StreamUnused: "the kubelet acts when a relist has seen it; event sources only show when it could have known",
	pleg.StreamWrites: "the kubelet acts when the runtime's stream tells it, or when the relist of every 5 minutes sees it, if that is sooner",
	pleg.StreamAsks:   "the kubelet asks for a relist of the pod where the runtime's stream tells an end by a failure or by the OOM killer; what it acts on is what a relist sees",
}

// seen are the figures of who saw it when, and how late that was.
func (t *teller) seen() []Figure {
	r := t.row
	all := []Figure{{Label: "happened", Level: widget.Quiet, Text: "not known: the runtime keeps no time of it"}, {Label: "seen", At: r.SeenAt, Text: text.AgeCoarse(t.At.Sub(r.SeenAt)) + " ago"}}
	if at, who := t.happened(); !at.IsZero() {
		all[0] = Figure{Label: "happened", At: at, Text: "by " + who}
	} else if r.AtStart {
		all[0] = Figure{Label: "at start", Text: "it was so before plegtop first looked: nothing happened at this time"}
	}
	if r.HasLag && diagnose.LagsBehind(r.Lag) {
		all = append(all, Figure{Label: "lag", Text: text.Took(r.Lag) + ": relists were late", Level: widget.Warn})
	} else if r.HasLag {
		all = append(all, Figure{Label: "lag", Text: text.Took(r.Lag)})
	}
	if r.Seen == nil {
		return all
	}
	first, _ := r.Seen.First()
	for i, at := range r.Seen.At {
		of := ledger.Source(i)
		lead, known := r.Seen.Lead(of)
		f := Figure{Label: of.String(), At: at}
		switch {
		case at.IsZero() && of != ledger.FromRelist:
			continue
		case at.IsZero():
			f.Text, f.Level = "not seen", widget.Warn
		case known && of != ledger.FromRelist:
			f.Text = text.Took(lead.Abs()) + cmp.Or(said(lead < 0, " after the relist"), " before the relist")
		}
		if of == first {
			f.Level = widget.Strong
		}
		all = append(all, f)
	}
	return append(all, Figure{Label: "mode", Text: r.Mode.String() + ": " + acts[r.Mode.Use(t.Release)]})
}

// found are the figures of the relist that found it; none if none did.
func (t *teller) found() []Figure {
	of := t.relist
	switch {
	case !t.row.ByRelist():
		return nil
	case !t.relisted:
		return []Figure{{Label: "relist", Text: "of this pod alone, or one of which nothing is kept any more"}, {Label: "began", At: t.row.At}}
	}
	on, running := t.journal.Running()
	return []Figure{
		{Label: "relist", Text: fmt.Sprint(of.Number)},
		{Label: "began", At: t.row.At},
		{Label: "took", Text: text.Took(of.Took) + said(running && on.Number == of.Number, ", and goes on")},
		{Label: "lists took", Text: text.Took(of.List)},
		{Label: "inspected", Text: fmt.Sprintf("%d pods", of.Inspected) + said(of.Failures > 0, fmt.Sprintf(", of which %d failed", of.Failures))},
	}
}
