package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/prometheus/procfs"
	"go.yaml.in/yaml/v3"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/proc"
	"github.com/plegtop/plegtop/engine/host/reads"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// mostFiles is how many files of one configuration are read at most.
const mostFiles = 32

// A static says how a program was started. It holds as long as the program's process lives. It does not change.
type static struct {
	knowledge.Flavour                   // of the runtime; zero if that is not known
	program           knowledge.Program // zero if that is not known
	comm              string            // the program's name; empty if that is not known
	process           pidStart          // zero if that is not known
	args              []string
	files             []map[string]any // the files of its configuration; the first counts most
	err               error            // why something of the files may be missing
}

// static returns how the runtime at the endpoint was started. It reads that once. It reads it again when that
// process has ended, or when a deep look sees that another process listens. While nobody listens, the last
// result counts, without the process if that has ended. If nobody has listened yet, it reads the configuration
// of the runtime whose socket it is. If the read does not end in time, only err is set.
func (l *Look) static(ctx context.Context, within time.Duration) *static {
	n := l.Node
	s, err := reads.Start(&n.reads, "static", func() (*static, error) {
		isKnown := n.last != nil && n.last.program.Name != "" // otherwise it is a program that may start a runtime
		lives := isKnown && n.last.process.pid != 0 && n.last.process == processOf(n.Root, n.last.process.pid).identity()
		if lives && !l.Deep {
			return n.last, nil
		}
		switch pid := n.runtimeAt(); {
		case lives && (pid == 0 || pid == n.last.process.pid):
		case pid != 0 || !isKnown:
			n.last = n.readStatic(pid)
		default:
			ended := *n.last
			ended.process = pidStart{}
			n.last = &ended
		}
		return n.last, nil
	}).Wait(ctx, within)
	if err != nil {
		return &static{err: err}
	}
	return s
}

// runtimeAt returns the process that listens at the endpoint; 0 if that is not known. In a picture nobody
// listens. There it returns the first process with the name of a runtime that has bundles.
func (c *Config) runtimeAt() (pid int) {
	if !c.Offline {
		pid, _ = listener(proc.SocketPath(c.Endpoint))
		return pid
	}
	all := runtimes(c.Root)
	if i := slices.IndexFunc(all, func(p process) bool { return knowledge.ProgramNamed(p.stat.Comm).Bundles != "" }); i >= 0 {
		return all[i].PID
	}
	return 0
}

// readStatic returns how a runtime was started; pid is 0 if its process is not known. It may hang.
func (c *Config) readStatic(pid int) *static {
	p := processOf(c.Root, pid)
	if p.PID == 0 && c.Offline {
		return &static{}
	}
	f := flavourAt(c.Root, c.Endpoint, p.stat.Comm)
	if p.PID == 0 {
		return readConfiguration(c.Root, f, f.Program, nil)
	}
	args, _ := p.CmdLine() // if they cannot be read, we know of no flag
	s := readConfiguration(c.Root, f, p.stat.Comm, args)
	s.process = p.identity()
	return s
}

// flavourAt returns the flavour of a runtime, by its endpoint and the name of its program; an empty name stands
// for any program. If several flavours fit, it is the first whose configuration is on the host, or else the
// first. At an unknown endpoint it is the first flavour with that program.
func flavourAt(root, endpoint, comm string) knowledge.Flavour {
	isOther := func(f knowledge.Flavour) bool { return comm != "" && f.Program != comm }
	all := slices.DeleteFunc(slices.Clone(knowledge.At(endpoint)), isOther)
	for _, f := range all {
		if _, err := readOnHost(root, f.Config); err == nil {
			return f
		}
	}
	if comm != "" {
		all = append(all, slices.DeleteFunc(slices.Clone(knowledge.Flavours), isOther)...)
	}
	return append(all, knowledge.Flavour{})[0]
}

// socketOf returns the socket of a runtime with which a program was started, by its flags or its configuration;
// "" if none.
func socketOf(root, comm string, args []string) string {
	return readConfiguration(root, flavourAt("", "", comm), comm, args).given("socket")
}

// given returns the value that a flag or the configuration gives to a setting; "" if neither does.
func (s *static) given(name string) string {
	setting := s.program.Settings[name]
	return cmp.Or(proc.FlagValue(s.args, setting.Flags...), s.inFiles(setting.Keys))
}

// setting returns the value of a setting. If nothing gives it a value, it returns the preset.
func (s *static) setting(name string) string {
	setting, has := s.program.Settings[name]
	if !has {
		return ""
	}
	return cmp.Or(s.given(name), setting.Preset, map[string]string{"data": s.Data, "state": s.State}[name])
}

// inFiles returns the text of the first of these keys that any file has. If several files have the key, the
// file that counts most decides.
func (s *static) inFiles(keys []string) string {
	for _, key := range keys {
		for _, file := range s.files {
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

// readConfiguration returns what a program with these arguments finds in its configuration and in the files
// that it imports. A program without a main file may still have a folder of more files, as a kubelet has.
func readConfiguration(root string, f knowledge.Flavour, comm string, args []string) *static {
	s := &static{Flavour: f, program: knowledge.ProgramNamed(comm), comm: comm, args: args}
	named := proc.FlagValue(args, "config", "c")
	main := cmp.Or(named, f.Config)
	if main != "" && !filepath.IsAbs(main) {
		s.err = fmt.Errorf("%s is below a folder that is not known", main) // the program's working folder is not ours
		return s
	}
	folder := []string{"config-dir"}
	if f.DropIns != "" {
		folder = append(folder, "d") // CRI-O's flag. A kubelet does not have it, and k3s has another flag with that name
	}
	pending, seen := []string{main}, map[string]bool{"": true}
	if dir := cmp.Or(proc.FlagValue(args, folder...), f.DropIns); s.program.DropIns != "" && filepath.IsAbs(dir) {
		pending = append(pending, matching(root, filepath.Join(dir, s.program.DropIns))...)
	}
	for len(pending) > 0 && len(seen) < mostFiles {
		path := pending[0]
		if pending = pending[1:]; seen[path] {
			continue
		}
		seen[path] = true
		file, err := s.parse(root, path)
		if errors.Is(err, fs.ErrNotExist) && named == "" {
			continue
		}
		s.err = cmp.Or(s.err, err)
		s.files = slices.Insert(s.files, 0, file) // a later file counts more
		pending = append(pending, imports(root, path, file)...)
	}
	for _, path := range f.Shared {
		if file, err := s.parse(root, path); err == nil {
			s.files = append(s.files, file)
			break
		}
	}
	return s
}

// parse reads one file of the configuration.
func (s *static) parse(root, path string) (file map[string]any, err error) {
	text, err := readOnHost(root, path)
	switch {
	case err != nil:
	case s.program.Format == "toml":
		err = toml.Unmarshal(text, &file)
	default:
		err = yaml.Unmarshal(text, &file)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

// imports returns the absolute paths of the files that a configuration of containerd imports.
func imports(root, of string, file map[string]any) (all []string) {
	imported, _ := file["imports"].([]any)
	for _, one := range imported {
		path, _ := one.(string)
		if path != "" && !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(of), path)
		}
		switch {
		case path == "":
		case strings.ContainsAny(path, "*?["):
			all = append(all, matching(root, path)...)
		default:
			all = append(all, filepath.Clean(path))
		}
	}
	return all
}

// A process is one process of the host, with its stat file.
type process struct {
	procfs.Proc
	stat procfs.ProcStat
}

// A pidStart identifies a process for good: a pid is used again, but not with the same start.
type pidStart struct {
	pid   int
	start uint64 // in ticks since the boot
}

func (p process) identity() pidStart { return pidStart{p.PID, p.stat.Starttime} }

// processOf returns a process of the host; zero if there is none with this pid.
func processOf(root string, pid int) process {
	processes, err := procfs.NewFS(filepath.Join("/", root, "proc"))
	if err != nil {
		return process{}
	}
	p, err := processes.Proc(pid)
	if err != nil {
		return process{}
	}
	stat, err := p.Stat()
	if err != nil {
		return process{}
	}
	return process{p, stat}
}

// runtimes returns the processes with the name of a runtime.
func runtimes(root string) (all []process) {
	processes, err := procfs.NewFS(filepath.Join("/", root, "proc"))
	if err != nil {
		return nil
	}
	pids, _ := processes.AllProcs() // none if the list cannot be read
	for _, p := range pids {
		if comm, _ := p.Comm(); !slices.Contains(knowledge.Runtimes, comm) { // a process that has ended has no name
			continue
		}
		if stat, err := p.Stat(); err == nil {
			all = append(all, process{p, stat})
		}
	}
	return all
}

// report returns the process in the form that a report has; zero if there is none.
func (p process) report() evidence.Process {
	if p.PID == 0 {
		return evidence.Process{}
	}
	return evidence.Process{PID: p.PID, Parent: p.stat.PPID, Command: p.stat.Comm, State: proc.StateOf(p.stat), Start: p.stat.Starttime}
}
