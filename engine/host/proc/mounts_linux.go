package proc

import (
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// kubeletRootsRead is how many containers are searched for a mount of a kubelet's folder: a few may end, or
// have no such mount.
const kubeletRootsRead = 20

// podMountsRead is how many containers have their mounts read in one look: more than a node has.
const podMountsRead = 1000

// inPod finds the pod in the path at which a kubelet mounts a volume.
var inPod = regexp.MustCompile("/pods/([0-9A-Za-z-]+)/volume(?:s|-subpaths)/")

// onNode adds to a mount the path at which the node itself has it: the only one, or the only one of the
// process's pod. It also adds the file that aborts a FUSE connection. If a daemon waits for a mount that
// comes from a server, onNode adds the pod that has this volume. Of a container's process we know the pod already.
func (l *Look) onNode(m evidence.Mount, p *process) evidence.Mount {
	if m.Device == "" {
		return m
	}
	var places, ofPod []string
	for _, here := range l.w.Mounts(l.ctx) {
		switch {
		case here.Type == "fusectl" && strings.HasPrefix(m.Type, "fuse"):
			_, connection, _ := strings.Cut(m.Device, ":")
			m.Abort = filepath.Join(here.Point, connection, "abort")
		case here.Device != m.Device || slices.Contains(places, here.Point):
		default:
			places = append(places, here.Point)
			if slices.ContainsFunc(p.member.uids, func(uid string) bool { return uid != "" && strings.Contains(here.Point, uid) }) {
				ofPod = append(ofPod, here.Point)
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

// podOf returns the pod that a mount belongs to as a volume. It looks at the path of the mount first, then at its
// paths on the node, then at the containers that have it. It returns "" if several pods have the mount.
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

// podsBy returns the UIDs of the pods that have a mount of a server in a container, by the device of the mount.
// It returns none if the mounts of some container could not be read. They are read once in a look.
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
		mounts, err := ask(l, p.task, "mountinfo", p.mountTable)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EINVAL) { // it has ended
			continue
		}
		if err != nil {
			return l.pods
		}
		asked[p.member.ids[n]] = true
		for _, m := range mounts {
			if m.Served() {
				all[m.Device] = append(all[m.Device], p.member.uids[n])
			}
		}
	}
	l.pods = all
	return all
}

// kubeletRoots returns the folder of a kubelet's pods for each container that has a mount of it; nil if a
// kubelet runs. Labels are not enough, since other clients of a runtime set them too. What runs within another
// container is not searched: its kubelet may run in there.
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
		mounts, _ := ask(l, p.task, "mountinfo", p.mountTable)
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

// podsFolder returns the kubelet's folder by a mount that only a kubelet makes in a container: /etc/hosts, or
// the file for the container's last message (kubelet 1.25 to 1.37: makeHostsMount, makeMounts). The path is the
// one in the file system that is mounted.
func podsFolder(m *Mount) (root string, ok bool) {
	root, rest, ok := strings.Cut(m.Root, "/pods/")
	_, file, _ := strings.Cut(rest, "/")
	return root + "/pods", ok && (file == "etc-hosts" && m.Point == "/etc/hosts" || strings.HasPrefix(file, "containers/"))
}
