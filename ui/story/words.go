package story

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
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
	found, _ := t.released()
	return strings.NewReplacer(
		"{The}", the, "{thing}", thing, "{name}", cmp.Or(Name(r), "it"), "{did}", t.did(), "{pod}", r.Pod.String(), "{kind}", r.Kind.String(), "{event}", say.EventWord(r.Kind),
		"{from}", r.From.String(), "{to}", r.To.String(), "{source}", source.String(), "{told}", t.told(),
		"{time}", cmp.Or(said(r.AtStart, ", before plegtop started"), said(!r.HasLag, "; the runtime keeps no time of it")),
		"{exit}", said(r.Exited, fmt.Sprintf(", exit code %d", r.ExitCode)+said(r.Reason != "", ", "+r.Reason)),
		"{lists}", cmp.Or(
			said(t.relisted, fmt.Sprintf("The relist took %s, its lists %s. ", text.Took(t.relist.Took), text.Took(t.relist.List))),
			said(t.byCRI() && r.Mode.Use(t.Release) == pleg.StreamAsks, "The runtime's stream asked for a relist of this pod alone. ")),
		"{took}", text.Took(found.Sub(r.At)), "{asof}", cmp.Or(said(t.Release < 36, "inspection"), "lists, "+r.At.Local().Format(Clock)), "{entry}", t.entry(), "{address}", cmp.Or(said(r.Kind == pleg.NetworkFailed, "no address"), "an address"),
		"{otherwise}", said(!t.byCRI(), " A kubelet has no other source."),
		"{worker}", t.works(), "{period}", say.Period(t.Period), "{threshold}", text.Took(t.Threshold), "{timeout}", text.Took(t.Timeout), "{repeated}", text.Count(t.Mode.Repeated),
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
		said(t.streamed(), "The runtime's event stream says so."),
		said(first == ledger.FromRelist, "The runtime does not tell the kubelet."),
		fmt.Sprintf("The source %s saw it at %s", first, when.Local().Format(Clock))+said(ahead, ", "+text.Took(lead)+" before the relist")+".",
	)
}

// entry says what has become of the entry in the cache.
func (t *teller) entry() string {
	return cmp.Or(said(t.gone, " The pod has gone since, and its entry."), said(!t.gone && t.pod.StatusErr != nil, " Now it has an error in its place."))
}

// works says what the pod's worker does now.
func (t *teller) works() string {
	if t.worker == nil {
		return ""
	}
	return " Now: " + say.WorkerTells(&t.Workers, t.worker, t.At) + "."
}

func (t *teller) byCRI() bool { return t.row.Seen != nil && !t.row.Seen.At[ledger.FromCRI].IsZero() }
