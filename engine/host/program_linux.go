package host

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/host/proc"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/smallfile"
)

const (
	// mostFiles bounds how many files a configuration is read from.
	mostFiles = 32
	// namesMost bounds how many names of a folder are read.
	namesMost = 200_000
)

// A program is a daemon that can be told by flags, or else by its configuration, where
// it has what.
type program struct {
	knowledge.Flavour // none of a kubelet
	comm              string
	dropInNames       string // the names of files that are more of its configuration; empty for none
	parse             func([]byte, any) error

	socket, data, state, temp, debug, metrics setting
}

// A setting is the flags for something, its keys in the configuration, and what holds
// where neither says.
type setting struct {
	flags  []string
	keys   []string // each the tables and the key with slashes between; the first that is there counts
	preset string
}

var containerd = program{
	parse:   toml.Unmarshal,
	socket:  setting{[]string{"address", "a"}, []string{"plugins/io.containerd.server.v1.grpc/address", "grpc/address"}, ""},
	data:    setting{[]string{"root"}, []string{"root"}, ""},
	state:   setting{[]string{"state"}, []string{"state"}, ""},
	temp:    setting{nil, []string{"temp"}, "/tmp"},
	debug:   setting{nil, []string{"plugins/io.containerd.server.v1.debug/address", "debug/address"}, knowledge.Containerd.State + "/debug.sock"},
	metrics: setting{nil, []string{"plugins/io.containerd.server.v1.metrics/address", "metrics/address"}, ""},
}

var crio = program{
	dropInNames: "*", parse: toml.Unmarshal,
	socket: setting{[]string{"listen"}, []string{"crio/api/listen"}, ""},
	data:   setting{[]string{"root"}, []string{"crio/root", "storage/graphroot"}, ""},
	state:  setting{[]string{"runroot"}, []string{"crio/runroot", "storage/runroot"}, ""},
	temp:   setting{nil, nil, "/tmp"},
}

// client is one that is told where a runtime is.
var client = program{
	dropInNames: "*.conf", parse: yaml.Unmarshal,
	socket: setting{[]string{"container-runtime-endpoint"}, []string{"containerRuntimeEndpoint"}, ""},
}

// of returns p as a flavour has it. No folder is preset for Docker behind cri-dockerd: it may
// have been told another one, which is not read.
func (p program) of(f knowledge.Flavour) program {
	p.Flavour, p.comm = f, f.Program
	if p.data.keys != nil {
		p.data.preset, p.state.preset = f.Data, f.State
	}
	return p
}

// programs are those whose configuration is known; of several of one name the first
// stands for it where its socket is not known. (containerd 1.6 to 2.4: config.toml of versions 1 to
// 4, server/config; CRI-O 1.25 to 1.37: crio.conf; kubelet 1.25 to 1.37: flags, from
// 1.27 on KubeletConfiguration, and from 1.28 on --config-dir.)
var programs = func() (all []program) {
	kinds := map[string]program{"containerd": containerd, "crio": crio, "cri-dockerd": client}
	for _, f := range knowledge.Flavours {
		if f.Socket != "" {
			all = append(all, kinds[f.Program].of(f))
		}
	}
	for _, comm := range knowledge.Kubelets {
		all = append(all, client.of(knowledge.Flavour{Program: comm}))
	}
	return all
}()

// programOf returns the program of that name; ok is false if it is not known.
func programOf(comm string) (p program, ok bool) {
	i := slices.IndexFunc(programs, func(p program) bool { return p.comm == comm })
	if i < 0 {
		return program{}, false
	}
	return programs[i], true
}

// programAt returns the runtime whose socket that may be, of that name if there is one: of
// several the first whose configuration is there on the host with that root.
func programAt(root, endpoint, comm string) (p program, ok bool) {
	for _, at := range programs {
		if !at.MayBeAt(endpoint) || comm != "" && at.comm != comm {
			continue
		}
		if _, err := readOnHost(root, at.Config); err == nil {
			return at, true
		}
		if !ok {
			p, ok = at, true
		}
	}
	return p, ok
}

// told returns what a program with these arguments, on the host with that root, was told;
// "" if nothing, or if it cannot be known.
func (p program) told(root string, args []string, what setting) string {
	if given := proc.FlagValue(args, what.flags...); given != "" {
		return given
	}
	files, _ := p.configured(root, args) // what cannot be read says nothing
	return files.text(what)
}

// A configuration is what a program's files say, those first that hold against others.
type configuration []map[string]any

// text returns what the files say of something; "" if nothing.
func (c configuration) text(what setting) string {
	for _, key := range what.keys {
		for _, file := range c {
			var at any = file
			for part := range strings.SplitSeq(key, "/") {
				table, _ := at.(map[string]any)
				at = table[part]
			}
			if text, _ := at.(string); text != "" {
				return text
			}
		}
	}
	return ""
}

// configured reads the configuration of a program with these arguments, with what it
// imports. With an error there is what could be read. A program without
// a file may still have a folder, as a kubelet (cmd/kubelet/app/server.go).
func (p program) configured(root string, args []string) (all configuration, err error) {
	named := proc.FlagValue(args, "config", "c")
	main := cmp.Or(named, p.Config)
	if main != "" && !filepath.IsAbs(main) {
		return nil, fmt.Errorf("%s is below a folder that is not known", main) // its working folder is not ours
	}
	folder := []string{"config-dir"}
	if p.DropIns != "" {
		folder = append(folder, "d") // CRI-O's; a kubelet has no such flag, and k3s another one
	}
	pending, seen := []string{main}, map[string]bool{"": true}
	if dir := cmp.Or(proc.FlagValue(args, folder...), p.DropIns); p.dropInNames != "" && filepath.IsAbs(dir) {
		pending = append(pending, matching(root, filepath.Join(dir, p.dropInNames))...)
	}
	for len(pending) > 0 && len(seen) < mostFiles {
		var path string
		path, pending = pending[0], pending[1:]
		if seen[path] {
			continue
		}
		seen[path] = true
		file, broken := p.parsed(root, path)
		if errors.Is(broken, fs.ErrNotExist) && named == "" {
			continue
		}
		err = cmp.Or(err, broken)
		all = append(configuration{file}, all...) // who is read later holds
		pending = append(pending, imports(root, path, file)...)
	}
	for _, path := range p.Shared {
		if file, broken := p.parsed(root, path); broken == nil {
			return append(all, file), err
		}
	}
	return all, err
}

func (p program) parsed(root, path string) (map[string]any, error) {
	text, err := readOnHost(root, path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var file map[string]any
	if err := p.parse(text, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

// imports returns the files that containerd's configuration takes in, by their whole
// paths.
func imports(root, of string, file map[string]any) (all []string) {
	named, _ := file["imports"].([]any)
	for _, name := range named {
		path, _ := name.(string)
		switch {
		case path == "":
			continue
		case !filepath.IsAbs(path):
			path = filepath.Join(filepath.Dir(of), path)
		}
		if strings.ContainsAny(path, "*?[") {
			all = append(all, matching(root, path)...)
		} else {
			all = append(all, filepath.Clean(path))
		}
	}
	return all
}

// matching returns the files on the host whose names match the end of a path, in order.
func matching(root, pattern string) (all []string) {
	dir, pattern := filepath.Split(pattern)
	names, _ := namesIn(root, dir, func(name string) bool { // what cannot be read says nothing
		is, _ := filepath.Match(pattern, name)
		return is
	})
	for _, name := range names {
		all = append(all, filepath.Join(dir, name))
	}
	return all
}

// namesIn returns the names in a folder on the host that are wanted, in order. Of one that is
// full of others, as /tmp may be, no more is kept in memory than these.
func namesIn(root, dir string, isWanted func(name string) bool) (all []string, err error) {
	fd, err := openOnHost(root, dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }()                                    // opened for its name alone
	folder, err := os.OpenFile(ownFile(fd), os.O_RDONLY|unix.O_DIRECTORY, 0) // of a pipe nothing comes
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Close() }() // it is only read
	for seen := 0; err == nil && seen < namesMost; {
		var some []string
		some, err = folder.Readdirnames(1000)
		seen += len(some)
		all = append(all, slices.DeleteFunc(some, func(name string) bool { return !isWanted(name) })...)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	slices.Sort(all)
	return all, err
}

// readOnHost reads a small file of the host's.
func readOnHost(root, path string) ([]byte, error) {
	fd, err := openOnHost(root, path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }() // opened for its name alone
	text, err := smallfile.Read(ownFile(fd))
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err // without our own name for it
	}
	return text, err
}

// ownFile returns the path by which a file that this process has open can be opened again.
func ownFile(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }
