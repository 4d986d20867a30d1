package diagnose

import (
	"slices"

	"github.com/plegtop/plegtop/engine/waits"
)

// groupSocket is the group of a finding that explains less than others of its kind: the runtime works, and only its
// socket is lost.
const groupSocket = "socket"

// explain gives each finding its cause. The graph of who waits for whom knows best. For the other findings it uses the
// rows of findings.yaml, which say which kind explains which.
func (f *Facts) explain(findings []Finding) {
	f.explainByGraph(findings)
	for _, r := range rules { // causes of causes come first
		for i := range findings {
			if findings[i].ID == r.ID {
				explainBy(&findings[i], findings)
			}
		}
	}
	toRoots(findings)
}

// explainByGraph finds, for each finding, the other findings that it surely waits for, and makes the one at the root of
// them its cause. A cause is as bad as the worst of its effects.
func (f *Facts) explainByGraph(findings []Finding) {
	if f.waits == nil {
		return
	}
	waiting := make([]waits.Set, len(findings)) // what waits for each finding
	for i := range findings {
		if o := &findings[i]; o.ID == PLEGUnhealthy {
			o.Nodes = []string{waits.Key(waits.Relist, "")}
		}
		waiting[i] = f.waits.Waiting(findings[i].Nodes...)
	}
	behind := func(i, j int) bool { return i != j && waiting[j].HasAny(f.waits, findings[i].Nodes...) }
	for i := range findings {
		root := -1
		for j := range findings {
			if behind(i, j) && !behind(j, i) && (root < 0 || behind(root, j)) {
				root = j
			}
		}
		if root >= 0 {
			findings[i].because(&findings[root])
			findings[root].Severity = max(findings[root].Severity, findings[i].Severity)
		}
	}
}

// explainBy makes c the cause of the findings that its kind explains.
func explainBy(c *Finding, findings []Finding) {
	for i := range findings {
		o := &findings[i]
		r := ruleOf(o.ID)
		if o.Cause == "" && rank(c.ID) < rank(o.ID) && slices.Contains(r.row().Because, string(c.ID)) && accountsFor(c, o, r) {
			o.because(c)
		}
	}
}

// accountsFor reports whether c explains o. The kind of c may explain the kind of o.
func accountsFor(c, o *Finding, r *Rule) bool {
	switch {
	case c.Severity < o.Severity, c.Severity == Info:
		return false
	case c.Subject.Pod != o.Subject.Pod && !c.Subject.ofNoPod() && !o.Subject.ofNoPod():
		return false // they are about different pods
	case waitsForRelists(o.ID) && (c.Subject.Operation == "Status" || c.Subject.Operation == "Version"):
		return false // that alone explains nothing about lists and objects
	case o.ID == PLEGUnhealthy && o.Subject.Operation != "" && c.Subject.Operation != "":
		return false // a list fails with its own error
	case r.Whole && !c.Subject.ofNoPod():
		return false
	case o.ID == RuntimeRestarts && o.Severity == Info:
		return false // the runtime runs: what is wrong now may have begun after the start of the runtime
	case c.Group == groupSocket || o.Group == groupSocket:
		return false // calls are answered
	case c.ID == GhostRunning && o.Subject.ofNoPod():
		return false // a ghost explains only what is wrong with its own pod
	}
	return !(c.ID == ProcessStuck || c.ID == LimitsNear) || !o.leadsOn()
}

// waitsForRelists reports whether findings of a kind may be explained by something that holds up relists.
func waitsForRelists(id ID) bool { return id == ListHung || id == PLEGUnhealthy }

// toRoots replaces a cause that is itself an effect by the root of that. A cause that is no longer there explains
// nothing. A cause that the finding itself explains does not count either.
func toRoots(findings []Finding) {
	changed := true
	for n := 0; changed && n <= len(findings); n++ {
		changed = false
		for i := range findings {
			o := &findings[i]
			if o.Cause == "" {
				continue
			}
			switch j := slices.IndexFunc(findings, func(c Finding) bool { return c.Key() == o.CauseKey }); {
			case j < 0 || findings[j].CauseKey == o.Key():
				o.isRoot()
			case findings[j].Cause != "":
				o.because(&findings[j])
				changed = true
			}
		}
	}
}
