package diagnose

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine/evidence"
)

// mostPIDs is the largest kernel.pid_max on machines of 64 bits. (include/linux/threads.h, PID_MAX_LIMIT)
const mostPIDs = 4 << 20

// limitValues returns what sentences and commands about a limit need. The limit of a control group is set through
// systemd if the group belongs to a service, and through its own file otherwise.
func (f *Facts) limitValues(l evidence.Limit) Values {
	v := Values{"path": l.Path, "used": l.Used, "most": l.Most, "ofMemory": l.What == evidence.Memory || l.What == evidence.OOMKills}
	switch l.What {
	case evidence.Memory:
		v["used"], v["most"] = bytes(l.Used), bytes(l.Most)
	case evidence.OOMKills:
		v["processes"], v["killed"] = many{int(l.Used), "process"}, true
	}
	if l.Most > 0 {
		v["twice"], v["was"] = strconv.FormatUint(2*l.Most, 10), strconv.FormatUint(l.Most, 10)
	}
	if l.Hard > l.Most {
		v["hard"] = strconv.FormatUint(l.Hard, 10)
	}
	if l.Of != "" {
		v["process"] = evidence.Process{Command: l.Of, PID: l.PID}
	}
	if l.PID != 0 {
		v["pid"] = strconv.Itoa(l.PID)
	}
	for _, p := range f.runtimes() {
		if p.PID == l.PID {
			v["start"] = startOf(p.Start)
			if unit, is := strings.CutSuffix(p.Unit, ".service"); is {
				v["unit"] = unit
			}
		}
	}
	if key, is := strings.CutPrefix(l.Path, "/proc/sys/"); is && l.Most > 0 {
		v["key"] = strings.ReplaceAll(key, "/", ".")
		if key == "kernel/pid_max" {
			v["twice"] = strconv.FormatUint(min(2*l.Most, mostPIDs), 10)
		}
	}
	switch path.Base(l.Path) { // of both versions of control groups
	case "pids.max", "memory.max":
		v["file"] = l.Path
	case "memory.limit_in_bytes":
		v["file"], v["v1"] = l.Path, true
	}
	return v
}

// waitsForMemory reports whether a process of the runtime waits in the kernel for memory of its control group.
func (f *Facts) waitsForMemory(pid int) bool {
	return slices.ContainsFunc(f.runtimesNow(), func(p evidence.Process) bool {
		return p.PID == pid && f.doing(&p, evidence.AsRuntime).What == evidence.OnMemory
	})
}
