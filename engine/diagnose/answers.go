package diagnose

import (
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

// meanwhile says which calls are answered while h hangs, and how fast; empty if
// none is known to be.
func (v *view) meanwhile(h *answers.Hang) string {
	var answers []string
	for _, op := range call.Operations() {
		if took, ok := v.AnswerTime(op, v.BeganAt(h)); ok {
			answers = append(answers, op.String()+" in "+span(took))
		}
	}
	if len(answers) == 0 {
		return ""
	}
	return "meanwhile answered: " + join(answers)
}
