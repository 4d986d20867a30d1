package diagnose

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// flavours returns what the runtime may be: several where they cannot be told apart. Its own
// word counts more than its socket.
func (v *view) flavours() []knowledge.Flavour {
	if f, known := knowledge.On(v.evidence.OS); known {
		return []knowledge.Flavour{f}
	}
	likely := knowledge.Likely(v.endpoint)
	if strings.Contains(strings.ToLower(v.Version.RuntimeName), "cri-o") {
		likely = knowledge.At(knowledge.CRIO.Socket)
	}
	for _, p := range v.evidence.Processes.Daemons {
		f, known := knowledge.InUnit(unitName(p))
		if known && f.Program == likely[0].Program && (f.Socket == "" || slices.ContainsFunc(likely, func(o knowledge.Flavour) bool { return o.Name == f.Name })) {
			return []knowledge.Flavour{f}
		}
	}
	return likely
}

// unitName returns the service that a process runs in, without what an init system adds to it.
func unitName(p evidence.Process) string { return strings.TrimSuffix(p.Unit, ".service") }

// units returns the systemd units that the runtime may run in: one if it is known.
func (v *view) units() (units []string) {
	for _, f := range v.flavours() {
		units = append(units, f.Units...)
	}
	var found []string
	for _, p := range v.evidence.Processes.Daemons { // the kubelet may run in the same one
		if unit := unitName(p); slices.Contains(units, unit) {
			return []string{unit}
		}
	}
	for _, p := range v.daemons() {
		switch unit := unitName(p); {
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

func (v *view) isCRIO() bool { return v.program() == knowledge.CRIO.Program }

// daemons returns the processes that may be the runtime's own.
func (v *view) daemons() (all []evidence.Process) {
	for _, p := range v.evidence.Processes.Daemons {
		if strings.HasPrefix(p.Command, v.program()) {
			all = append(all, p)
		}
	}
	return all
}

// runtimeSteps returns steps that end with a restart of the runtime; if its process
// does nothing, with what helps in that state, where no signal does.
func (v *view) runtimeSteps(first ...Step) []Step {
	if p, stuck := v.stuckDaemon(); stuck {
		first = slices.DeleteFunc(first, func(s Step) bool { return s.acts() || throughCrictl(s) }) // which would hang as well
		return append(first, stuckProcess{Process: p}.next(v)...)
	}
	if !slices.ContainsFunc(first, Step.acts) {
		first = append(first, v.makingFit()...)
	}
	last := v.lastResort()
	if slices.ContainsFunc(first, Step.acts) {
		for i := range last {
			last[i] = last[i].after(notEnough)
		}
	}
	return append(first, last...)
}

// distinct leaves out steps that do what one before them does.
func distinct(steps []Step) (all []Step) {
	for _, s := range steps {
		if !slices.ContainsFunc(all, s.Same) {
			all = append(all, s)
		}
	}
	return all
}

// notEnough is when to take a step that comes after another one which acts.
const notEnough = "that is not enough"

// after returns the step for when something is so, besides what it waits for already.
func (s Step) after(so string) Step {
	if s.When != "" {
		so += ", and " + s.When
	}
	s.When = so
	return s
}

// lastResort returns the restart of the runtime. A restart destroys what a bug report needs: where
// something hangs in the runtime, and no step before has what its calls wait for written, that
// comes first.
func (v *view) lastResort() []Step {
	switch v.Scope {
	case answers.ListHangs, answers.NoStatus, answers.Silent:
		if s := v.deep().Stacks; s.Total > 0 && !strings.HasSuffix(s.From, ".log") {
			return append(v.dump(), v.restart(lastResortText)...)
		}
	}
	return v.restart(lastResortText)
}

const lastResortText = "restarts the runtime: the last resort"

// restart returns the restart of the runtime, and says what it is good for.
func (v *view) restart(effect string) []Step {
	values := Values{"effect": one(effect), "livesOn": one(v.livesOn("containers live on"))}
	if _, first := v.unfit(); first != "" {
		values["before"] = one(first)
	}
	return v.advise("runtime.restart", values)
}

// start returns the steps for a runtime that does not run.
func (v *view) start() []Step {
	values := Values{"data": one(v.evidence.Disk.Path)}
	if _, first := v.unfit(); first != "" {
		values["before"] = one(first)
	} else if len(v.idleShims()) > 0 {
		values["ends"] = one(v.livesOn("running containers live on"))
	}
	return v.advise("runtime.start", values)
}

// says returns the look at the runtime's log.
func (v *view) says() []Step { return v.advise("runtime.says", nil) }

// wholeID is an id as all runtimes make them: 32 bytes by chance.
var wholeID = regexp.MustCompile("^[0-9a-f]{64}$")

// elsewhere reports whether the runtime's socket is not where crictl and ctr look for it.
func (v *view) elsewhere() bool {
	return v.endpoint != "" && socket(v.endpoint) != knowledge.Containerd.Socket
}

func socket(endpoint string) string { return strings.TrimPrefix(endpoint, "unix://") }

// quote returns s as one word of a POSIX shell. It must have no byte that a terminal acts on: see [hidden].
func quote(s string) string {
	if s != "" && strings.IndexFunc(s, needsQuotes) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func needsQuotes(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_./:@%+=,-", r))
}

func unprintable(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }
