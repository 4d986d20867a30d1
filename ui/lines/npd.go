package lines

import (
	"fmt"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
)

// npdLimit is how many bytes of a plugin's output node-problem-detector reads
// (max_output_length, 80 by default), here with the line feed.
const npdLimit = 80

func appendNPD(b []byte, u diagnose.Update) []byte {
	s := u.Snapshot
	more := ""
	if n := len(u.Findings) - 1; n > 0 {
		more = fmt.Sprintf(" +%d", n)
	}
	switch worst := say.Worst(u.Findings); {
	case worst == diagnose.Critical:
		return npdLine(b, npdFinding(diagnose.RootCause(u.Findings), s, npdLimit-1-len(more))+more)
	case s.Sweep == nil: // it never came to that
		return npdLine(b, "unknown: "+u.Headline.Word+" "+u.Headline.Text)
	case unknown(s) != "":
		return npdLine(b, "unknown: "+unknown(s))
	case !s.Health.Healthy && worst < diagnose.Warning:
		return npdLine(b, "unknown: PLEG is not healthy, and nothing tells why")
	case worst == diagnose.Warning:
		return npdLine(b, "ok, warning: "+npdFinding(diagnose.RootCause(u.Findings), s, npdLimit))
	case diagnose.Unfinished(s) != "":
		return npdLine(b, "ok, warning: "+diagnose.Unfinished(s))
	}
	return npdLine(b, "ok: "+say.Fine(s))
}

// unknown says why a check that found nothing critical says nothing of the node; empty if
// it does. A few objects that lack an id do not hide the others.
func unknown(s *engine.Snapshot) string {
	if s.Sweep != nil && s.Anomalies.NoID <= s.Sweep.Total {
		return diagnose.Unasked(s)
	}
	return diagnose.Unfinished(s)
}

// npdFinding returns f in at most limit bytes: what is wrong, on what, and for
// how long where that is known. A pod's name that is too long loses its middle.
func npdFinding(f diagnose.Finding, s *engine.Snapshot, limit int) string {
	head, on := string(f.ID)+": ", f.Subject
	if on.Pod.String() == "" {
		return cut(plain(head+f.Summary), limit)
	}
	tail := ""
	if d := waited(on, s); d > 0 {
		tail = " " + text.Age(d)
	}
	pod, container := plain(on.Pod.String()), strings.TrimPrefix(on.Path(), on.Pod.String())
	line := func(pod string) string { return head + plain(say.Words(on.Operation, pod+container)) }
	if over := len(line(pod)) + len(tail) - limit; over > 0 {
		pod = shorten(pod, len(pod)-over)
	}
	return cut(line(pod), limit-len(tail)) + tail
}

// waited returns how long a call about on has been out, or was until its
// deadline; 0 if none was.
func waited(on diagnose.Subject, s *engine.Snapshot) (longest time.Duration) {
	about := func(f call.Flight) bool { return f.Op.String() == on.Operation && f.ID == on.ID }
	for _, f := range s.InFlight {
		if about(f) {
			longest = max(longest, f.Elapsed(s.At))
		}
	}
	if s.Sweep == nil {
		return longest
	}
	for _, w := range s.Sweep.Hung {
		if about(w.Flight) {
			longest = max(longest, w.Took)
		}
	}
	return longest
}

// npdLine appends the beginning of line that fits, with a line feed.
func npdLine(b []byte, line string) []byte {
	return append(append(b, cut(plain(line), npdLimit-1)...), '\n')
}

func plain(s string) string { return text.PlainASCII(text.Clean(s)) }

// cut returns at most n bytes of the ASCII text s, with a mark where some are
// missing.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:max(n-1, 0)] + "~"
}

// shortest is what [shorten] leaves of a name at least.
const shortest = 16

// shorten takes the middle out of the ASCII text s, so that about n bytes of it
// are left: both the namespace and the ending that differs between two pods of
// a deployment.
func shorten(s string, n int) string {
	n = max(n, shortest)
	if len(s) <= n {
		return s
	}
	head := n / 2
	return s[:head] + "~" + s[len(s)-(n-head-1):]
}
