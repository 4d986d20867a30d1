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

// podsFolder returns the kubelet's folder in a mount that only a kubelet makes in a
// container: the file of hosts, or the one for its last words (kubelet 1.25 to 1.37:
// makeHostsMount, makeMounts). The path is that in the file system.
func podsFolder(m *Mount) (root string, ok bool) {
	root, rest, ok := strings.Cut(m.Root, "/pods/")
	_, file, _ := strings.Cut(rest, "/")
	return root + "/pods", ok && (file == "etc-hosts" && m.Point == "/etc/hosts" || strings.HasPrefix(file, "containers/"))
}
