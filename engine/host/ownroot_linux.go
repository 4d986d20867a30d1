package host

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/smallfile"
)

// A program is a daemon that can be told the runtime's socket and the folder for its
// data: by a flag, or else by its configuration.
type program struct {
	comm         string
	sockets      string // the folder where its socket is, unless it is told; empty if it has none
	config       string // its configuration, unless it is told
	socket, data setting
	root         string // the folder for its data, unless it is told
}

// A setting is the flags for something, and its key in a table of the configuration, ""
// being the top.
type setting struct {
	flags      []string
	table, key string
}

// programs are those whose configuration is known. (containerd 1.6 to 2.4: config.toml;
// CRI-O 1.25 to 1.37: crio.conf; kubelet 1.25 to 1.37: flags, and from 1.27 on
// KubeletConfiguration.)
var programs = append([]program{
	{
		"containerd", "/run/containerd/", "/etc/containerd/config.toml",
		setting{[]string{"address", "a"}, "grpc", "address"}, setting{[]string{"root"}, "", "root"}, "/var/lib/containerd",
	},
	{
		"crio", "/run/crio/", "/etc/crio/crio.conf",
		setting{[]string{"listen"}, "crio.api", "listen"}, setting{[]string{"root"}, "crio", "root"}, "/var/lib/containers/storage",
	},
}, servers()...)

// servers are those that are told where a runtime is.
func servers() (all []program) {
	for _, comm := range append(slices.Clone(kubelets), "cri-dockerd") {
		all = append(all, program{comm: comm, socket: setting{[]string{"container-runtime-endpoint"}, "", "containerRuntimeEndpoint"}})
	}
	return all
}

// told returns what a program with these arguments, on the host with that root, was told;
// "" if nothing, or if it cannot be known.
func (p program) told(root string, args []string, what setting) string {
	if given := flagValue(args, what.flags...); given != "" {
		return given
	}
	config := cmp.Or(flagValue(args, "config", "c"), p.config)
	if !filepath.IsAbs(config) {
		return "" // its working folder is not ours
	}
	fd, err := openOnHost(root, config)
	if err != nil {
		return ""
	}
	defer func() { _ = unix.Close(fd) }() // opened for its name alone
	text, err := smallfile.Read("/proc/self/fd/" + strconv.Itoa(fd))
	if err != nil {
		return ""
	}
	return settingIn(string(text), what)
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
	for _, runs := range programs {
		switch {
		case err == nil && comm == runs.comm:
			o.of, o.path = key, cmp.Or(runs.told(o.root, args, runs.data), runs.root)
		case err != nil && o.path == "" && runs.sockets != "" && strings.Contains(o.endpoint, runs.sockets):
			return runs.told(o.root, nil, runs.data)
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

// settingIn returns what a text of TOML, or of YAML without tables, says of something.
func settingIn(text string, what setting) string {
	in := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "["); ok {
			in, _, _ = strings.Cut(strings.Trim(name, "[ "), "]")
			continue
		}
		at := strings.IndexAny(line, "=:")
		if at < 0 || in != what.table || strings.Trim(line[:at], " \"") != what.key {
			continue
		}
		switch value := strings.TrimSpace(line[at+1:]); {
		case len(value) > 1 && (value[0] == '"' || value[0] == '\''):
			value, _, _ = strings.Cut(value[1:], value[:1])
			return value
		case line[at] == ':':
			value, _, _ = strings.Cut(value, " ")
			return value
		}
	}
	return ""
}
