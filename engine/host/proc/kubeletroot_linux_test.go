package proc

import (
	"path/filepath"
	"testing"
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
			writePod(t, root, 100, longID("1"), longID("2"))
			writeProcess(t, root, fakeProcess{PID: 60, Parent: 1, Comm: tt.daemon})
			if tt.mounts != "" {
				writeFile(t, filepath.Join(root, "proc/102/mountinfo"), tt.mounts)
			}
			found := newFixtureWalker(root).lookAt(t.Context(), firstLook)
			if got := found.KubeletRoots[longID("2")]; got != tt.want || len(found.KubeletRoots) > 1 {
				t.Errorf("roots = %q, want %q of the container", found.KubeletRoots, tt.want)
			}
		})
	}
}

// What runs within a container of the machine, as the pods of a kind node do, says nothing
// of the machine's own kubelet.
func TestKubeletRootWithinAContainer(t *testing.T) {
	root := t.TempDir()
	in := "/system.slice/docker-" + longID("8") + ".scope" + cgroupOf(longID("2"))
	writeProcess(t, root, fakeProcess{PID: 1, Comm: "systemd"})
	writeProcess(t, root, fakeProcess{PID: 102, Parent: 101, Comm: "app", Cgroup: in})
	writeFile(t, filepath.Join(root, "proc/102/mountinfo"), "31 20 8:1 /var/lib/kubelet/pods/0b1c/etc-hosts /etc/hosts rw - ext4 /dev/sda1 rw\n")
	found := newFixtureWalker(root).lookAt(t.Context(), firstLook)
	if len(found.Containers[longID("2")]) == 0 || found.KubeletRoots != nil {
		t.Errorf("roots = %q of containers %v", found.KubeletRoots, found.Containers)
	}
}
