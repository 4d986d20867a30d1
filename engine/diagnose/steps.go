package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/plegtop/plegtop/engine/evidence"
)

// An install is a way in which a runtime came to the node.
type install struct {
	endpoint string
	units    []string
}

// installs says which systemd units a runtime may run in, by what its endpoint
// holds. Several stand for installations that cannot be told apart by it.
var installs = []install{
	{"/run/k3s/", []string{"k3s", "k3s-agent", "rke2-server", "rke2-agent"}},
	{"/var/snap/microk8s/", []string{"snap.microk8s.daemon-containerd"}},
	{"/run/k0s/", []string{"k0scontroller", "k0sworker"}},
	{"crio", []string{"crio"}},
	{"cri-dockerd", []string{"cri-docker"}},
	{"", []string{"containerd"}},
}

// units returns the systemd units that the runtime may run in: one if it is known.
func (v *view) units() []string {
	units := []string{"crio"}
	if !strings.Contains(strings.ToLower(v.Version.RuntimeName), "cri-o") {
		units = installs[slices.IndexFunc(installs, func(i install) bool { return strings.Contains(v.endpoint, i.endpoint) })].units
	}
	var found []string
	for _, p := range v.daemons() {
		unit := strings.TrimSuffix(p.Unit, ".service")
		switch {
		case slices.Contains(units, unit):
			return []string{unit}
		case unit != "" && !slices.Contains(found, unit):
			found = append(found, unit)
		}
	}
	if len(found) == 1 {
		return found
	}
	return units
}

// program returns the beginning of the name of the runtime's process.
func (v *view) program() string {
	switch {
	case strings.Contains(strings.ToLower(v.Version.RuntimeName), "cri-o"), strings.Contains(v.endpoint, "crio"):
		return "crio"
	case strings.Contains(v.endpoint, "cri-dockerd"):
		return "cri-docker"
	}
	return "containerd"
}

// daemons returns the processes that may be the runtime's own.
func (v *view) daemons() (all []evidence.Process) {
	for _, p := range v.evidence.Processes.Daemons {
		if strings.HasPrefix(p.Command, v.program()) {
			all = append(all, p)
		}
	}
	return all
}

// logs returns the command that shows the runtime's journal.
func (v *view) logs() string {
	return "journalctl -u " + strings.Join(v.units(), " -u ") + " --since -10min --no-pager"
}

func (v *view) logStep(text string) Step { return Step{Text: text, Command: v.logs()} }

// unitCommand returns a command that is harmless for a unit that is not there.
func (v *view) unitCommand(verb, options string) string {
	return verb + " " + strings.Join(v.units(), " ") + " " + options
}

// runtimeSteps returns steps that end with a restart of the runtime; if its process
// does nothing, with what helps in that state, where no signal does.
func (v *view) runtimeSteps(first ...Step) []Step {
	if p, stuck := v.stuckDaemon(); stuck {
		first = slices.DeleteFunc(first, func(s Step) bool { return s.Risky })
		return append(first, stuckProcess{Process: p, what: "runtime"}.next()...)
	}
	restart := Step{Text: "the last resort: running containers live on, but every pod's lifecycle waits meanwhile", Risky: true}
	if units := v.units(); len(units) == 1 {
		restart.Command = "systemctl restart " + units[0]
	} else {
		restart.Text = "the last resort: restart the runtime's unit. It is not known which that is here, one of " + join(units)
	}
	return append(first, restart)
}

// containerdSocket is where crictl looks first when it is told nothing.
const containerdSocket = "/run/containerd/containerd.sock"

// crictl returns a crictl command line with its arguments quoted, and with the
// endpoint wherever crictl would not find it by itself.
func (v *view) crictl(verb string, args ...string) string {
	var b strings.Builder
	b.WriteString("crictl ")
	if v.endpoint != "" && socket(v.endpoint) != containerdSocket {
		b.WriteString("-r " + quote(v.endpoint) + " ")
	}
	b.WriteString(verb)
	for _, arg := range args {
		b.WriteString(" " + quote(arg))
	}
	return b.String()
}

func socket(endpoint string) string { return strings.TrimPrefix(endpoint, "unix://") }

// operand returns an argument such that no program takes it for a flag.
func operand(s string) []string {
	if strings.HasPrefix(s, "-") {
		return []string{"--", s}
	}
	return []string{s}
}

// quote returns s as one word of a POSIX shell. Bytes that a terminal would act
// on are spelled out, as bash and ksh read them.
func quote(s string) string {
	switch {
	case s != "" && strings.IndexFunc(s, needsQuotes) < 0:
		return s
	case !utf8.ValidString(s) || strings.IndexFunc(s, unprintable) >= 0:
		return spellOut(s)
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func needsQuotes(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_./:@%+=,-", r))
}

func unprintable(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }

// spellOut returns s in the $'...' quotes of bash.
func spellOut(s string) string {
	var b strings.Builder
	b.WriteString("$'")
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteString("'")
	return b.String()
}
