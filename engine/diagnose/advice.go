package diagnose

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/pleg"
)

// StepKind says whether a step looks or acts.
type StepKind string

// The kinds of a [Step], as the JSON contract has them.
const (
	Look StepKind = "look"
	Act  StepKind = "act"
)

// A Step is something to do next: a row of the table of remedies with the values of a culprit.
type Step struct {
	Kind    StepKind `line:"kind,omitempty"`
	Command string   `line:"command"`         // for a shell, its operands quoted; empty where no command does it
	Text    string   `line:"text"`            // what the command shows or does, or what to do without one
	When    string   `line:"when,omitempty"`  // when to take it, such as "that is not enough"; empty for always
	Risk    string   `line:"risk,omitempty"`  // what may go wrong; of a step that acts never empty, "none" for nothing
	Scope   string   `line:"scope,omitempty"` // what it touches: "pod", "mount", "runtime", "node"; empty of one that looks
	Undo    string   `line:"undo,omitempty"`  // how it is taken back; empty where it cannot be, or need not
}

// noRisk is the risk of a step that harms nothing.
const noRisk = "none"

// Looks reports whether a step is a command that looks and changes nothing. It is safe for
// concurrent use.
func (s Step) Looks() bool { return s.Kind != Act && s.Command != "" }

// Risky reports whether a step changes something and may do harm. It is safe for concurrent use.
func (s Step) Risky() bool { return s.Kind == Act && s.Risk != noRisk }

// Dumps reports whether a step has the runtime write what each of its calls waits for, which
// plegtop then reads. It acts on the runtime, and ends nothing. It is safe for concurrent use.
func (s Step) Dumps() bool { return strings.Contains(s.Command, "kill -USR1 ") }

// acts reports whether a step ends the trouble, or tries to.
func (s Step) acts() bool { return s.Kind == Act && !s.Dumps() }

// Same reports whether two steps do the same, whatever each says of it. It is safe for concurrent use.
func (s Step) Same(other Step) bool {
	return s.Command == other.Command && (s.Command != "" || s.Text == other.Text)
}

// Says returns when to take the step, and what it is good for. It is safe for concurrent use.
func (s Step) Says() string {
	if s.When == "" {
		return s.Text
	}
	return "if " + s.When + ": " + s.Text
}

// String returns the step in one line.
func (s Step) String() string {
	out := s.Says()
	if s.Command != "" {
		out = s.Command + "  # " + out
	}
	if s.Risky() {
		out += "; RISK: " + s.Risk
	}
	return out
}

// Values are what a rule knows of a culprit, by the names of placeholders.
type Values map[string][]string

// one is a value that is left out where it is empty.
func one(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

// advise returns the steps of a culprit's remedy on this node, in the order of the table.
func (v *view) advise(culprit string, values Values) []Step {
	var steps []Step
	for _, a := range knowledge.RemedyFor(culprit).Steps {
		if step, fits := v.step(a, values); fits {
			steps = append(steps, step)
		}
	}
	return steps
}

// step puts values into an advice. It fits if the values that it needs are there, it is for this
// runtime, and its command can be given on this node.
func (v *view) step(a knowledge.Advice, values Values) (s Step, fits bool) {
	missing := func(name string) bool { return len(v.value(name, values)) == 0 }
	given := func(name string) bool { return !missing(name) }
	if slices.ContainsFunc(a.Given, missing) || slices.ContainsFunc(a.Without, given) || a.Only != nil && !slices.Contains(a.Only, v.program()) {
		return s, false
	}
	s = Step{Kind: Act, Text: v.words(a.Text, values), When: v.words(a.When, values), Risk: v.words(a.Risk, values), Scope: a.Scope, Undo: v.words(a.Undo, values)}
	template := a.Act
	switch {
	case a.Do != "":
		s.Text = v.words(a.Do, values)
		return s, true
	case a.Look != "":
		s.Kind, template = Look, a.Look
	}
	var why lack
	s.Command, why = v.command(v.needed(a.Needs, values)+template, values)
	switch {
	case why == lacksNothing:
		if where := v.manager().Where; where != "" && managed.MatchString(template) {
			s.Text += ", " + where
		}
	case s.Kind == Look, why == lacksOperand, why == lacksClient:
		return s, false // nothing to look at or to act on, or nobody who answers
	case why == lacksText:
		s.Text += " (by hand: a name in it has bytes that nobody should type)"
	case why == lacksService:
		s.Text += " (" + v.whichService(template) + ")"
	}
	return s, true
}

// needed returns the preconditions of a command as its first part. One is left out where what it
// compares with is not known, as of a process of an old recording.
func (v *view) needed(names []string, values Values) (tests string) {
	for _, name := range names {
		need, known := knowledge.NeedNamed(name)
		if _, why := v.command(need.Test, values); known && why != lacksOperand {
			tests += need.Test + " && "
		}
	}
	return tests
}

// A lack is why a command cannot be given.
type lack string

const (
	lacksNothing lack = ""
	lacksOperand lack = "an operand is not known"
	lacksText    lack = "an operand has bytes that nobody should type"
	lacksClient  lack = "the runtime does not answer, or the node has no such client"
	lacksService lack = "the manager of services has no such command"
)

// managed finds a command of the manager of services.
var managed = regexp.MustCompile(`\{(runtime|kubelet)\.\w+\}`)

// whichService says why the manager of services has no command for what a template asks of it.
func (v *view) whichService(template string) string {
	units := v.units()
	if strings.Contains(template, "{kubelet.") {
		units = v.kubeletServices()
	}
	if len(units) > 1 {
		return "its service is one of " + join(units)
	}
	return "this node has no command for it"
}

// placeholder finds {name}, {runtime.restart} and {-flag name}.
var placeholder = regexp.MustCompile(`\{(?:(-[\w-]+=?) )?([a-z][\w.]*)\}`)

// command returns a command with its operands quoted; empty where something lacks.
func (v *view) command(template string, values Values) (out string, why lack) {
	out = placeholder.ReplaceAllStringFunc(template, func(found string) string {
		part := placeholder.FindStringSubmatch(found)
		if text, is, lacks := v.macro(part[2], values); is {
			why = cmp.Or(why, lacks)
			return text
		}
		operands := v.value(part[2], values)
		switch {
		case len(operands) == 0:
			why = cmp.Or(why, lacksOperand)
		case slices.ContainsFunc(operands, hidden):
			why = cmp.Or(why, lacksText)
		}
		var words []string
		for _, o := range operands {
			word := quote(o)
			if flag, glued := strings.CutSuffix(part[1], "="); part[1] != "" && glued {
				word = flag + "=" + word
			} else if part[1] != "" {
				word = part[1] + " " + word
			}
			words = append(words, word)
		}
		return strings.Join(words, " ")
	})
	if why != lacksNothing {
		return "", why
	}
	return out, lacksNothing
}

// words returns a text with its values.
func (v *view) words(template string, values Values) string {
	return placeholder.ReplaceAllStringFunc(template, func(found string) string {
		return join(v.value(placeholder.FindStringSubmatch(found)[2], values))
	})
}

// hidden reports whether an operand has bytes that a terminal acts on, or that are no text: it is
// put into no command, and begins no word that a program takes for a flag.
func hidden(operand string) bool {
	return strings.HasPrefix(operand, "-") || strings.IndexFunc(operand, unprintable) >= 0
}

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
		text, why = v.managed(verb, v.units(), values)
		return text, true, why
	case service && of == "kubelet":
		text, why = v.managed(verb, v.kubeletServices(), values)
		return text, true, why
	}
	return "", false, lacksNothing
}

// managed returns the manager's command for services. Where it is not known in which of some services
// something runs, none is started, and only those that run are restarted.
func (v *view) managed(verb string, units []string, values Values) (string, lack) {
	m := v.manager()
	template := map[string]string{"status": m.Status, "logs": m.Logs, "logsOf": m.LogsOf, "start": m.Start, "restart": m.Restart}[verb]
	switch {
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
	return v.command(template, Values{"unit": units, "text": text})
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

// pids returns the numbers of processes as values.
func pids(all ...evidence.Process) (values []string) {
	for _, p := range all {
		values = append(values, strconv.Itoa(p.PID))
	}
	return values
}

// short returns an id as short as crictl prints and takes it.
func short(id string) []string {
	if wholeID.MatchString(id) {
		return one(pleg.ShortID(id))
	}
	return one(id)
}

// spoken returns the step of a remedy that is in words alone and needs no value.
func spoken(culprit string) Step {
	a := knowledge.RemedyFor(culprit).Steps[0]
	return Step{Kind: Act, Text: a.Do, Risk: a.Risk, Scope: a.Scope}
}
