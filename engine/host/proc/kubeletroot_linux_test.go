package proc

import (
	"path/filepath"
	"testing"

	"github.com/plegtop/plegtop/engine/host/proctest"
)

// Where no kubelet runs, the mounts of its containers tell that there was one.
func TestKubeletRoot(t *testing.T) {
	const uid = "0b1c"
	tests := []struct {
		name   string
		mounts string // of the container
		daemon string
		want   string
	}{
		{"last words", "31 20 8:1 /var/lib/kubelet/pods/" + uid + "/containers/app/4f2a /dev/termination-log rw - ext4 /dev/sda1 rw\n", "sshd", "/var/lib/kubelet/pods"},
		{"hosts, on a disk of its own", "31 20 8:1 /pods/" + uid + "/etc-hosts /etc/hosts rw - ext4 /dev/sdb1 rw\n", "sshd", "/pods"},
		{"another client's", "31 20 8:1 /var/lib/docker/containers/1/hosts /etc/hosts rw - ext4 /dev/sda1 rw\n", "sshd", ""},
		{"a folder that is named so", "31 20 8:1 /home/x/pods/a/b /data rw - ext4 /dev/sda1 rw\n", "sshd", ""},
		{"a kubelet runs", "31 20 8:1 /var/lib/kubelet/pods/" + uid + "/etc-hosts /etc/hosts rw - ext4 /dev/sda1 rw\n", "kubelet", ""},
		{"within k3s", "31 20 8:1 /var/lib/kubelet/pods/" + uid + "/etc-hosts /etc/hosts rw - ext4 /dev/sda1 rw\n", "k3s-server", ""},
		{"no mounts", "", "sshd", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			proctest.WritePod(t, root, 100, proctest.ID("1"), proctest.ID("2"))
			proctest.Write(t, root, proctest.Process{PID: 60, Parent: 1, Comm: tt.daemon})
			if tt.mounts != "" {
				proctest.WriteFile(t, filepath.Join(root, "proc/102/mountinfo"), tt.mounts)
			}
			if got := newFixtureWalker(root).lookAt(t.Context(), proctest.Look).KubeletRoot; got != tt.want {
				t.Errorf("root = %q, want %q", got, tt.want)
			}
		})
	}
}
