package diagnose

import (
	"regexp"
	"strings"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

// UnreadableAnswer is a runtime whose answers nobody can read.
const UnreadableAnswer ID = "unreadable-answer"

// entryID matches the id of a list entry that cannot be read. (package cri)
var entryID = regexp.MustCompile(`\(id "([0-9A-Za-z_.-]+)"\)`)

// The answer to a list, Status or Version cannot be read. If the answer is about a single object, that is a failure of
// the object's inspection.
var unreadableAnswer = Rule{
	ID: UnreadableAnswer, Needs: Unpaused,
	Find: func(f *Facts, report func(Match)) {
		var all []*answers.Failure
		for _, e := range f.Failures() {
			if e != nil && answers.IsUnreadable(e.Err) && e.InRow >= f.Snapshot.Policy.Bounds().ListFails {
				all = append(all, e)
			}
		}
		if all == nil {
			return
		}
		first := all[0]
		v := Values{"operation": first.Op, "error": extract(strings.TrimPrefix(plain(first.Err), "unreadable answer: "))}
		if found := entryID.FindStringSubmatch(words(first.Err)); found != nil {
			v["id"] = found[1]
		}
		m := Match{
			Severity: f.failing(first.First), Since: first.First, Subject: Subject{Operation: first.Op.String()}, Values: v, Lines: map[string][]line{},
			Steps: map[string][]Step{"+restart": f.thenRestart(f.advise("answer.unreadable", v)...)},
		}
		if first.Op == call.Version {
			m.Severity = Warning // the kubelet asks for Version when it starts, and then hardly ever
		}
		m.Lines["refusals"] = f.refusalLines(all)
		if f.StatusErr != nil {
			m.Lines["clock"] = f.downLine()
		}
		report(m)
	},
}
