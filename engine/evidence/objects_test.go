package evidence

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each object is told once, with all that is known of it.
func TestObjects(t *testing.T) {
	r := Report{
		Processes: Processes{
			Objects: []Object{
				{ID: "c1", SandboxID: "s1", UID: "u1", From: "its control group"},
				{ID: "s1", Sandbox: true, UID: "u1", From: "its control group"},
			},
			Shims: []Process{{PID: 7, Sandbox: "s1"}, {PID: 8, Sandbox: "s0"}, {PID: 9, Container: "c3"}, {PID: 10}, {PID: 11, Sandbox: "v1"}},
			Helpers: []Process{
				{PID: 20, Command: "runc", Verb: "create", Container: "c2", Own: true},
				{PID: 21, Command: "bridge", Verb: "CNI ADD", Container: "s2", Namespace: "pay", Pod: "api-0", Own: true},
				{PID: 22, Command: "umount", Verb: "umount", Own: true},
				{PID: 23, Command: "runc", Verb: "kill", Container: "another's"},
			},
		},
	}
	quick := []Object{
		{ID: "c1", SandboxID: "s1", UID: "u1", From: "its control group"},
		{ID: "c2", From: "runc create, pid 20"},
		{ID: "c3", From: "its shim, pid 9"},
		{ID: "s0", Sandbox: true, From: "its shim, pid 8"},
		{ID: "s1", Sandbox: true, UID: "u1", From: "its control group"},
		{ID: "s2", Sandbox: true, Namespace: "pay", Pod: "api-0", From: "bridge CNI ADD, pid 21"},
		{ID: "v1", Sandbox: true, From: "its shim, pid 11"},
	}
	for range 2 { // asking changes nothing
		if diff := cmp.Diff(quick, r.Objects()); diff != "" {
			t.Errorf("objects (-want +got):\n%s", diff)
		}
	}
	r.Deep = &Deep{Objects: Objects{All: []Object{
		{ID: "c1", SandboxID: "s1", UID: "other", Namespace: "pay", Pod: "api-1", Container: "app", From: "/run/c1"},
		{ID: "c4", SandboxID: "s1", From: "/run/c4"},
		{ID: "v1", SandboxID: "s1", From: "/run/v1"}, // a shim of one container
	}}}
	deep := []Object{
		{ID: "c1", SandboxID: "s1", UID: "u1", Namespace: "pay", Pod: "api-1", Container: "app", From: "its control group"},
		quick[1], quick[2],
		{ID: "c4", SandboxID: "s1", From: "/run/c4"},
		quick[3], quick[4], quick[5],
		{ID: "v1", SandboxID: "s1", From: "its shim, pid 11"},
	}
	if diff := cmp.Diff(deep, r.Objects()); diff != "" {
		t.Errorf("objects after a deep look (-want +got):\n%s", diff)
	}
	if all := (&Report{}).Objects(); len(all) != 0 {
		t.Errorf("without a look: %v", all)
	}
}
