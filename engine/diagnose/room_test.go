package diagnose

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
)

func fillDisk(r *evidence.Report) { r.Disk.Free, r.Disk.Left = 0, 0 }

// A runtime that begins on a full disk forgets its containers: nothing restarts one before there is
// room, whether it runs or not.
func TestRoomComesBeforeARestart(t *testing.T) {
	down := func(n *node, r *evidence.Report) {
		n.fail(call.ListPodSandbox, call.ErrUnavailable, notThere, 20).fail(call.Status, call.ErrUnavailable, notThere, 4)
		r.Processes.Daemons = nil
	}
	readOnly := func(r *evidence.Report) { r.Disk.ReadOnly = "it is mounted read-only" }
	for _, tt := range []struct {
		name   string
		change func(*node, *evidence.Report)
		disk   func(*evidence.Report)
		id     ID
		before string
	}{
		{"down", down, fillDisk, RuntimeDown, "there is room on its disk"},
		{"down, without inodes", down, func(r *evidence.Report) { r.Disk.InodesUnused = 0 }, RuntimeDown, "there is room on its disk"},
		{"down, read-only", down, readOnly, RuntimeDown, "its disk takes writes again"},
		{"its socket lost", func(n *node, r *evidence.Report) {
			n.fail(call.ListPodSandbox, call.ErrUnavailable, notThere, 20).fail(call.Status, call.ErrUnavailable, notThere, 4)
			r.Socket = evidence.Socket{Unlinked: evidence.Process{PID: 5, Command: "containerd"}}
		}, fillDisk, RuntimeDown, "there is room on its disk"},
		{"has forgotten containers", func(n *node, r *evidence.Report) {
			restarted(r, 10*time.Second)
			forget(n, r, 1)
		}, fillDisk, OrphanShims, "there is room on its disk"},
		{"disk full", func(*node, *evidence.Report) {}, fillDisk, DiskFull, "there is room on its disk"},
		{"disk read-only", func(*node, *evidence.Report) {}, readOnly, StoreFailing, "its disk takes writes again"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := healthy(3)
			in := n.input()
			in.Evidence, in.Endpoint = looked(n), "unix://"+ourSocket
			tt.change(n, in.Evidence)
			tt.disk(in.Evidence)
			f := findingOf(t, Diagnose(in), tt.id)
			if said := fmt.Sprint(f.Evidence); tt.id != OrphanShims && !strings.Contains(said, "do not restart the runtime before "+tt.before+": it forgets its containers") {
				t.Errorf("says %s", said)
			}
			restarts := 0
			for _, s := range f.Next {
				if s.Command == "systemctl restart containerd" || s.Command == "systemctl start containerd" {
					restarts++
					if !s.Risky() || !strings.Contains(s.When, tt.before) || !strings.Contains(s.Risk, "it forgets its containers") {
						t.Errorf("%s", s)
					}
				}
			}
			if act := f.act(); strings.Contains(act.Command, "systemctl") || tt.id == RuntimeDown && (restarts == 0 || throughCrictl(act)) {
				t.Errorf("act %q of %q", act, f.Next)
			}
		})
	}
}

// findingOf returns the finding of an id.
func findingOf(t *testing.T, all []Finding, id ID) Finding {
	t.Helper()
	for _, f := range all {
		if f.ID == id {
			return f
		}
	}
	t.Fatalf("no %s in %s", id, gist(all))
	return Finding{}
}
