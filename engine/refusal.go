package engine

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/ledger"
)

// judge says why a source is not to be opened, in plain words, or that it has to wait
// until that is known.
func (s *source) judge(m *machine) (refused string, waits bool) {
	v := m.status.version
	switch {
	case s.stream.Refuse != "":
		return s.stream.Refuse, false
	case s.stream.Source != ledger.FromCRI || s.stream.Forced:
		return "", false
	case v.RuntimeName == "":
		return "", true
	case !strings.EqualFold(v.RuntimeName, "containerd"):
		return "", false
	}
	return harmful(v.RuntimeVersion), false
}

// harmful says why the event stream of a containerd must not be read beside the kubelet;
// empty if it may. In 1.7 all readers share one channel, and each event comes to one of
// them; from 2.0 on each has its own.
func harmful(version string) string {
	const anyway = "; --force-events opens it all the same"
	major, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	n, err := strconv.Atoi(major)
	minor, _, _ := strings.Cut(rest, ".")
	switch {
	case err != nil:
		return fmt.Sprintf("containerd of unknown version %q: before 2.0 a second reader takes the kubelet's events%s", version, anyway)
	case n >= 2:
		return ""
	case minor == "7":
		return "containerd 1.7: a second reader takes the kubelet's events" + anyway
	}
	return "containerd before 1.7 has no event stream" + anyway
}

// notEnabledReason says in plain words why there is no such stream.
func notEnabledReason(in StreamEnded) string {
	switch {
	case in.Source != ledger.FromCRI:
		return in.Text
	case in.Kind == call.ErrUnimplemented:
		return "the runtime has no event stream"
	}
	return "the runtime ends its event stream at once: it is switched off there"
}
