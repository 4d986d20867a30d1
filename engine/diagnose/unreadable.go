package diagnose

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

// UnreadableAnswer is a runtime that is there and answers what nobody can read.
const UnreadableAnswer ID = "unreadable-answer"

var unreadableAnswerKind = &kind{
	id: UnreadableAnswer, find: unreadableAnswer,
	needs: unpaused, is: garbles,
	severity: "critical",
	when: "a list or Status is answered with what breaks the rules of protobuf, such as a text that is not UTF-8, and which entry it is; a warning for the first " +
		"10 s, or for Version alone",
}

// entryID finds the id of the entry of a list that cannot be read.
var entryID = regexp.MustCompile(`\(id "([0-9A-Za-z_.-]+)"\)`)

// entry returns the id of the entry of a list that cannot be read; nothing where the error names none.
func entry(f *answers.Failure) []string {
	if found := entryID.FindStringSubmatch(words(f.Err)); found != nil {
		return one(found[1])
	}
	return nil
}

// unreadableAnswer finds lists, Status and Version whose answers cannot be read. What
// cannot be read of single objects is a failure of their inspections.
func unreadableAnswer(v *view) []Finding {
	var all []*answers.Failure
	for _, f := range v.Failures() {
		if f != nil && answers.IsUnreadable(f.Err) && f.InRow >= v.Policy.Bounds().ListFails {
			all = append(all, f)
		}
	}
	if len(all) == 0 {
		return nil
	}
	first := all[0]
	f := Finding{
		ID: UnreadableAnswer, Severity: v.failingSeverity(first.First), Since: first.First,
		Subject: Subject{Operation: first.Op.String()},
		Summary: fmt.Sprintf("the answer to %v cannot be read: %s", first.Op, excerpt(strings.TrimPrefix(plain(first.Err), "unreadable answer: "))),
		Next:    v.runtimeSteps(v.advise("answer.unreadable", Values{"id": entry(first)})...),
	}
	if first.Op == call.Version {
		f.Severity = Warning // the kubelet asks for it when it starts, and then hardly ever
	}
	for _, r := range all {
		f.say(v.refusal(*r))
	}
	f.say("a kubelet of 1.34 or newer cannot read it either, and takes the call for failed; an older one takes texts that are not UTF-8")
	if v.StatusErr != nil {
		f.say(v.downClock())
	}
	return []Finding{f}
}
