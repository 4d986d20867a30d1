package sim

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/plegtop/plegtop/cri/sim/proc"
)

// A fate is what has become of a container's process, whatever the runtime
// says about the container.
type fate uint8

const (
	alive fate = iota
	stuck      // in the kernel, waiting for a file server that is dead
	gone       // without the runtime having noticed
)

// setFate gives the process of a container a fate. A container that ends and is
// started again has a new process.
func (w *world) setFate(c *container, f fate) {
	c.fate = f
	w.changes++
}

// The node's own programs, there since it was booted.
const (
	initPID       = 1
	containerdPID = 812
	kubeletPID    = 1043
)

// processes returns what runs on the node. The runtime listens on socket.
func (sn *scene) processes(socket string) []proc.Process {
	all := sn.daemons(socket)
	shims := map[*sandbox]bool{}
	shim := func(s *sandbox) {
		if !shims[s] {
			shims[s] = true
			all = append(all, s.shimProcess(socket))
		}
	}
	for _, s := range sn.sandboxes {
		if s.ready() {
			shim(s)
			all = append(all, s.pause())
		}
	}
	for _, c := range sn.containers {
		if c.runs() {
			shim(c.sandbox)
			if c.fate != gone {
				all = append(all, c.process())
			}
		}
	}
	for _, e := range sn.helpers {
		if e.there() {
			all = append(all, e.process())
		}
	}
	return all
}

func (sn *scene) daemons(socket string) []proc.Process {
	all := []proc.Process{
		{
			PID: initPID, Name: "systemd", Args: "/sbin/init\x00", Cgroup: "/init.scope",
			State: 'S', Sleep: proc.InPoll, Pages: 3300, Threads: 1, Mounts: mounts,
		},
		{
			PID: kubeletPID, Parent: initPID, Name: "kubelet", Args: "/usr/bin/kubelet\x00--config=/var/lib/kubelet/config.yaml\x00",
			Cgroup: "/system.slice/kubelet.service", State: 'S', Sleep: proc.InFutex, Pages: 24000, Threads: 4, Percent: 3,
		},
	}
	if sn.away {
		return all
	}
	return append(all, proc.Process{
		PID: containerdPID, Parent: initPID, Name: "containerd", Args: "/usr/bin/containerd\x00",
		Cgroup: "/system.slice/containerd.service", State: 'S', Sleep: proc.InFutex, Pages: 17000, Threads: 4, Percent: 2, Listens: socket,
	})
}

// shimProcess returns the shim that is the parent of all processes of s.
func (s *sandbox) shimProcess(socket string) proc.Process {
	args := []string{"/usr/bin/containerd-shim-runc-v2", "-namespace", "k8s.io", "-id", s.status.Id, "-address", socket, ""}
	return proc.Process{
		PID: int(s.shim), Parent: initPID, Name: "containerd-shim-runc-v2", Args: strings.Join(args, "\x00"),
		Cgroup: "/system.slice/containerd.service", State: 'S', Sleep: proc.InFutex, Born: time.Unix(0, s.status.CreatedAt), Pages: 2900, Threads: 1,
	}
}

func (s *sandbox) pause() proc.Process {
	return proc.Process{
		PID: int(s.pid), Parent: int(s.shim), Name: "pause", Args: "/pause\x00", Cgroup: s.pod.cgroup(s.status.Id),
		State: 'S', Sleep: proc.InPause, Born: time.Unix(0, s.status.CreatedAt), Pages: 160, Threads: 1,
	}
}

func (c *container) process() proc.Process {
	p := proc.Process{
		PID: int(c.pid), Parent: int(c.sandbox.shim), Name: c.spec.name, Args: "/usr/bin/" + c.spec.name + "\x00",
		Cgroup: c.pod.cgroup(c.status.Id), State: 'S', Sleep: proc.InPoll, Born: time.Unix(0, c.status.StartedAt), Pages: 6200, Threads: 1,
	}
	if c.fate == stuck {
		p.State, p.Sleep = 'D', proc.InNFS
	}
	return p
}

// cgroup returns the path of one of p's containers, as systemd makes it for
// containerd.
func (p *pod) cgroup(id string) string {
	return "/kubepods.slice/kubepods-burstable.slice/" + p.slice() + "/cri-containerd-" + id + ".scope"
}

// stateFolder is where containerd keeps a folder for each sandbox and container that
// runs.
const stateFolder = "/run/containerd/io.containerd.runtime.v2.task/k8s.io"

// files returns what the node has beside /proc, by path.
func (sn *scene) files() map[string]string {
	all := map[string]string{}
	for _, s := range sn.sandboxes {
		if s.ready() {
			all[stateFolder+"/"+s.status.Id+"/config.json"] = s.bundle()
		}
	}
	for _, c := range sn.containers {
		if c.runs() {
			all[stateFolder+"/"+c.status.Id+"/config.json"] = c.bundle()
		}
	}
	return all
}

func (s *sandbox) bundle() string {
	p := s.pod
	log := fmt.Sprintf("/var/log/pods/%s_%s_%s", p.spec.namespace, p.spec.name, p.uid)
	return s.bundleOf(s.status.Id, "/pause", map[string]string{
		"container-type": "sandbox", "podsandbox.image-name": "registry.k8s.io/pause:3.10.1", "sandbox-log-directory": log,
	})
}

func (c *container) bundle() string {
	return c.sandbox.bundleOf(c.status.Id, "/usr/bin/"+c.spec.name, map[string]string{
		"container-type": "container", "container-name": c.spec.name, "image-name": c.spec.image,
	})
}

// bundleOf returns the config.json of one of a sandbox's containers, or of itself: who it
// is, by the annotations that containerd 2.4.2 gives it.
func (s *sandbox) bundleOf(id, program string, own map[string]string) string {
	p := s.pod
	notes := map[string]string{}
	for _, all := range []map[string]string{own, {
		"sandbox-id": s.status.Id, "sandbox-name": p.spec.name, "sandbox-namespace": p.spec.namespace, "sandbox-uid": p.uid,
	}} {
		for name, value := range all {
			notes["io.kubernetes.cri."+name] = value
		}
	}
	text, err := json.Marshal(map[string]any{
		"ociVersion": "1.3.0", "process": map[string]any{"args": []string{program}, "cwd": "/"}, "annotations": notes,
		"linux": map[string]string{"cgroupsPath": p.slice() + ":cri-containerd:" + id},
	})
	if err != nil {
		panic("sim: a bundle: " + err.Error()) // texts alone
	}
	return string(text)
}

// slice returns the name of the slice that systemd has for p.
func (p *pod) slice() string {
	return "kubepods-burstable-pod" + strings.ReplaceAll(p.uid, "-", "_") + ".slice"
}

// said is what the node's kernel says at a moment of the world's clock.
type said struct {
	at   time.Time
	text string
}

// logRoom is how many lines the kernel's log keeps.
const logRoom = 300

// kernelSays adds to the kernel's log what it said so long ago.
func (sn *scene) kernelSays(ago time.Duration, texts ...string) {
	for _, text := range texts {
		sn.log = append(sn.log, said{sn.clock.Add(-ago), text})
	}
	sn.log = sn.log[max(0, len(sn.log)-logRoom):]
	sn.changes++
}

// kernelLog returns the log as /dev/kmsg has it, on a node that was booted at boot by the
// real clock.
func (sn *scene) kernelLog(real clock, boot time.Time) string {
	var b strings.Builder
	for i, one := range sn.log {
		fmt.Fprintf(&b, "3,%d,%d,-;%s\n", 1000+i, real.when(one.at).Sub(boot).Microseconds(), one.text)
	}
	return b.String()
}

// storeDisk is the disk that the runtime's data is on.
const storeDisk = "vdb1"

// mounts are those of the node, as its first process sees them.
const mounts = "22 1 253:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n" +
	"95 22 253:17 / /var/lib/containerd rw,noatime shared:41 - ext4 /dev/" + storeDisk + " rw\n"

// failStore has all that is written to the disk of the runtime's data be lost, since
// minutes ago if it is so from the beginning. Calls are answered: what they need is in memory.
func failStore(sn *scene) func() {
	block, inode := 688128, 131073
	fails := func(ago time.Duration) {
		sn.kernelSays(ago,
			fmt.Sprintf("I/O error, dev %s, sector %d op 0x1:(WRITE) flags 0x800 phys_seg 8 prio class 2", storeDisk, 8*block),
			fmt.Sprintf("EXT4-fs warning (device %s): ext4_end_bio:342: I/O error 10 writing to inode %d starting block %d)", storeDisk, inode, block),
			fmt.Sprintf("Buffer I/O error on device %s, logical block %d", storeDisk, block))
		block, inode = block+8, inode+1
	}
	for ago := sn.sick(); ago >= 0; ago -= time.Minute {
		fails(ago)
	}
	stop := sn.every(30*time.Second, func() { fails(0) })
	return func() {
		stop()
		sn.kernelSays(0, "EXT4-fs ("+storeDisk+"): mounted filesystem 5b1f7d9e-07a2-4c56-9d3e-2f8f6f0b1c11 r/w with ordered data mode. Quota mode: none.")
	}
}
