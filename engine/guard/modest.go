package guard

import (
	"os"
	"runtime"
	"runtime/debug"
)

// cores is how many processor cores work for plegtop at once: more bring it nothing, and a node has
// other work. Without a limit Go's collector takes each idle core of a big node, again and again.
const cores = 2

// Modest keeps small what plegtop takes of a node, if the environment does not say how much.
func Modest() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50) // half the garbage of a big node's lists, for a tenth more work
	}
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(min(cores, runtime.GOMAXPROCS(0)))
	}
}
