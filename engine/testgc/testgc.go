// Package testgc is imported by tests for its effect alone: the garbage collector runs a quarter as
// often in them. What the simulations of a test make is garbage at once, and collecting it took every
// sixth second of two slow cores. GOGC, where it is set, holds.
package testgc

import (
	"os"
	"runtime/debug"
)

func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}
