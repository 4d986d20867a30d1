package diagnose

import (
	"fmt"
	"strings"

	"github.com/plegtop/plegtop/engine/evidence"
)

// unit returns the name of the runtime's systemd unit, and of its process.
func (in Input) unit() string {
	name := strings.ToLower(in.Snapshot.Version.RuntimeName)
	switch {
	case strings.Contains(name, "cri-o"), strings.Contains(in.Endpoint, "crio"):
		return "crio"
	case strings.Contains(in.Endpoint, "cri-dockerd"):
		return "cri-docker"
	}
	return "containerd"
}

// logs returns the command that shows the runtime's journal.
func (in Input) logs() string { return "journalctl -u " + in.unit() + " --since -10min --no-pager" }

// runtimeSteps returns steps that end with a restart of the runtime.
func (in Input) runtimeSteps(first ...Step) []Step {
	return append(first, Step{
		Text:    "the last resort: running containers live on, but every pod's lifecycle waits meanwhile",
		Command: "systemctl restart " + in.unit(), Risky: true,
	})
}

// pressure returns the host's stalls where there is evidence of them.
func (in Input) pressure() string {
	if in.Evidence == nil || in.Evidence.Pressure.Missing != "" {
		return ""
	}
	p := in.Evidence.Pressure
	return fmt.Sprintf("host pressure, share of the last 60 s in which some task waited: cpu %.0f%%, io %.0f%%, memory %.0f%%", p.CPU.Some60, p.IO.Some60, p.Memory.Some60)
}

// daemon describes the runtime's own processes that do nothing.
func (in Input) daemon() string {
	if in.Evidence == nil {
		return ""
	}
	for _, p := range in.Evidence.Processes.Daemons {
		if p.State.Stuck() && strings.HasPrefix(p.Command, in.unit()) {
			return describe("the runtime's process", p)
		}
	}
	return ""
}

// describe says what is known of a process in one line.
func describe(role string, p evidence.Process) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: pid %d (%s) is %v", role, p.PID, p.Command, p.State)
	if p.For > 0 && (p.State.Stuck() || p.State == evidence.Zombie) {
		fmt.Fprintf(&b, " for %s", going(p.For))
	}
	if p.Wchan != "" {
		fmt.Fprintf(&b, ", waits in %s", p.Wchan)
	}
	if len(p.Stack) > 0 {
		fmt.Fprintf(&b, ", kernel stack %s", strings.Join(p.Stack[:min(len(p.Stack), 5)], " < "))
	}
	return b.String()
}

// shim returns the process that holds a sandbox.
func (in Input) shim(sandbox string) (evidence.Process, bool) {
	if in.Evidence == nil || sandbox == "" {
		return evidence.Process{}, false
	}
	for _, p := range in.Evidence.Processes.Shims {
		if p.Sandbox == sandbox {
			return p, true
		}
	}
	return evidence.Process{}, false
}

// worst returns the process of a container or sandbox that is worst off.
func (in Input) worst(id string) (worst evidence.Process, found bool) {
	if in.Evidence == nil || id == "" {
		return worst, false
	}
	for _, p := range in.Evidence.Processes.Containers[id] {
		if !found || p.State.Stuck() && !worst.State.Stuck() {
			worst, found = p, true
		}
	}
	return worst, found
}
