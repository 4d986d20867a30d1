package diagnose

import (
	"cmp"
	"slices"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// waitingTold is how many processes in the kernel are told beside a list that
// hangs.
const waitingTold = 3

// waiting names processes of this runtime's containers that were found in the
// kernel twice, those that have been there longest first.
func (in Input) waiting() []string {
	if in.Evidence == nil || in.Evidence.Processes.Missing != "" || !anyStuck(&in.Evidence.Processes) {
		return nil
	}
	var found []stuckProcess
	owners := in.owners()
	for id, processes := range in.Evidence.Processes.Containers {
		owner, known := owners[id]
		for _, p := range processes {
			if known && p.State == evidence.Uninterrupted && p.For >= stuckLasting {
				found = append(found, stuckProcess{Process: p, owner: owner})
			}
		}
	}
	slices.SortFunc(found, func(a, b stuckProcess) int { return cmp.Or(cmp.Compare(b.For, a.For), cmp.Compare(a.PID, b.PID)) })
	var lines []string
	for _, p := range found[:min(len(found), waitingTold)] {
		lines = append(lines, describe("a process of "+p.owner.String(), p.Process))
	}
	return lines
}

// owners returns what is listed, by id, and where a list is missing also those
// containers on the node whose shim was started for our socket.
func (in Input) owners() map[string]listed {
	owners := listing(in.Snapshot)
	if in.Snapshot.Failure == nil && in.Snapshot.Partial == "" && !in.Snapshot.Health.ListedAt.IsZero() {
		return owners
	}
	shims := make(map[int]string) // of this runtime: their sandbox
	for _, p := range in.Evidence.Processes.Shims {
		if in.owns(p) {
			shims[p.PID] = p.Sandbox
		}
	}
	for id, processes := range in.Evidence.Processes.Containers {
		if _, known := owners[id]; known || id == "" {
			continue
		}
		for _, p := range processes {
			if sandbox, ours := shims[p.Parent]; ours {
				owners[id] = listed{pod: owners[sandbox].pod, id: id, sandboxID: sandbox, sandbox: id == sandbox, state: pleg.Running}
				break
			}
		}
	}
	return owners
}
