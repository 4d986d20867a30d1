package terminal

import (
	"slices"
	"strings"
	"time"
)

// answerTime is how long a terminal may take to say what its background is: what came
// later would change the colours while somebody reads.
const answerTime = 2 * time.Second

// canTell reports whether a terminal may be asked for its background, and whether the
// answer matters. Consoles, and terminals of old by whose names serial lines go, may show
// the question instead.
func canTell(environ []string) bool {
	name := lookup(environ, "TERM")
	return !NoColor(environ) && !slices.Contains([]string{"", "dumb", "linux", "ansi", "unknown"}, name) && !strings.HasPrefix(name, "vt")
}
