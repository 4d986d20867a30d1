package host

import (
	"cmp"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/smallfile"
)

// A runtimeHome is where a runtime says that it keeps its data.
type runtimeHome struct{ comm, socket, config, table, root string }

// runtimeHomes are the runtimes whose configuration is known, with their defaults.
// (containerd 1.6 to 2.4: config.toml; CRI-O 1.25 to 1.37: crio.conf.)
var runtimeHomes = []runtimeHome{
	{"containerd", "/run/containerd/", "/etc/containerd/config.toml", "", "/var/lib/containerd"},
	{"crio", "/run/crio/", "/etc/crio/crio.conf", "crio", "/var/lib/containers/storage"},
}

// An ownRoot finds the folder of the runtime that listens at an endpoint. It
// belongs to one goroutine at a time.
type ownRoot struct {
	root, endpoint string
	of             pidStart // whose folder it is
	path           string
}

// find returns the folder on the host, by the arguments of the process that
// listens, its configuration, or its default; where nobody listens, by the
// configuration of the runtime whose socket it is. It is "" where that cannot be
// known. Once known it is looked for again only when that process has ended.
func (o *ownRoot) find() string {
	proc, err := procfs.NewFS(filepath.Join("/", o.root, "proc"))
	if err != nil || o.endpoint == "" {
		return ""
	}
	if _, same := started(proc, o.of.pid); o.path != "" && same == o.of {
		return o.path
	}
	p, key := started(proc, listener(socketPath(o.endpoint)))
	comm, _ := p.Comm() // of none: it is no runtime
	args, err := p.CmdLine()
	for _, home := range runtimeHomes {
		switch {
		case err == nil && comm == home.comm:
			config := cmp.Or(flagValue(args, "config", "c"), home.config)
			o.of, o.path = key, cmp.Or(flagValue(args, "root"), o.configured(config, home.table), home.root)
		case err != nil && o.path == "" && strings.Contains(o.endpoint, home.socket):
			return o.configured(home.config, home.table)
		}
	}
	return o.path
}

// started returns a process with its identity, which is zero if there is none.
func started(proc procfs.FS, pid int) (procfs.Proc, pidStart) {
	p, err := proc.Proc(pid)
	if err != nil {
		return procfs.Proc{}, pidStart{}
	}
	stat, err := p.Stat()
	if err != nil {
		return procfs.Proc{}, pidStart{}
	}
	return p, pidStart{pid, stat.Starttime}
}

// configured returns the root that a configuration on the host sets in a table,
// "" being the top; "" if it sets none or cannot be read.
func (o *ownRoot) configured(config, table string) string {
	fd, err := openOnHost(o.root, config)
	if err != nil {
		return ""
	}
	defer func() { _ = unix.Close(fd) }() // opened for its name alone
	text, err := smallfile.Read("/proc/self/fd/" + strconv.Itoa(fd))
	if err != nil {
		return ""
	}
	return rootIn(string(text), table)
}

// rootIn returns the root that a text of TOML sets in a table.
func rootIn(text, table string) string {
	in := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "["); ok {
			in, _, _ = strings.Cut(strings.Trim(name, "[ "), "]")
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || in != table || strings.TrimSpace(key) != "root" {
			continue
		}
		if value = strings.TrimSpace(value); len(value) > 1 && (value[0] == '"' || value[0] == '\'') {
			value, _, _ = strings.Cut(value[1:], value[:1])
			return value
		}
	}
	return ""
}
