package diagnose

import (
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/knowledge"
)

// value returns what stands for a placeholder: what the rule gives, else what is so of the node.
func (v *view) value(name string, values Values) []string {
	if given, is := values[name]; is {
		return given
	}
	f, sure := v.flavour()
	switch name {
	case "endpoint":
		return one(v.endpoint)
	case "socket":
		return one(socket(v.endpoint))
	case "program":
		return one(v.program())
	case "config":
		if sure {
			return one(f.Config)
		}
	case "cni":
		return f.CNI
	case "restarts":
		return one(f.Restarts)
	case "kubeletRestarts":
		if f.KubeletUnits == nil {
			return one(f.Restarts)
		}
		return one(f.KubeletRestarts)
	case "mountinfo":
		return v.inTable(values["target"])
	}
	return nil
}

// flavour returns what the runtime mostly is; sure is false where it may be another one, too.
func (v *view) flavour() (f knowledge.Flavour, sure bool) {
	all, units := v.flavours(), v.units()
	may := slices.DeleteFunc(slices.Clone(all), func(f knowledge.Flavour) bool {
		return !slices.ContainsFunc(f.Units, func(unit string) bool { return slices.Contains(units, unit) })
	})
	if len(may) == 0 {
		may = all
	}
	return may[0], len(may) == 1
}

// inTable returns paths as the table of mounts has them.
func (v *view) inTable(paths []string) (all []string) {
	for _, path := range paths {
		all = append(all, strings.NewReplacer(`\`, `\134`, " ", `\040`, "\t", `\011`, "\n", `\012`, "#", `\043`).Replace(path))
	}
	return all
}

// macro returns what stands for a placeholder that is a command or a part of one, and what this node
// lacks for it.
func (v *view) macro(name string, values Values) (text string, is bool, why lack) {
	of, verb, service := strings.Cut(name, ".")
	switch {
	case name == "crictl":
		if v.Scope.Whole() {
			why = lacksClient
		}
		return v.crictlCommand(), true, why
	case name == "ctr":
		if v.program() != knowledge.Containerd.Program {
			why = lacksClient
		}
		return v.ctrCommand(), true, why
	case service && of == "runtime":
		text, why = v.managed(of, verb, v.units(), values)
		return text, true, why
	case service && of == "kubelet":
		text, why = v.managed(of, verb, v.kubeletServices(), values)
		return text, true, why
	}
	return "", false, lacksNothing
}

// managed returns the manager's command for services. Where it is not known in which of some services
// something runs, none is started, and only those that run are restarted.
func (v *view) managed(of, verb string, units []string, values Values) (string, lack) {
	m, file := v.manager(), ""
	if f, sure := v.flavour(); sure && (verb == "logs" || verb == "logsOf") {
		file = f.Log
		if of == "kubelet" {
			file = f.KubeletLog
		}
	}
	if file != "" {
		m = knowledge.ManagerNamed("file")
	}
	template := map[string]string{"status": m.Status, "logs": m.Logs, "logsOf": m.LogsOf, "start": m.Start, "restart": m.Restart}[verb]
	switch {
	case of == "kubelet" && verb == "restart" && template == "":
		template = m.KubeletRestart
	case len(units) <= 1:
	case verb == "restart":
		template = m.RestartRunning
	case verb == "start", m.RestartRunning == "" && strings.Contains(template, "{unit}"): // which take one
		template = ""
	}
	if template == "" || len(units) == 0 {
		return "", lacksService
	}
	if m.Name == "snap" { // which has its own names for them
		units = slices.Clone(units)
		for i, unit := range units {
			units[i] = strings.TrimPrefix(unit, "snap.")
		}
	}
	text := values["inLog"]
	if len(text) == 0 {
		text = values["id"]
	}
	return v.command(template, Values{"unit": units, "text": text, "file": one(file)})
}

// manager returns what manages the services of this node: what its distribution has, else the init
// system that runs there, else the one in whose group the runtime or the kubelet was seen.
func (v *view) manager() knowledge.Manager {
	if name := v.flavours()[0].Manager; name != "" {
		return knowledge.ManagerNamed(name)
	}
	if strings.HasPrefix(v.units()[0], "snap.") {
		return knowledge.ManagerNamed("snap")
	}
	if name := v.evidence.Init; name != "" {
		return knowledge.ManagerNamed(name)
	}
	for _, p := range v.evidence.Processes.Daemons {
		switch {
		case strings.HasSuffix(p.Unit, ".service"):
			return knowledge.ManagerNamed("systemd")
		case p.Unit != "":
			return knowledge.ManagerNamed("openrc")
		}
	}
	return knowledge.ManagerNamed("systemd")
}

// crictlCommand returns crictl with its endpoint wherever it would not find that by itself.
func (v *view) crictlCommand() string {
	if v.elsewhere() {
		return "crictl -r " + quote(v.endpoint)
	}
	return "crictl"
}

// ctrCommand is crictlCommand for containerd's own client, which goes by no CRI.
func (v *view) ctrCommand() string {
	if v.elsewhere() {
		return "ctr -a " + quote(socket(v.endpoint)) + " -n k8s.io"
	}
	return "ctr -n k8s.io"
}
