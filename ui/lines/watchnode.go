package lines

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/jsonline"
	"github.com/plegtop/plegtop/ui/text"
)

// node appends what has changed of what a kubelet would do and post: its sync loop,
// and its Ready condition. In a pause, and before the runtime has answered, nothing is
// known of them.
func (v *watcher) node(b []byte, s *engine.Snapshot) []byte {
	n := &s.Node
	if s.Paused || !n.Known {
		return b
	}
	loop, since := loopOf(s)
	was := cmp.Or(v.loop, loopWorks)
	why := slices.DeleteFunc([]string{n.RuntimeDown, n.PLEG, n.RuntimeErr}, func(s string) bool { return s == "" })
	if loop == loopStopped && len(why) == 0 {
		loop = was // all is well again, and it sees so within its nap
	}
	if v.loop = loop; loop != was {
		b = v.loopTurn(b, s, since, why)
	}
	posted := engine.Node{Ready: n.Ready, Reason: n.Reason, Message: figures.ReplaceAllString(n.Message, "${1}0")}
	if posted == v.posted {
		return b
	}
	v.posted = posted
	if v.o.JSON {
		return jsonline.Append(b, &nodeLine{newHeader(s.At, "node"), conditionObject{n.Ready, n.Reason, n.Message}})
	}
	word := "NotReady"
	if n.Ready {
		word = "Ready"
	}
	return fmt.Appendf(stamp(b, s.At), "node would be posted %s: %s: %s\n", word, text.Clean(n.Reason), text.Clean(diagnose.Rounded(n.Message)))
}

// The states of the sync loop.
const (
	loopWorks   = "working"
	loopHeld    = "held"
	loopStopped = "stopped"
)

// loopOf returns the state of the sync loop, and since when it is so, where that is
// known.
func loopOf(s *engine.Snapshot) (state string, since time.Time) {
	switch loop := diagnose.HealthOf(s, diagnose.HealthLoop); {
	case loop.Level == diagnose.HealthIll:
		return loopStopped, loop.Since
	case loop.Level == diagnose.HealthLate && loop.Lasts(s.At):
		return loopHeld, loop.Since
	}
	return loopWorks, time.Time{}
}

func (v *watcher) loopTurn(b []byte, s *engine.Snapshot, since time.Time, why []string) []byte {
	if v.loop != loopStopped {
		why = nil
	}
	if v.o.JSON {
		return jsonline.Append(b, &loopLine{newHeader(s.At, "loop"), v.loop, since, why})
	}
	said := "sync loop works"
	switch v.loop {
	case loopStopped:
		said = "sync loop stopped: " + diagnose.Rounded(strings.Join(why, ", "))
	case loopHeld:
		said = "sync loop held: its housekeeping waits for a list"
	}
	return append(append(stamp(b, s.At), text.Clean(said)...), '\n')
}
