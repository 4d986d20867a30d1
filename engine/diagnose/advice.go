package diagnose

import (
	"cmp"
	"maps"
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
	if a.Log != nil {
		with := Values{}
		maps.Copy(with, values)
		with["inLog"] = a.Log
		values = with
	}
	s = Step{Kind: Act, Text: v.words(a.Text, values), When: v.words(a.When, values), Risk: v.words(a.Risk, values), Scope: a.Scope, Undo: v.undo(a.Undo, values)}
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
	return cmp.Or(v.manager().Instead, "this node has no command for it")
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

// undo returns how a step is taken back; empty where what was before is not known.
func (v *view) undo(template string, values Values) string {
	for _, found := range placeholder.FindAllStringSubmatch(template, -1) {
		if len(v.value(found[2], values)) == 0 {
			return ""
		}
	}
	return v.words(template, values)
}

// hidden reports whether an operand has bytes that a terminal acts on, or that are no text: it is
// put into no command, and begins no word that a program takes for a flag.
func hidden(operand string) bool {
	return strings.HasPrefix(operand, "-") || strings.IndexFunc(operand, unprintable) >= 0
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
