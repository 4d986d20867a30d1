package knowledge

import "slices"

// A Program is a daemon whose flags and configuration are known.
type Program struct {
	Name    string
	Source  string
	Format  string // of its configuration: "toml" or "yaml"
	DropIns string `yaml:"dropIns"` // the pattern of the names of more files of it; empty for none

	Settings map[string]Setting // by socket, data, state, temp, debug, metrics

	Dump     string // the request for a dump of its goroutines; empty for none
	DumpFile string `yaml:"dumpFile"` // the name of a file with one, a pattern; PID stands for its process

	Bundles     string            // the folder of all bundles below its state folder
	Bundle      string            // the folder of config.json in a bundle; empty for the bundle itself
	Annotations map[string]string // in config.json, by kind, uid, namespace, name, sandbox, container
}

// A Setting is how a program is told one thing.
type Setting struct {
	Flags  []string
	Keys   []string // each the tables and the key, with slashes between; the first that is there counts
	Preset string
}

// DaemonPrograms returns all of them.
var DaemonPrograms = lazy[Program]("programs.yaml")

// ProgramNamed returns the program of a process's name; every program with a kubelet within counts as
// a kubelet. It is zero if the name is not known.
func ProgramNamed(comm string) Program {
	if slices.Contains(Kubelets, comm) {
		comm = "kubelet"
	}
	all := DaemonPrograms()
	if i := slices.IndexFunc(all, func(p Program) bool { return p.Name == comm }); i >= 0 {
		return all[i]
	}
	return Program{}
}
