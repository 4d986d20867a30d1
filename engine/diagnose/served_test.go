package diagnose

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
)

// A file system whose program has ended is told though no call says so, and is no reason for
// what fails with other words.
func TestAMountThatNobodyServes(t *testing.T) {
	mount := func(i int) evidence.Mount {
		return evidence.Mount{Point: fmt.Sprint("/var/lib/kubelet/pods/uid/volumes/kubernetes.io~csi/v", i, "/mount"), Type: "fuse.s3fs", Device: "0:99"}
	}
	for _, tt := range []struct {
		mounts int
		want   string
	}{{0, ""}, {1, "has ended: " + mount(0).Point}, {5, "has ended: " + mount(0).Point + " and 4 more mounts"}} {
		n := checked(3)
		n.podFails(1, "app", call.ErrOther, "the shim is gone", 4)
		in := n.input()
		in.Evidence = looked(n)
		in.Evidence.Deep = new(evidence.Deep)
		for i := range tt.mounts {
			in.Evidence.Deep.Unserved = append(in.Evidence.Deep.Unserved, mount(i))
		}
		var got Finding
		for _, f := range Diagnose(in) {
			if f.ID == StoreFailing {
				got = f
			}
			if f.Cause != "" {
				t.Errorf("%d mounts: %s is the cause of %s", tt.mounts, f.Cause, f.ID)
			}
		}
		if !strings.HasSuffix(got.Summary, tt.want) || (got.Summary == "") != (tt.want == "") {
			t.Errorf("%d mounts: found %q", tt.mounts, got.Summary)
		}
		if tt.mounts == 0 {
			continue
		}
		last := got.Next[len(got.Next)-1]
		if got.Severity != Warning || len(got.Evidence) != min(tt.mounts, nodeLinesMost) || !strings.HasSuffix(last.Command, "umount -l "+quote(mount(0).Point)) || !last.Risky() {
			t.Errorf("%d mounts: %+v", tt.mounts, got)
		}
	}
}
