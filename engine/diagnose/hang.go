package diagnose

import (
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
)

// lasted returns for how long a call has had no answer, or had none when it was asked last.
func (v *view) lasted(h *answers.Hang) time.Duration { return max(h.Took, v.At.Sub(h.Since)) }

// unanswered says for how long a call has had no answer.
func (v *view) unanswered(h *answers.Hang) string {
	switch {
	case h.Out:
		return "got no answer for " + going(v.lasted(h))
	case h.InRow > 1:
		return "got no answer for " + going(v.At.Sub(h.Since))
	}
	return "got no answer within " + span(h.Took)
}

// severity of a hang: critical when it goes on. A single one of two or three seconds
// is over before anybody could look, and holds up a relist no longer than many
// changed pods do. What a call about the whole runtime takes there nobody knows
// before one was answered: a running engine waits twice as long unless nothing else
// is answered, either. One bounded look does not come back to see.
func (v *view) severity(h *answers.Hang) Severity {
	lasted, wait := v.lasted(h), v.Policy.HungLong()
	if h.Swept && h.InRow < 2 {
		lasted = h.Took // nobody has asked since
	}
	if l := v.List(); l != nil && h.Op.AboutObject() {
		lasted = max(lasted, l.Took) // which may wait for it
	}
	if !h.Op.AboutObject() && !v.Scope.Whole() && v.Sums(h.Op).LastOK.IsZero() {
		wait *= 2
	}
	if v.Policy.Bounds().OneMoment && (v.List() != nil || !h.Op.AboutObject()) {
		wait = 0 // nobody waits longer for a list than it takes to find what holds it up
	}
	if h.Sure && lasted >= wait {
		return Critical
	}
	return Warning
}

// hangLine says how long a call has been out, or when its deadline ended it.
func (v *view) hangLine(h *answers.Hang) string {
	what := h.Op.String()
	if h.Op.AboutObject() {
		what += " of " + h.Object().String()
	}
	switch {
	case h.Out && h.InRow > 0:
		return fmt.Sprintf("%s: no reply for %s, since %s; %s ended without one", what, going(v.lasted(h)), v.clock(h.Since), count(h.InRow, "call"))
	case h.Out:
		return fmt.Sprintf("%s: no reply for %s, since %s", what, going(h.Took), v.clock(h.Since))
	case h.InRow > 1:
		return fmt.Sprintf("%s got no answer within %s, %d times in a row since %s", what, span(h.Took), h.InRow, v.clock(h.Since))
	}
	return fmt.Sprintf("%s got no answer within %s, %s ago", what, span(h.Took), going(v.At.Sub(h.Since)))
}
