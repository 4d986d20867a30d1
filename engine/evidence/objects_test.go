package evidence

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/pleg"
)

// Each object is returned once, with everything that is known of it.
func TestObjects(t *testing.T) {
	r := Report{
		Processes: Processes{
			Objects: []Object{
				{ObjectRef: pleg.ObjectRef{ID: "c1", Pod: pleg.PodRef{UID: "u1"}}, SandboxID: "s1", From: "its control group"},
				{ObjectRef: pleg.ObjectRef{ID: "s1", Pod: pleg.PodRef{UID: "u1"}, Sandbox: true}, From: "its control group"},
			},
			Shims: []Process{{PID: 7, Sandbox: "s1"}, {PID: 8, Sandbox: "s0"}, {PID: 9, Container: "c3"}, {PID: 10}, {PID: 11, Sandbox: "v1"}},
			Helpers: []Process{
				{PID: 20, Command: "runc", Verb: "create", Container: "c2", Own: true},
				{PID: 21, Command: "bridge", Verb: "CNI ADD", Container: "s2", Pod: pleg.PodRef{Namespace: "pay", Name: "api-0"}, Own: true},
				{PID: 22, Command: "umount", Verb: "umount", Own: true},
				{PID: 23, Command: "runc", Verb: "kill", Container: "another's"},
			},
		},
	}
	quick := []Object{
		{ObjectRef: pleg.ObjectRef{ID: "c1", Pod: pleg.PodRef{UID: "u1"}}, SandboxID: "s1", From: "its control group"},
		{ObjectRef: pleg.ObjectRef{ID: "c2"}, From: "runc create, pid 20"},
		{ObjectRef: pleg.ObjectRef{ID: "c3"}, From: "its shim, pid 9"},
		{ObjectRef: pleg.ObjectRef{ID: "s0", Sandbox: true}, From: "its shim, pid 8"},
		{ObjectRef: pleg.ObjectRef{ID: "s1", Pod: pleg.PodRef{UID: "u1"}, Sandbox: true}, From: "its control group"},
		{ObjectRef: pleg.ObjectRef{ID: "s2", Pod: pleg.PodRef{Namespace: "pay", Name: "api-0"}, Sandbox: true}, From: "bridge CNI ADD, pid 21"},
		{ObjectRef: pleg.ObjectRef{ID: "v1", Sandbox: true}, From: "its shim, pid 11"},
	}
	for range 2 { // asking changes nothing
		if diff := cmp.Diff(quick, r.Objects()); diff != "" {
			t.Errorf("objects (-want +got):\n%s", diff)
		}
	}
	r.Deep = &Deep{Objects: Objects{All: []Object{
		{ObjectRef: pleg.ObjectRef{ID: "c1", Pod: pleg.PodRef{UID: "other", Namespace: "pay", Name: "api-1"}, Container: "app"}, SandboxID: "s1", From: "/run/c1"},
		{ObjectRef: pleg.ObjectRef{ID: "c4"}, SandboxID: "s1", From: "/run/c4"},
		{ObjectRef: pleg.ObjectRef{ID: "v1"}, SandboxID: "s1", From: "/run/v1"}, // a shim of one container
	}}}
	deep := []Object{
		{ObjectRef: pleg.ObjectRef{ID: "c1", Pod: pleg.PodRef{UID: "u1", Namespace: "pay", Name: "api-1"}, Container: "app"}, SandboxID: "s1", From: "its control group"},
		quick[1], quick[2],
		{ObjectRef: pleg.ObjectRef{ID: "c4"}, SandboxID: "s1", From: "/run/c4"},
		quick[3], quick[4], quick[5],
		{ObjectRef: pleg.ObjectRef{ID: "v1"}, SandboxID: "s1", From: "its shim, pid 11"},
	}
	if diff := cmp.Diff(deep, r.Objects()); diff != "" {
		t.Errorf("objects after a deep look (-want +got):\n%s", diff)
	}
	if all := (&Report{}).Objects(); len(all) != 0 {
		t.Errorf("without a look: %v", all)
	}
}
