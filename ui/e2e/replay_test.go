//go:build linux

package e2e

import (
	"path/filepath"
	"testing"
)

// A screen goes back in what is in memory and returns; what it recorded another one plays.
func TestRewindAndReplay(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "night.plegrec")
	r := demo(t, 120, 40, nil, "--demo=quiet", "--record", file)
	r.see(t, "HEALTHY")
	r.press(t, "(")
	r.see(t, "REWIND")
	r.press(t, "\x1b")
	r.see(t, "live again")
	r.press(t, "q")
	r.over(t, 0)

	r = start(t, 120, 40, nil, plegtop(t), "--replay", file)
	r.see(t, "REPLAY")
	r.see(t, "demo-node")
	r.press(t, " ")
	r.see(t, "paused")
	r.press(t, "q")
	r.over(t, 0)

	r = start(t, 80, 24, nil, plegtop(t), "--replay", file, "-t", "-0s")
	r.see(t, "paused")
	r.press(t, "q")
	r.over(t, 0)
}
