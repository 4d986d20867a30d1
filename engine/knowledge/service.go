package knowledge

import "slices"

// A Manager is an init system, or what a distribution has in its place: the commands that show,
// start and stop services.
type Manager struct {
	Name   string
	Source string
	// Runs is a folder that is there where this is the node's init system; empty where nothing tells.
	Runs string
	// Status, Logs, Start and Restart are commands with the placeholders of a [Remedy]; the services
	// are {unit}. Empty where the manager has no such command.
	Status, Logs, Start, Restart string
	// LogsOf shows the lines of the log that have one of {text}.
	LogsOf string `yaml:"logsOf"`
	// RestartRunning restarts whichever of several services runs; empty where the manager cannot.
	RestartRunning string `yaml:"restartRunning"`
	// KubeletRestart is Restart for the kubelet, where only that can be restarted.
	KubeletRestart string `yaml:"kubeletRestart"`
	// Instead says what to do about the runtime where there is no Restart; empty for nothing.
	Instead string
	// Where says where to type all of that, if that is not a shell on the node.
	Where string
}

var managers = lazy[Manager]("services.yaml")

// Managers returns all of them, in the order of the table. It is not to be changed.
func Managers() []Manager { return managers() }

// ManagerNamed returns the manager of that name, and systemd for one that is not known.
func ManagerNamed(name string) Manager {
	all := managers()
	return all[max(0, slices.IndexFunc(all, func(m Manager) bool { return m.Name == name }))]
}
