package knowledge

import "slices"

// A Program is a daemon whose flags and configuration are known.
type Program struct {
	Name    string
	Source  string
	Format  string // format of its configuration: "toml" or "yaml"
	DropIns string `yaml:"dropIns"` // the pattern for the names of its further configuration files; empty for none

	Settings map[string]Setting // by socket, data, state, temp, debug, metrics

	Dump     string // the request for a dump of its goroutines; empty for none
	DumpFile string `yaml:"dumpFile"` // the pattern for the name of a file with a dump; PID stands for the number of its process

	Bundles     string            // the folder of all bundles below its state folder
	Bundle      string            // the folder of config.json in a bundle; empty for the bundle itself
	Annotations map[string]string // in config.json, by kind, uid, namespace, name, sandbox, container
}

// A Setting says how one setting is given to a program.
type Setting struct {
	Flags  []string
	Keys   []string // each has the tables and the key, separated by slashes; the first one that is set counts
	Preset string
}

// DaemonPrograms returns all rows of the table.
var DaemonPrograms = lazy[Program]("programs.yaml")

// ProgramNamed returns the program for the name of a process. Every program that contains a kubelet counts as a
// kubelet. It is zero if the name is not known.
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
