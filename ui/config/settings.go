package config

import (
	"time"

	"github.com/plegtop/plegtop/keymap"
)

// Settings is what a file may set. A zero field was not set: the flag or
// default holds. Keys is always a whole map, the default one if no file changes
// it.
type Settings struct {
	Keys       keymap.Map
	Theme      string // a name of package theme
	ASCII      bool
	Sort       string // one of Columns
	Descending bool
	TimeFormat string        // one of TimeFormats
	Filter     string        // in the language of package filter; known to parse
	Namespaces []string      // to show; empty for all
	Problems   bool          // show only pods with a problem
	Period     time.Duration // of the relist
}

// Columns lists the columns by which the pods can be sorted: their heads on the
// screen, in lower case and without spaces.
var Columns = []string{
	"namespace", "pod", "state", "ready", "ctrs", "exit", "rst", "age", "lastevent", "inspect", "worst", "remark",
}

// TimeFormats lists how the time of an event can be shown.
var TimeFormats = []string{"clock", "age", "full"}
