package knowledge

import "testing"

// These cases say which CRI calls run a helper, by its verb or by its program's name.
func TestRuns(t *testing.T) {
	for _, tt := range []struct {
		call, verb string
		want       bool
	}{
		{"UpdateContainerResources", "update", true},
		{"CreateContainer", "create", true},
		{"StartContainer", "create", true}, // containerd creates there what CRI-O creates before
		{"StartContainer", "start", true},
		{"CreateContainer", "start", false},
		{"StopContainer", "kill", true},
		{"RemoveContainer", "kill", false},
		{"RemoveContainer", "delete", true},
		{"RemovePodSandbox", "umount", true},
		{"RunPodSandbox", "CNI ADD", true},
		{"StopPodSandbox", "CNI DEL", true},
		{"RunPodSandbox", "CNI DEL", false},
		{"Status", "CNI STATUS", true},
		{"ExecSync", "exec", false},
		{"", "", false},
	} {
		if got := Runs(tt.call, tt.verb); got != tt.want {
			t.Errorf("%s runs %s: %v", tt.call, tt.verb, got)
		}
	}
}
