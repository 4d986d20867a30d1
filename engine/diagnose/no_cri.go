package diagnose

import (
	"errors"
	"strings"

	"github.com/plegtop/plegtop/engine/call"
)

// servesNoCRI reports whether a containerd answers that has no CRI, as the packages of Docker
// configure it: it comes back the same from each restart.
func (v *view) servesNoCRI() bool {
	return len(v.Refusals) > 0 && errors.Is(v.Refusals[0].Err, call.ErrUnimplemented) && v.program() == "containerd"
}

// pluginFailed stands between the name of a plugin and its own error (package cri).
const pluginFailed = " did not start: "

// enableCRI returns the steps that bring back the CRI of a containerd: by what its plugin itself says
// where it said why it did not start.
func (v *view) enableCRI() []Step {
	if said := plain(v.Refusals[0].Err); strings.Contains(said, "fsnotify") && strings.Contains(said, "too many open files") {
		return append(v.advise("runtime.no-inotify", nil), v.againOnce("the limit is raised", "brings its CRI back")...)
	} else if _, why, failed := strings.Cut(said, pluginFailed); failed {
		return append(v.advise("runtime.plugin-failed", Values{"error": one(why)}), v.againOnce("that is done", "reads its configuration again")...)
	}
	return append(v.advise("runtime.no-cri", nil), v.againOnce("that is done", "reads its configuration again")...)
}

// againOnce returns the restart of the runtime for when something is so.
func (v *view) againOnce(so, effect string) []Step {
	again := v.restart(effect)
	for i := range again {
		again[i] = again[i].after(so)
	}
	return again
}
