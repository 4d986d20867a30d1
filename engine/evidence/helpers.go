package evidence

import (
	"cmp"
	"strings"
	"time"
)

// verbLimits are how long the calls of an OCI runtime take at most on a node that is well,
// about a hundred times what they take there (runc 1.1 to 1.4, crun, youki, runsc). What
// is not there lasts as long as what it runs.
var verbLimits = map[string]time.Duration{
	// These read a few files.
	"state": 5 * time.Second, "list": 5 * time.Second, "features": 5 * time.Second, "ps": 5 * time.Second,
	// These write some files of a control group, and wait until its last thread is frozen.
	"update": 5 * time.Second, "pause": 5 * time.Second, "resume": 5 * time.Second, "kill": 5 * time.Second,
	// With --force runc itself waits 10 s for the last process to be gone, which is trouble
	// enough; and containerd ends one that takes 10 s, to begin another.
	"delete": 8 * time.Second,
	// These mount a root and run hooks, on a disk that may be writing an image.
	"create": 10 * time.Second, "start": 10 * time.Second,
	// These write or read all the memory of a container.
	"checkpoint": 5 * time.Minute, "restore": 5 * time.Minute,
}

const (
	// pluginLimit is for a network plugin: it waits for an agent that starts anew, and
	// for an address from elsewhere.
	pluginLimit = 15 * time.Second
	// mountLimit is for what mounts: a server's name is looked up, and it is tried again.
	mountLimit = 15 * time.Second
	// umountLimit is for what takes mounts away: what is left to write is written.
	umountLimit = 10 * time.Second
	// rulesLimit is for what sets rules of the network or the kernel: there is one lock for
	// all of them, which those for thousands of services take for seconds.
	rulesLimit = 15 * time.Second
	// imageLimit is for what unpacks images, whose layers have gigabytes.
	imageLimit = 10 * time.Minute
)

// programLimits are those of programs that do one thing for a runtime or a network
// plugin, by their names of at most 15 bytes.
var programLimits = map[string]time.Duration{
	"mount": mountLimit, "storage-mountfr": mountLimit, "fuse-overlayfs-": mountLimit,
	"umount": umountLimit, "fusermount": umountLimit, "fusermount3": umountLimit,
	"iptables": rulesLimit, "iptables-save": rulesLimit, "iptables-restor": rulesLimit, "iptables-nft": rulesLimit, "iptables-legacy": rulesLimit,
	"ip6tables": rulesLimit, "ip6tables-save": rulesLimit, "ip6tables-resto": rulesLimit, "ip6tables-nft": rulesLimit, "ip6tables-legac": rulesLimit,
	"xtables-nft-mul": rulesLimit, "xtables-legacy-": rulesLimit, "ebtables": rulesLimit, "nft": rulesLimit, "ipset": rulesLimit,
	"ip": rulesLimit, "tc": rulesLimit, "conntrack": rulesLimit, "modprobe": rulesLimit, "apparmor_parser": rulesLimit,
	"unpigz": imageLimit, "pigz": imageLimit, "igzip": imageLimit, "gunzip": imageLimit, "zstd": imageLimit, "ctd-decoder": imageLimit,
	"storage-untar": imageLimit, "storage-applyLa": imageLimit, "docker-untar": imageLimit,
}

// ProgramLimit returns how old a program gets at most that does one thing and ends whatever
// its arguments are, by its name of at most 15 bytes; 0 for any other.
func ProgramLimit(command string) time.Duration {
	if name, ofFileSystem, _ := strings.Cut(command, "."); ofFileSystem != "" && strings.HasSuffix(name, "mount") {
		command = name // such as mount.nfs4
	}
	return programLimits[command]
}

// IsPlugin reports whether a helper is a network plugin.
func (p *Process) IsPlugin() bool { return strings.HasPrefix(p.Verb, "CNI ") }

// HelperLimit returns how old a helper gets at most where nothing is wrong; 0 for one
// that lasts as long as what it runs, as exec, run and events do, and for one of which
// that is not known. A node that is short of CPU takes a multiple.
func (p Process) HelperLimit() time.Duration {
	if p.IsPlugin() {
		return pluginLimit
	}
	return cmp.Or(verbLimits[p.Verb], ProgramLimit(p.Verb))
}
