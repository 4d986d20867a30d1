package proc

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// kubeletRootsRead is how many containers are asked for the folder of a kubelet: a few may
// end, or have no mounts of it.
const kubeletRootsRead = 20

// podMountsRead is how many containers are asked which mounts they have: more than a node has.
const podMountsRead = 1000

// inPod finds the pod in the path at which a kubelet mounts a volume.
var inPod = regexp.MustCompile("/pods/([0-9A-Za-z-]+)/volume(?:s|-subpaths)/")

// onNode adds to a mount where the node itself has it: its only place, or the only one of
// the pod; and whose volume it is. The pod of a container's process is known already.
func (l *Look) onNode(m evidence.Mount, p *process) evidence.Mount {
	if m.Device == "" {
		return m
	}
	if l.ofNode == nil {
		l.ofNode, _ = Fetch(l, File{PID: 1, Name: "mountinfo"}, func() ([]*procfs.MountInfo, error) { return Mounts(l.w.Root) })
	}
	var places, ofPod []string
	for _, here := range l.ofNode {
		switch {
		case here.FSType == "fusectl" && strings.HasPrefix(m.Type, "fuse"):
			_, connection, _ := strings.Cut(m.Device, ":")
			m.Abort = filepath.Join(here.MountPoint, connection, "abort")
		case here.MajorMinorVer != m.Device || slices.Contains(places, here.MountPoint):
		default:
			places = append(places, here.MountPoint)
			if slices.ContainsFunc(p.member.uids, func(uid string) bool { return uid != "" && strings.Contains(here.MountPoint, uid) }) {
				ofPod = append(ofPod, here.MountPoint)
			}
		}
	}
	if len(places) == 1 {
		m.Node = places[0]
	} else if len(ofPod) == 1 {
		m.Node = ofPod[0]
	}
	if p.identity.role == daemon && m.Served() {
		m.Pod = l.podOf(m, places)
	}
	return m
}

// podOf returns the pod whose volume a mount is: by its path, by those of its places on the
// node, or by the containers that have it. A mount of several pods is nobody's.
func (l *Look) podOf(m evidence.Mount, places []string) pleg.UID {
	if found := inPod.FindStringSubmatch(m.Point); found != nil {
		return pleg.UID(found[1])
	}
	var pods []string
	for _, place := range places {
		if found := inPod.FindStringSubmatch(place); found != nil {
			pods = append(pods, found[1])
		}
	}
	if len(pods) == 0 {
		pods = slices.Clone(l.podsBy()[m.Device])
	}
	if slices.Sort(pods); len(slices.Compact(pods)) == 1 {
		return pleg.UID(pods[0])
	}
	return ""
}

// podsBy returns the UIDs of the pods with a container that has a mount of a server, by its
// device; none if not all containers could be asked. They are asked once in a look.
func (l *Look) podsBy() map[string][]string {
	if l.pods != nil {
		return l.pods
	}
	l.pods = map[string][]string{}
	all, asked := map[string][]string{}, map[string]bool{}
	for _, p := range l.seen {
		n := len(p.member.ids) - 1
		if n < 0 || p.member.uids[n] == "" || asked[p.member.ids[n]] || p.now.state == evidence.Zombie {
			continue
		}
		if len(asked) == podMountsRead {
			return l.pods
		}
		mounts, err := ask(l, p.task, "mountinfo", p.MountInfo)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EINVAL) { // it has ended
			continue
		}
		if err != nil {
			return l.pods
		}
		asked[p.member.ids[n]] = true
		for _, m := range mounts {
			if MountOf(m).Served() {
				device := strings.Clone(m.MajorMinorVer) // not the whole row
				all[device] = append(all[device], p.member.uids[n])
			}
		}
	}
	l.pods = all
	return all
}

// kubeletRoots returns the folder of a kubelet's pods, by the containers that have mounts of
// it, if no kubelet runs. Labels would not do, since other clients of a runtime set them too.
// What runs within another container is not asked: its kubelet may be in there.
func (l *Look) kubeletRoots(found *evidence.Processes) map[string]string {
	if _, runs := found.Kubelet(); runs {
		return nil
	}
	all, left := map[string]string{}, kubeletRootsRead
	for _, o := range found.Objects {
		inside := found.Containers[o.ID] // empty where only a daemon or a helper is left, which has ended
		if o.Sandbox || len(inside) == 0 || left == 0 {
			continue
		}
		left--
		p := l.w.known[inside[0].PID]
		mounts, _ := ask(l, p.task, "mountinfo", p.MountInfo)
		for _, m := range mounts {
			if root, ok := podsFolder(m); ok {
				all[o.ID] = root
				break
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// podsFolder returns the kubelet's folder in a mount that only a kubelet makes in a
// container: the file of hosts, or the one for its last words (kubelet 1.25 to 1.37:
// makeHostsMount, makeMounts). The path is that in the file system.
func podsFolder(m *procfs.MountInfo) (root string, ok bool) {
	root, rest, ok := strings.Cut(m.Root, "/pods/")
	_, file, _ := strings.Cut(rest, "/")
	return root + "/pods", ok && (file == "etc-hosts" && m.MountPoint == "/etc/hosts" || strings.HasPrefix(file, "containers/"))
}

// Mounts returns the mounts of the node. Without a root these are the mounts that we see, since all
// files are opened through them: a shell may be in a mount namespace of its own, together with the
// runtime. With a root they are those of the host's process 1. It may hang.
func Mounts(root string) ([]*procfs.MountInfo, error) {
	if root == "" {
		return mountsIn("/proc", os.Getpid())
	}
	return mountsIn(filepath.Join("/", root, "proc"), 1)
}

// MountOf returns what evidence says of a mount.
func MountOf(m *procfs.MountInfo) evidence.Mount {
	return evidence.Mount{Point: m.MountPoint, Type: m.FSType, Source: m.Source, Device: m.MajorMinorVer}
}

// MountInfo returns the mounts that a task sees. That of procfs ends at 1 MiB: with 15 layers
// for each container a node of 250 pods has more.
// A thread whose folder has no such file sees those of its process.
func (t task) MountInfo() ([]*procfs.MountInfo, error) {
	all, err := mountsIn(filepath.Dir(t.dir), t.PID)
	if errors.Is(err, fs.ErrNotExist) && t.PID != t.of {
		return mountsIn(filepath.Join(t.dir, "../../.."), t.of)
	}
	return all, err
}

// mountsIn returns the mounts that a process in a folder as /proc sees, or a thread in one as
// /proc/PID/task, without the escapes of the kernel.
func mountsIn(dir string, number int) ([]*procfs.MountInfo, error) {
	tasks, err := procfs.NewFS(dir)
	if err != nil {
		return nil, err
	}
	all, err := tasks.GetProcMounts(number)
	for _, m := range all {
		m.MountPoint, m.Source = escapes.Replace(m.MountPoint), escapes.Replace(m.Source)
		if upper, is := m.SuperOptions["upperdir"]; is {
			m.SuperOptions["upperdir"] = escapes.Replace(upper)
		}
	}
	return all, err
}

// escapes are what the kernel writes in names: for all of them, for sources and for options of overlay.
var escapes = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`, `\043`, "#", `\054`, ",", `\075`, "=")

// MountAt returns the mount that a path without links leads to; nil for none. Of several at
// a point the last counts.
func MountAt(mounts []*procfs.MountInfo, name string) (m *procfs.MountInfo) {
	name = path.Clean(name)
	longest := -1
	for _, one := range mounts {
		point := one.MountPoint
		if inside := name == point || strings.HasPrefix(name, strings.TrimSuffix(point, "/")+"/"); inside && len(point) >= longest {
			m, longest = one, len(point)
		}
	}
	return m
}
