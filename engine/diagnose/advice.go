package diagnose

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/pleg"
)

// advise returns the steps of a culprit's row in remedies.yaml that fit this node, in the order of the row.
func (f *Facts) advise(culprit string, values Values) (steps []Step) {
	a := adviser{f, values}
	for _, row := range knowledge.RemedyFor(culprit).Steps {
		if step, fits := a.step(row); fits {
			steps = append(steps, step)
		}
	}
	return steps
}

// inWords returns the first step of a culprit's remedy. That step has words only, no command, and needs no value.
func inWords(culprit string) Step {
	row := knowledge.RemedyFor(culprit).Steps[0]
	return Step{Kind: Act, Text: row.Do, Risk: row.Risk, Scope: row.Scope}
}

// An adviser fills the values of a match and of the node into the rows of remedies.yaml.
type adviser struct {
	*Facts
	values Values
}

// step fills values into a row. The step fits if all of these are true: its values are known, it is for this runtime,
// and its command can be given on this node.
func (a adviser) step(row knowledge.Advice) (s Step, fits bool) {
	missing := func(name string) bool { return len(a.operands(name)) == 0 }
	given := func(name string) bool { return !missing(name) }
	if slices.ContainsFunc(row.Given, missing) || slices.ContainsFunc(row.Without, given) || row.Only != nil && !slices.Contains(row.Only, a.program()) {
		return s, false
	}
	if row.Log != nil {
		a.values = a.values.with(Values{"inLog": row.Log})
	}
	s = Step{Kind: Act, Text: a.text(row.Text), When: a.text(row.When), Risk: a.text(row.Risk), Scope: row.Scope, Undo: a.undo(row.Undo), dumps: row.Dumps}
	template := row.Act
	switch {
	case row.Do != "":
		s.Text = a.text(row.Do)
		return s, true
	case row.Look != "":
		s.Kind, template = Look, row.Look
	}
	var why lack
	s.Command, why = a.command(a.tests(row.Needs) + template)
	s.asks = s.Command != "" && row.AsksRuntime()
	switch {
	case why == lacksNothing:
		if where := a.manager().Where; where != "" && ofService.MatchString(template) {
			s.Text += ", " + where
		}
	case s.Kind == Look, why == lacksOperand, why == lacksClient:
		return s, false // there is nothing to look at or to act on, or the runtime does not answer
	case why == lacksText:
		s.Text += " (by hand: a name in it has bytes that nobody should type)"
	case why == lacksService:
		s.Text += " (" + a.noService(template) + ")"
	}
	return s, true
}

// tests returns the preconditions of a command, as the first part of that command. A precondition is left out if the
// value that it compares with is not known, for example in an old recording.
func (a adviser) tests(names []string) (tests string) {
	for _, name := range names {
		need, known := knowledge.NeedNamed(name)
		if _, why := a.command(need.Test); known && why != lacksOperand {
			tests += need.Test + " && "
		}
	}
	return tests
}

// A lack is the reason why a command cannot be given.
type lack uint8

const (
	lacksNothing lack = iota
	lacksOperand      // an operand is not known
	lacksText         // an operand has bytes that nobody should type
	lacksClient       // the runtime does not answer, or the node has no such client
	lacksService      // the init system has no such command
)

// ofService matches a command of the init system.
var ofService = regexp.MustCompile(`\{(runtime|kubelet)\.\w+\}`)

// noService returns the reason why the init system has no command for a template.
func (a adviser) noService(template string) string {
	units := a.units()
	if strings.Contains(template, "{kubelet.") {
		units = a.kubeletUnits()
	}
	if len(units) > 1 {
		return "its service is one of " + join(units)
	}
	return cmp.Or(a.manager().Instead, "this node has no command for it")
}

// placeholder matches {name}, {runtime.restart} and {-flag name}.
var placeholder = regexp.MustCompile(`\{(?:(-[\w-]+=?) )?([a-z][\w.]*)\}`)

// command returns a command with its operands quoted. It returns an empty string and the reason if something is
// missing.
func (a adviser) command(template string) (out string, why lack) {
	out = placeholder.ReplaceAllStringFunc(template, func(found string) string {
		part := placeholder.FindStringSubmatch(found)
		if text, is, lacks := a.macro(part[2]); is {
			why = cmp.Or(why, lacks)
			return text
		}
		operands := a.operands(part[2])
		switch {
		case len(operands) == 0:
			why = cmp.Or(why, lacksOperand)
		case slices.ContainsFunc(operands, untypable):
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

// text fills values into the words of a step.
func (a adviser) text(template string) string {
	return placeholder.ReplaceAllStringFunc(template, func(found string) string {
		return join(a.operands(placeholder.FindStringSubmatch(found)[2]))
	})
}

// undo returns how to take a step back. It is empty if one of the old values is not known.
func (a adviser) undo(template string) string {
	for _, found := range placeholder.FindAllStringSubmatch(template, -1) {
		if len(a.operands(found[2])) == 0 {
			return ""
		}
	}
	return a.text(template)
}

// operands returns the values of a name as words of a command: the values of the match, or else those of the node.
func (a adviser) operands(name string) []string {
	if given, is := a.values[name]; is {
		return operandsOf(given)
	}
	likely, sure := a.flavour()
	switch name {
	case "endpoint":
		return operandsOf(a.Endpoint)
	case "socket":
		return operandsOf(socketPath(a.Endpoint))
	case "program":
		return operandsOf(a.program())
	case "config":
		if sure {
			return operandsOf(likely.Config)
		}
	case "cni":
		return likely.CNI
	case "restarts":
		return operandsOf(likely.Restarts)
	case "kubeletRestarts":
		if likely.KubeletUnits == nil {
			return operandsOf(likely.Restarts)
		}
		return operandsOf(likely.KubeletRestarts)
	case "mountinfo":
		return inMountinfo(a.operands("target"))
	}
	return nil
}

// wholeID matches an id of the form that all runtimes make.
var wholeID = regexp.MustCompile("^[0-9a-f]{64}$")

// operandsOf returns a value as words of a command; nil if the value is not known.
func operandsOf(value any) []string {
	switch v := value.(type) {
	case []string:
		return v
	case string:
		if v != "" {
			return []string{v}
		}
	case bool:
		if v {
			return []string{"yes"}
		}
	case short:
		if wholeID.MatchString(string(v)) {
			return []string{pleg.ShortID(string(v))}
		}
		return operandsOf(string(v))
	case int:
		return []string{strconv.Itoa(v)}
	case uint64:
		return []string{strconv.FormatUint(v, 10)}
	}
	return nil
}

// inMountinfo returns paths in the form in which /proc/PID/mountinfo writes them. (proc_pid_mountinfo(5))
func inMountinfo(paths []string) (all []string) {
	for _, path := range paths {
		all = append(all, strings.NewReplacer(`\`, `\134`, " ", `\040`, "\t", `\011`, "\n", `\012`, "#", `\043`).Replace(path))
	}
	return all
}

// macro returns the command, or the part of a command, that a name stands for. is reports whether the name is a macro;
// why says what this node lacks for it.
func (a adviser) macro(name string) (text string, is bool, why lack) {
	of, verb, service := strings.Cut(name, ".")
	switch {
	case name == "crictl":
		if a.Scope.Whole() {
			why = lacksClient
		}
		if a.elsewhere() {
			return "crictl -r " + quote(a.Endpoint), true, why
		}
		return "crictl", true, why
	case name == "ctr":
		if a.program() != knowledge.Containerd.Program {
			why = lacksClient
		}
		if a.elsewhere() {
			return "ctr -a " + quote(socketPath(a.Endpoint)) + " -n k8s.io", true, why
		}
		return "ctr -n k8s.io", true, why
	case service && of == "runtime":
		text, why = a.service(of, verb, a.units())
		return text, true, why
	case service && of == "kubelet":
		text, why = a.service(of, verb, a.kubeletUnits())
		return text, true, why
	}
	return "", false, lacksNothing
}

// service returns the init system's command for a verb. If several services may be the right one, it gives no command
// to start one, and the command to restart only restarts those that run.
func (a adviser) service(of, verb string, units []string) (string, lack) {
	m, file := a.manager(), ""
	if likely, sure := a.flavour(); sure && (verb == "logs" || verb == "logsOf") {
		if file = likely.Log; of == "kubelet" {
			file = likely.KubeletLog
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
	case verb == "start", m.RestartRunning == "" && strings.Contains(template, "{unit}"): // these commands take one service
		template = ""
	}
	if template == "" || len(units) == 0 {
		return "", lacksService
	}
	if m.Name == "snap" { // snap has its own names for services
		units = slices.Clone(units)
		for i, unit := range units {
			units[i] = strings.TrimPrefix(unit, "snap.")
		}
	}
	text := a.operands("inLog")
	if len(text) == 0 {
		text = a.operands("id")
	}
	a.values = Values{"unit": units, "text": text, "file": file}
	return a.command(template)
}
