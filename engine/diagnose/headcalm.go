package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

// otherWord is of a node whose runtime, lists, PLEG and Status are fine, by the
// worst of what else holds.
func (v *view) otherWord(held []Finding) Headline {
	for i := range held { // the critical come first, but for effects
		if f := &held[i]; f.Severity == Critical {
			h := Headline{Word: "AT RISK", Severity: Critical, Text: f.Summary + chainEnd(f.Summary, f.Chain)}
			ready := readyNow
			switch k := kindOf(f.ID); {
			case k.critical == degradedWord, k.podAlone && f.Subject.Pod != (pleg.PodRef{}):
				h.Word, ready = degradedWord, staysReady
			case k.critical != "":
				h.Word = k.critical
				return h
			}
			if v.nodeWord(Clock{}) == NodeReadyNow { // one look does not know what is posted
				h.Text = ready + h.Text
			}
			h.Text += also(held, f)
			return h
		}
	}
	for i := range held {
		f := &held[i]
		h, text := kindOf(f.ID).warned, readyNow
		if f.Group == ofSocket {
			h, text = Headline{Word: socketLostWord}, "node Ready until the kubelet reconnects: "
		}
		if h.Word != "" && f.Severity > Info {
			text += cmp.Or(h.Text, f.Summary) + v.wanting(func(of Finding) bool { return of.Key() == f.Key() }) + also(held, f)
			return Headline{Word: h.Word, Severity: Warning, Text: text}
		}
	}
	if said := v.notAsked(); said != "" {
		return Headline{Word: "NOT ALL SEEN", Severity: Warning, Text: said}
	}
	if said := aside(held); said != "" {
		return Headline{Word: degradedWord, Severity: Warning, Text: staysReady + said}
	}
	return Headline{Word: healthyWord, Text: v.inventory()}
}

// What a person fears first, and need not, stands before what is wrong: that the node is not Ready.
const readyNow, staysReady = "node Ready, ", "node stays Ready, "

// notAsked says what nobody asked for, where that is why nothing is known to be wrong;
// empty where all was asked for.
func (v *view) notAsked() string {
	why, s := Unfinished(v.Snapshot), v.Sweep
	switch {
	case v.Anomalies.NoID > 0:
		return why
	case why == "" || s == nil || !v.Policy.Bounds().OneMoment: // a running engine asks for all by its relists
		return ""
	}
	return fmt.Sprintf("%s of %s asked: %s", thousands(s.Done), count(s.Total, "object"), why)
}

// Unfinished returns why not every object of a node was asked for; empty if all were.
func Unfinished(s *engine.Snapshot) string {
	if n := s.Anomalies.NoID; n > 0 {
		return count(n, "object") + " listed without an id, which nobody can ask for"
	}
	return Unasked(s)
}

// Unasked returns why not every object of a node was asked for that can be: that has an id;
// empty if all were.
func Unasked(s *engine.Snapshot) string {
	switch w := s.Sweep; {
	case w == nil:
		return "nothing was asked for"
	case w.Refused != "":
		return w.Refused
	case w.GivenUp != "":
		return "given up: " + w.GivenUp
	case w.CutOff:
		return "cut off by the deadline"
	case w.Canceled:
		return "canceled"
	}
	return ""
}

// failedUntil returns when the last relist ended that failed; zero if none did.
func (v *view) failedUntil() time.Time {
	for _, r := range slices.Backward(v.Relists.History) {
		if r.Failed {
			return r.At.Add(r.Took)
		}
	}
	return time.Time{}
}

// aside says how many warnings there are beside what is well, and which: both of two, of more the
// first. It is empty where there is none.
func aside(held []Finding) string {
	var all []*Finding
	for i := range held {
		if held[i].Severity == Warning {
			all = append(all, &held[i])
		}
	}
	if len(all) == 0 {
		return ""
	}
	first := all[0]
	said, end := count(len(all), "warning"), chainEnd("", first.Chain)
	if !slices.ContainsFunc(all, func(f *Finding) bool { return !kindOf(f.ID).app }) { // a reader of DEGRADED fears for the node
		said += ", about " + map[bool]string{true: "an application", false: "applications"}[len(all) == 1]
	}
	said += ": "
	switch len(all) {
	case 1:
		if first.Subject.none() && first.Count <= 1 && end == "" { // what it is called says less than a person needs
			return said + first.Summary
		}
		return said + inShort(first) + end
	case 2: // for both there is room without the letters of their pods
		return said + ofOwner(first) + end + " and " + ofOwner(all[1])
	}
	return said + inShort(first) + end + fmt.Sprintf(", and %d more", len(all)-1)
}

// also says after a semicolon what else is wrong, by itself, beside one finding: one by its name,
// of more how many. It is empty where nothing is.
func also(held []Finding, beside *Finding) string {
	var others []*Finding
	for i := range held {
		if f := &held[i]; f.Severity > Info && f.Cause == "" && f.Key() != beside.Key() {
			others = append(others, f)
		}
	}
	switch len(others) {
	case 0:
		return ""
	case 1:
		return "; also " + ofOwner(others[0])
	}
	return fmt.Sprintf("; also %d other findings", len(others))
}

// ofOwner is shorter than [inShort]: of a pod's name it has what its owner is called.
func ofOwner(f *Finding) string {
	if p := f.Subject.Pod; f.Count <= 1 && p.Name != "" {
		return inBrief(f) + " of " + ownerOf(p)
	}
	return inShort(f)
}

// inBrief says in a few words what a finding is.
func inBrief(f *Finding) string {
	return cmp.Or(f.Brief, kindOf(f.ID).pod, strings.ReplaceAll(string(f.ID), "-", " "))
}

// inShort says in a few words what a finding is, and of whom.
func inShort(f *Finding) string {
	what := inBrief(f)
	if f.Count > 1 && !f.Subject.none() {
		what += " in " + count(f.Count, "pod") + " of " + ownerOf(f.Subject.Pod)
	} else if who := f.Subject.ObjectRef.Path(); who != "" {
		what += " of " + who
	} else if f.Count > 1 {
		what += " in " + count(f.Count, "pod")
	}
	return what
}

// inventory says what there is on the node, and whether all calls are answered. It
// has no figure that changes by itself.
func (v *view) inventory() string {
	answered := ", every call is answered"
	switch {
	case v.StatusErr != nil:
		answered = ", the last Status failed"
	case v.VersionErr != nil:
		answered = ", the last Version failed"
	case len(v.Failing) > 0:
		answered = ", the last inspection of " + count(len(v.Failing), "pod") + " failed"
	}
	return count(v.Counts.Pods, "pod") + ", " + count(v.Counts.Containers, "container") + answered
}
