package fleet

import (
	"cmp"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
)

// An answer is what is read of the JSON of check, which docs/check.schema.json describes.
type answer struct {
	Schema   string
	Headline struct {
		Word, Severity, Text, Node string
		Clock                      struct {
			What                 string
			InSeconds, ToSeconds float64
		}
	}
	PLEG     struct{ Healthy bool }
	Findings []struct {
		ID, Severity, Summary string
		Subject               struct{ Operation, Namespace, Pod, Container string }
		Chain                 []struct{ Name, Proof string }
	}
}

// checkSchema is what the schema of an answer begins with: fields are only ever added to it.
const checkSchema = "plegtop/check/"

// headline returns the headline of an answer.
func (a *answer) headline() diagnose.Headline {
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	h := &a.Headline
	return diagnose.Headline{
		Word: h.Word, Severity: severity(h.Severity), Text: h.Text, Node: h.Node,
		Clock: diagnose.Clock{What: h.Clock.What, In: seconds(h.Clock.InSeconds), To: seconds(h.Clock.ToSeconds)},
	}
}

// worst returns how bad it is, as the exit code of check has it: PLEG that is not healthy, with
// nothing that tells why, is never well.
func (a *answer) worst() diagnose.Severity {
	worst := severity(a.Headline.Severity)
	for i := range a.Findings {
		worst = max(worst, severity(a.Findings[i].Severity))
	}
	if !a.PLEG.Healthy {
		return max(worst, diagnose.Warning)
	}
	return worst
}

// culprit names what holds up what waits, or else whom the worst finding is about; empty where
// nothing is wrong, or nobody is named.
func (a *answer) culprit() string {
	if len(a.Findings) == 0 || severity(a.Findings[0].Severity) == diagnose.Info {
		return ""
	}
	f := &a.Findings[0]
	s, proven := f.Subject, ""
	for i, link := range f.Chain {
		if i > 0 && link.Proof == "" { // from here on it is only likely
			break
		}
		proven = link.Name
	}
	who := strings.Trim(strings.Join([]string{s.Namespace, s.Pod, s.Container}, "/"), "/")
	if len(f.Chain) > 1 && who != "" && !strings.Contains(proven, who) {
		return proven + " of " + who
	}
	return cmp.Or(who, s.Operation)
}

// severity returns the severity of a word; a word that is not known is no less than a warning.
func severity(word string) diagnose.Severity {
	for _, s := range []diagnose.Severity{diagnose.Info, diagnose.Critical} {
		if word == s.String() {
			return s
		}
	}
	return diagnose.Warning
}
