package diagnose

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/flavour"
	"github.com/plegtop/plegtop/engine/pleg"
)

// flavours returns what the runtime may be: several where they cannot be told apart. Its own
// word counts more than its socket.
func (v *view) flavours() []flavour.Flavour {
	if strings.Contains(strings.ToLower(v.Version.RuntimeName), "cri-o") {
		return flavour.At(flavour.CRIO.Socket)
	}
	return flavour.Likely(v.endpoint)
}

// units returns the systemd units that the runtime may run in: one if it is known.
func (v *view) units() (units []string) {
	for _, f := range v.flavours() {
		units = append(units, f.Units...)
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

// program returns the name of the runtime's process.
func (v *view) program() string { return v.flavours()[0].Program }

func (v *view) isCRIO() bool { return v.program() == flavour.CRIO.Program }

// isContainerd reports whether the runtime is surely containerd, and none that k3s or another
// program has within.
func (v *view) isContainerd() bool {
	return slices.Equal(v.units(), []string{flavour.Containerd.Program})
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

// logStepOf shows the lines of it that name an object.
func (v *view) logStepOf(id, text string) Step {
	return Step{Text: text, Command: v.logs() + " | grep -F -e " + quote(id)}
}

// unitCommand returns a command that is harmless for a unit that is not there.
func (v *view) unitCommand(verb, options string) string {
	return verb + " " + strings.Join(v.units(), " ") + " " + options
}

// runtimeSteps returns steps that end with a restart of the runtime; if its process
// does nothing, with what helps in that state, where no signal does.
func (v *view) runtimeSteps(first ...Step) []Step {
	if p, stuck := v.stuckDaemon(); stuck {
		first = slices.DeleteFunc(first, func(s Step) bool { return s.Risky || throughCrictl(s) }) // which would hang likewise
		return append(first, stuckProcess{Process: p}.next(v)...)
	}
	last := v.lastResort()
	if !slices.ContainsFunc(first, Step.acts) {
		first = append(first, v.makingFit()...)
	}
	if slices.ContainsFunc(first, Step.acts) {
		last = last.when(notEnough)
	}
	return append(first, last)
}

// notEnough is when to take a step that comes after another one which acts.
const notEnough = "if that is not enough"

// lastResort returns the restart of the runtime. A restart destroys what a bug report needs: where
// something hangs in the runtime, and no step before has what its calls wait for written, it does so.
func (v *view) lastResort() Step {
	step, s := v.restart(v.restartRisk()), v.deep().Stacks
	switch v.Scope {
	case answers.ListHangs, answers.NoStatus, answers.Silent:
	default:
		return step
	}
	switch {
	case s.Total == 0 || !v.dumps():
	case strings.HasSuffix(s.From, ".log"):
		step.Text += "; what its calls wait for stays in " + s.From
	default:
		step.Command = v.dump() + "; sleep 2; " + step.Command
		step.Text += "; before that the runtime writes what its goroutines wait for to a file in /tmp or its TMPDIR"
	}
	return step
}

// restart returns the restart of the runtime. Where it is not known in which of some units it
// runs, only that which runs is restarted.
func (v *view) restart(text string) Step {
	verb := "restart "
	if len(v.units()) > 1 {
		verb = "try-restart "
	}
	return v.onceFit(Step{Text: text, Command: "systemctl " + verb + strings.Join(v.units(), " "), Risky: true})
}

// start returns the start of a runtime that does not run: nothing more can be lost by it, but where
// it cannot write, or not reach a shim.
func (v *view) start() Step {
	if units := v.units(); len(units) > 1 {
		return v.onceFit(inWords("start the unit of the runtime, one of " + join(units)))
	}
	reached := len(v.idleShims()) == 0
	return v.onceFit(Step{Text: "starts it; " + v.livesOn("running containers live on"), Command: "systemctl restart " + v.units()[0], Ends: reached, Risky: !reached})
}

// inWords returns a step that no command takes.
func inWords(text string) Step { return Step{Text: text, Ends: true} }

// afterHelper returns what to do where the end of a helper has not set the runtime free.
func (v *view) afterHelper(cut Step) (all []Step) {
	if pid, is := strings.CutPrefix(cut.Command, "kill "); is && !strings.HasPrefix(pid, "-") {
		all = append(all, Step{If: "if it is still there 10 s later", Text: "it ends without tidying up", Command: "kill -9 " + pid, Risky: true})
	}
	if _, stuck := v.stuckDaemon(); !stuck {
		all = append(all, v.restart(v.restartRisk()).when(notEnough))
	}
	return all
}

// crictlToo says how a call by crictl shows that it hangs: crictl gives up by itself, after 2s unless
// its configuration says longer.
const crictlToo = "DeadlineExceeded: it hangs for crictl too"

// crictl returns a crictl command line with its arguments quoted, ids as short as crictl prints and
// takes them, and with the endpoint wherever crictl would not find it by itself.
func (v *view) crictl(verb string, args ...string) string {
	args = slices.Clone(args)
	for i, arg := range args {
		if wholeID.MatchString(arg) {
			args[i] = pleg.ShortID(arg)
		}
	}
	if v.elsewhere() {
		return command("crictl -r "+quote(v.endpoint)+" "+verb, args)
	}
	return command("crictl "+verb, args)
}

// wholeID is an id as all runtimes make them: 32 bytes by chance.
var wholeID = regexp.MustCompile("^[0-9a-f]{64}$")

// ctr is crictl for containerd's own client, which goes by no CRI and takes whole ids alone.
func (v *view) ctr(verb string, args ...string) string {
	if v.elsewhere() {
		return command("ctr -a "+quote(socket(v.endpoint))+" -n k8s.io "+verb, args)
	}
	return command("ctr -n k8s.io "+verb, args)
}

// elsewhere reports whether the runtime's socket is not where crictl and ctr look for it.
func (v *view) elsewhere() bool {
	return v.endpoint != "" && socket(v.endpoint) != flavour.Containerd.Socket
}

func command(program string, args []string) string {
	for _, arg := range args {
		program += " " + quote(arg)
	}
	return program
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
