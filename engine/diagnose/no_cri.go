package diagnose

import (
	"cmp"
	"errors"

	"github.com/plegtop/plegtop/engine/call"
)

// servesNoCRI reports whether a containerd answers that has no CRI, as the packages of Docker
// configure it: it comes back the same from each restart.
func (v *view) servesNoCRI() bool {
	return len(v.Refusals) > 0 && errors.Is(v.Refusals[0].Err, call.ErrUnimplemented) && v.program() == "containerd"
}

// enableCRI returns the steps that bring back the CRI of a containerd.
func (v *view) enableCRI() []Step {
	file := "its configuration"
	if of := v.flavours(); len(of) == 1 {
		file = cmp.Or(of[0].Config, file)
	}
	return []Step{
		{Text: "its row io.containerd.grpc.v1 cri must be there, and ok: that plugin serves the CRI", Command: v.ctr("plugins ls") + " | grep -i cri"},
		{Text: "whether its configuration switches them off", Command: v.dumpConfig("disabled_plugins")},
		v.logStep("why one of them did not start"),
		inWords("remove cri from disabled_plugins in " + file + ", or mend what its log says of the plugin; then restart the runtime: as it is now it comes back the same"),
		v.restart("reads its configuration again; " + v.restartRisk()).when("once that is done"),
	}
}
