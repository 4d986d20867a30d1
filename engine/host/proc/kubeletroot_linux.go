package proc

import (
	"strings"

	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/evidence"
)

// mountsRead is how many containers are asked for their mounts: those of a pause
// process say nothing, and neither do those of a container that ends.
const mountsRead = 20

// kubeletRoots returns where a kubelet keeps the pods whose containers run, by container,
// if none runs itself. Labels would not do: other clients of a runtime set them, too. What
// runs within another container is not asked: its kubelet may be in there as well.
func (l *Look) kubeletRoots(found evidence.Processes) map[string]string {
	if _, runs := found.Kubelet(); runs {
		return nil
	}
	var all map[string]string
	left := mountsRead
	for _, o := range found.Objects {
		inside := found.Containers[o.ID] // nothing where only a daemon or helper is left that has ended
		if o.Sandbox || len(inside) == 0 || left == 0 {
			continue
		}
		left--
		p, _, _ := l.Seen(inside[0].PID)
		mounts, err := Fetch(l, File{p.PID, "mountinfo", true}, p.MountInfo)
		if err != nil {
			continue
		}
		for _, m := range mounts {
			if root, ok := podsFolder(m); ok {
				if all == nil {
					all = make(map[string]string)
				}
				all[o.ID] = root
				break
			}
		}
	}
	return all
}

// podsFolder returns the kubelet's folder of a mount that only a kubelet makes in a
// container: its file of hosts, or the one for its last words. It is as the file
// system has it, which may be mounted elsewhere. (kubelet 1.25 to 1.37: makeHostsMount,
// makeMounts.)
func podsFolder(m *procfs.MountInfo) (root string, ok bool) {
	root, rest, ok := strings.Cut(m.Root, "/pods/")
	if !ok {
		return "", false
	}
	_, file, _ := strings.Cut(rest, "/")
	ofKubelet := file == "etc-hosts" && m.MountPoint == "/etc/hosts" || strings.HasPrefix(file, "containers/")
	return root + "/pods", ofKubelet
}
