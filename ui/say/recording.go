package say

import (
	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/ui/text"
)

// Recording says how the recording stands; nothing where none is made.
func Recording(r engine.Recording) string {
	said := ""
	switch {
	case r.Ended != "" && r.File != "":
		said = "to " + r.File + " ended: " + r.Ended
	case r.Ended != "":
		return "ended: " + r.Ended
	case r.Waits:
		said = "to " + r.File + " once something is critical"
	case r.File != "":
		said = "to " + r.File + ", " + text.Bytes(uint64(r.Written)) + " so far"
	}
	if r.Span > 0 {
		if said != "" {
			said += "; "
		}
		said += "the last " + text.Age(r.Span) + " in memory, " + text.Bytes(uint64(r.Kept))
	}
	return said
}
