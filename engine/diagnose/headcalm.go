package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/waits"
)

// byFindings returns the headline of a node whose runtime, lists, PLEG and Status are fine. It is about the worst
// finding.
func (f *Facts) byFindings() Headline {
	for i := range f.holding { // critical findings come first, except that effects come after their causes
		if o := &f.holding[i]; o.Severity == Critical {
			return f.byCritical(o)
		}
	}
	for i := range f.holding {
		o := &f.holding[i]
		h := Headline{Word: ruleOf(o.ID).Warned, Severity: Warning, parts: parts{ready: readyNow, effect: cmp.Or(o.Headed, o.Summary)}}
		if o.Group == groupSocket {
			h.Word, h.parts.ready = SocketLost, "node Ready until the kubelet reconnects: "
		}
		if h.Word == "" || o.Severity == Info {
			continue
		}
		h.parts.lacks, h.parts.also = f.lacking(o), f.alsoWrong(o)
		return h
	}
	if text := f.notAsked(); text != "" {
		return Headline{Word: NotAllSeen, Severity: Warning, parts: parts{effect: text}}
	}
	if aside := f.aside(); aside != "" {
		return Headline{Word: Degraded, Severity: Warning, parts: parts{ready: staysReady, effect: aside}}
	}
	return Headline{Word: Healthy, parts: parts{effect: f.inventory()}}
}

// byCritical returns the headline for a critical finding.
func (f *Facts) byCritical(o *Finding) Headline {
	r := ruleOf(o.ID)
	h := Headline{Word: AtRisk, Severity: Critical, parts: parts{effect: o.Summary, end: chainEnd(o.Chain, o.named())}}
	ready := readyNow
	switch {
	case r.Word == Degraded, r.PodAlone && o.Subject.Pod != (pleg.PodRef{}):
		h.Word, ready = Degraded, staysReady
	case r.Word != "":
		h.Word = r.Word
		return h
	}
	if f.nodeWord(Clock{}) == NodeReadyNow { // check does not know what was posted
		h.parts.ready = ready
	}
	h.parts.also = f.alsoWrong(o)
	return h
}

// lacking returns what the runtime lacks, if that is the cause of a finding; else empty.
func (f *Facts) lacking(o *Finding) string {
	for _, c := range f.holding {
		if (c.ID == LimitsNear || c.ID == DiskFull) && o.CauseKey == c.Key() {
			return c.Summary
		}
	}
	return ""
}

// culprits returns how many pods, file systems, or processes without a pod surely hold up calls that hang, according to
// the findings about them. Everything that waits for one file system counts as one culprit.
func (f *Facts) culprits() int {
	all := make(map[any]bool)
	for _, o := range f.holding {
		if o.Cause != "" || o.Severity < Critical || len(o.Nodes) == 0 {
			continue
		}
		i := f.Graph().Find(o.Nodes[0])
		if i < 0 || f.waits.Nodes[i].Kind == waits.Call || !f.waits.HoldsUp(i) {
			continue
		}
		if slices.ContainsFunc(o.Nodes, f.isMount) {
			all[o.Key()] = true
			continue
		}
		for _, s := range append([]Subject{o.Subject}, o.Members[min(1, len(o.Members)):]...) {
			if s.ofNoPod() {
				all[o.Key()] = true
			} else {
				all[s.Pod] = true
			}
		}
	}
	return len(all)
}

// isMount reports whether a key of the graph is that of a file system.
func (f *Facts) isMount(key string) bool {
	i := f.Graph().Find(key)
	return i >= 0 && f.waits.Nodes[i].Kind == waits.Mount
}

// notAsked returns in words which objects nobody asked for, if that is why nothing is known to be wrong; empty if
// everything was asked for.
func (f *Facts) notAsked() string {
	why, s := Unfinished(f.Snapshot), f.Sweep
	switch {
	case f.Anomalies.NoID > 0:
		return why
	case why == "" || s == nil || !f.once(): // a running engine asks for everything in its relists
		return ""
	}
	return fmt.Sprintf("%s of %s asked: %s", thousands(s.Done), count(s.Total, "object"), why)
}

// Unfinished returns why some objects of a node were not asked for; empty if all were.
func Unfinished(s *engine.Snapshot) string {
	if n := s.Anomalies.NoID; n > 0 {
		return count(n, "object") + " listed without an id, which nobody can ask for"
	}
	return Unasked(s)
}

// Unasked returns why some objects of a node that have an id were not asked for; empty if all were.
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

// aside returns how many warnings there are on a node that stays Ready, and which. It names both of two warnings; of
// more than two it names the first. It is empty if there is none.
func (f *Facts) aside() string {
	var all []*Finding
	for i := range f.holding {
		if f.holding[i].Severity == Warning {
			all = append(all, &f.holding[i])
		}
	}
	if len(all) == 0 {
		return ""
	}
	first := all[0]
	text, end := count(len(all), "warning"), chainEnd(first.Chain, nil)
	if end != "" {
		end = " -> " + end
	}
	if !slices.ContainsFunc(all, func(o *Finding) bool { return !ruleOf(o.ID).App }) { // a reader who sees DEGRADED fears for the node
		text += ", about " + map[bool]string{true: "an application", false: "applications"}[len(all) == 1]
	}
	text += ": "
	switch len(all) {
	case 1:
		if first.Subject.ofNoPod() && first.Count <= 1 && end == "" { // its short name tells less than a person needs
			return text + first.Summary
		}
		return text + first.inShort() + end
	case 2: // there is room for both without the last letters of their pods
		return text + first.ofOwner() + end + " and " + all[1].ofOwner()
	}
	return text + first.inShort() + end + fmt.Sprintf(", and %d more", len(all)-1)
}

// alsoWrong returns what else is wrong, apart from effects of other findings. It names one finding; of more than one it
// gives the number. It is empty if there is none.
func (f *Facts) alsoWrong(beside *Finding) string {
	var others []*Finding
	for i := range f.holding {
		if o := &f.holding[i]; o.Severity > Info && o.Cause == "" && o.Key() != beside.Key() {
			others = append(others, o)
		}
	}
	switch len(others) {
	case 0:
		return ""
	case 1:
		return "; also " + others[0].ofOwner()
	}
	return fmt.Sprintf("; also %d other findings", len(others))
}

// inBrief returns in a few words what a finding is.
func (f *Finding) inBrief() string {
	return cmp.Or(f.Brief, ruleOf(f.ID).row().Pod, strings.ReplaceAll(string(f.ID), "-", " "))
}

// inShort returns a few words that name the finding, and its object or its pods.
func (f *Finding) inShort() string {
	what := f.inBrief()
	if f.Count > 1 && !f.Subject.ofNoPod() {
		what += " in " + count(f.Count, "pod") + " of " + ownerPath(f.Subject.Pod)
	} else if who := f.Subject.ObjectRef.Path(); who != "" {
		what += " of " + who
	} else if f.Count > 1 {
		what += " in " + count(f.Count, "pod")
	}
	return what
}

// ofOwner returns a shorter text than inShort: it names the owner of a pod.
func (f *Finding) ofOwner() string {
	if p := f.Subject.Pod; f.Count <= 1 && p.Name != "" {
		return f.inBrief() + " of " + ownerPath(p)
	}
	return f.inShort()
}

// inventory returns what is on the node, and whether all calls are answered. No figure in it changes by itself.
func (f *Facts) inventory() string {
	answered := ", every call is answered"
	switch {
	case f.StatusErr != nil:
		answered = ", the last Status failed"
	case f.VersionErr != nil:
		answered = ", the last Version failed"
	case len(f.Failing) > 0:
		answered = ", the last inspection of " + count(len(f.Failing), "pod") + " failed"
	}
	return count(f.Counts.Pods, "pod") + ", " + count(f.Counts.Containers, "container") + answered
}
