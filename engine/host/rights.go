package host

import (
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine/host/proc"
	"github.com/plegtop/plegtop/engine/smallfile"
)

// rights are what the kernel asks for before it shows what plegtop reads where something hangs,
// as the bits of CapEff in proc_pid_status(5).
var rights = []struct {
	bit        int
	name, what string
	root       bool // who is root may without
}{
	{21, "CAP_SYS_ADMIN", "kernel stacks", false},
	{19, "CAP_SYS_PTRACE", "open files and system calls", false},
	{34, "CAP_SYSLOG", "the kernel's log", false},
	{2, "CAP_DAC_READ_SEARCH", "the runtime's folders", true},
}

// Lacks says in one line what cannot be read where something hangs, by the rights of this
// process and its user, and what to add; "" where nothing is missing or that is unknown.
func Lacks(user int) string {
	status, _ := smallfile.Read("/proc/self/status") // without it nothing is known
	return lacks(string(status), user)
}

func lacks(status string, user int) string {
	has, err := strconv.ParseUint(strings.Join(proc.StatusField(status, "CapEff"), ""), 16, 64) // a field that is not there is no number
	if err != nil {
		return ""
	}
	var what, names []string
	for _, r := range rights {
		if has&(1<<r.bit) == 0 && !(r.root && user == 0) {
			what, names = append(what, r.what), append(names, r.name)
		}
	}
	if what == nil {
		return ""
	}
	return "where something hangs, " + strings.Join(what, ", ") + " will not be read: run plegtop as root of the node, or add " + strings.Join(names, ", ")
}
