package host

import "testing"

func TestWhatRightsAreMissing(t *testing.T) {
	tests := []struct {
		name, status string
		user         int
		want         string
	}{
		{"root", "Name:\tplegtop\nCapEff:\t000001ffffffffff\nCapBnd:\t0\n", 0, ""},
		{"a user", "Name:\tplegtop\nCapEff:\t0000000000000000\n", 1000,
			"where something hangs, kernel stacks, open files and system calls, the kernel's log, the runtime's folders will not be read: " +
				"run plegtop as root of the node, or add CAP_SYS_ADMIN, CAP_SYS_PTRACE, CAP_SYSLOG, CAP_DAC_READ_SEARCH"},
		{"root of a container", "Name:\tplegtop\nCapEff:\t00000000a80c25fb\n", 0,
			"where something hangs, kernel stacks, the kernel's log will not be read: run plegtop as root of the node, or add CAP_SYS_ADMIN, CAP_SYSLOG"},
		{"a root without any", "Name:\tplegtop\nCapEff:\t0000000400280000\n", 0, ""},
		{"no such line", "Name:\tplegtop\n", 1000, ""},
		{"no number", "Name:\tplegtop\nCapEff:\tall\n", 1000, ""},
	}
	for _, test := range tests {
		if got := lacks(test.status, test.user); got != test.want {
			t.Errorf("%s:\n got %q\nwant %q", test.name, got, test.want)
		}
	}
}
