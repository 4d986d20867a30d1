package knowledge

import "slices"

// A Manager is an init system, or what a distribution uses instead of one: the commands that show, start and stop
// services.
type Manager struct {
	Name   string
	Source string
	// Runs is a folder that exists if this is the node's init system; empty if no folder shows that.
	Runs string
	// Status, Logs, Start and Restart are commands with the placeholders of a [Remedy]. {unit} stands for the services.
	// A field is empty if the manager has no such command.
	Status, Logs, Start, Restart string
	// LogsOf shows the lines of the log that contain one of {text}.
	LogsOf string `yaml:"logsOf"`
	// RestartRunning restarts those of several services that run; empty if the manager cannot do that.
	RestartRunning string `yaml:"restartRunning"`
	// KubeletRestart is Restart for the kubelet, if only the kubelet can be restarted.
	KubeletRestart string `yaml:"kubeletRestart"`
	// Instead says what to do about the runtime if there is no Restart; empty for nothing.
	Instead string
	// Where says where to type these commands, if that is not a shell on the node.
	Where string
}

var managers = lazy[Manager]("services.yaml")

// Managers returns all managers, in the order of the table. The slice must not be changed.
func Managers() []Manager { return managers() }

// ManagerNamed returns the manager with this name. For an unknown name it returns systemd.
func ManagerNamed(name string) Manager {
	all := managers()
	return all[max(0, slices.IndexFunc(all, func(m Manager) bool { return m.Name == name }))]
}
