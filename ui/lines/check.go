package lines

import (
	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/finding"
	"github.com/plegtop/plegtop/ui/theme"
)

// CheckOptions say how [Check] writes, and what it cannot know from the
// result. Without JSON and NPD it is text for people.
type CheckOptions struct {
	JSON bool // one object in one line
	NPD  bool // one line for node-problem-detector; wins over JSON

	Colour bool        // for text: only where it goes to a terminal
	Width  int         // for text: the terminal's, at which lines are wrapped; 0 for a pipe, where none is
	Theme  theme.Theme // for text: its symbols, and its colours if Colour; the zero value is the default theme

	Namespaces     []string // findings about pods of others are left out; empty for all
	Node           string   // its name; may be empty
	Source         string   // "cri" or "demo"
	Endpoint       string   // of the runtime
	KubeletVersion string   // whose relist it is, as "1.36" or the node's own "v1.36.2"; empty for the snapshot's
}

// appendCheck appends u, which is of one bounded look. The text holds no control
// byte but the line feed, and escape sequences only for colour; the JSON is of
// [CheckSchema].
func appendCheck(b []byte, u diagnose.Update, o CheckOptions) []byte {
	u.Headline = finding.Checked(u.Headline, u.Snapshot)
	switch {
	case o.NPD:
		return appendNPD(b, u)
	case o.JSON:
		return appendJSON(b, newCheckObject(u, o))
	}
	return appendText(b, u, o)
}

// kubelet returns the release of the kubelet whose relist was made.
func (o CheckOptions) kubelet(s *engine.Snapshot) string {
	if o.KubeletVersion == "" {
		return s.Release.String()
	}
	return o.KubeletVersion
}
