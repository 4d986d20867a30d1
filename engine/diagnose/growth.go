package diagnose

import (
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

// growthSpan is the least time over which a rate is given.
const growthSpan = time.Minute

// forecast says how fast a list grows and when it will be full; empty if that
// is not known yet or if it does not grow.
func (v *view) forecast(op call.Operation, n uint64) string {
	lists := v.Memory.Lists
	if len(lists) == 0 {
		return ""
	}
	was, seen := lists[0].Of(op), v.At.Sub(lists[0].At)
	if seen < growthSpan || n <= was || was == 0 {
		return ""
	}
	perMinute := float64(n-was) / seen.Minutes()
	grows := fmt.Sprintf("grows by %s a minute", size(uint64(perMinute)))
	if n >= listLimit {
		return grows
	}
	left := time.Duration(float64(listLimit-n) / perMinute * float64(time.Minute))
	return grows + ": full in about " + span(max(0, left))
}

// lastSize says how large a list was when both last came through.
func (v *view) lastSize(op call.Operation) string {
	lists := v.Memory.Lists
	if len(lists) == 0 || lists[len(lists)-1].Of(op) == 0 {
		return ""
	}
	was := lists[len(lists)-1]
	return fmt.Sprintf("%s at %s, when it last came through", size(was.Of(op)), v.clock(was.At))
}
