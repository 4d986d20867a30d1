package diagnose

// StepKind says whether a step looks or acts.
type StepKind string

// The kinds of a [Step], as in the JSON contract.
const (
	Look StepKind = "look"
	Act  StepKind = "act"
)

// A Step is something to do next: a row of remedies.yaml with the values of a match.
type Step struct {
	Kind    StepKind `line:"kind,omitempty"`
	Command string   `line:"command"`         // for a shell, with its operands quoted; empty if no command does it
	Text    string   `line:"text"`            // what the command shows or does, or what to do without one
	When    string   `line:"when,omitempty"`  // completes "if ..."; empty for always
	Risk    string   `line:"risk,omitempty"`  // what may go wrong; for an act never empty: "none" if nothing may
	Scope   string   `line:"scope,omitempty"` // what an act touches: "pod", "mount", "runtime" or "node"
	Undo    string   `line:"undo,omitempty"`  // how to take it back; empty if that is not possible, or not needed

	dumps bool // see [Step.Dumps]
	asks  bool // it makes a call to the runtime, which hangs or fails as our calls do
}

// Looks reports whether a step is a command that only looks.
func (s Step) Looks() bool { return s.Kind != Act && s.Command != "" }

// Risky reports whether a step changes something and may do harm.
func (s Step) Risky() bool { return s.Kind == Act && s.Risk != "none" }

// Dumps reports whether a step makes the runtime write what each of its calls waits for. plegtop then reads that. The
// step acts on the runtime, but ends nothing.
func (s Step) Dumps() bool { return s.dumps }

// acts reports whether a step ends the trouble, or tries to.
func (s Step) acts() bool { return s.Kind == Act && !s.Dumps() }

// Same reports whether two steps do the same, even if their texts differ.
func (s Step) Same(other Step) bool {
	return s.Command == other.Command && (s.Command != "" || s.Text == other.Text)
}

// Says returns when to take the step, and what it does.
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

// after returns the step with so as a further condition of when to take it.
func (s Step) after(so string) Step {
	if s.When != "" {
		so += ", and " + s.When
	}
	s.When = so
	return s
}

// notEnough is the condition of an act that comes after another act.
const notEnough = "that is not enough"
