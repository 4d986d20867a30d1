package diagnose

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/pleg"
)

// Values are what a rule knows about a match, by the names that the sentences of findings.yaml and the commands of
// remedies.yaml use. A value that is nil, empty or false is not known: then a sentence or a command that names it is
// left out.
//
// In a sentence {name} is a value. A part in brackets, [ by pid {tracer}], is left out if a value in it is not known.
// In such a part {?name} writes nothing: it only means that the value must be known. The type of a value says how it is
// written; see [written].
type Values map[string]any

// with returns a copy of the values with more added.
func (v Values) with(more Values) Values {
	all := make(Values, len(v)+len(more))
	maps.Copy(all, v)
	maps.Copy(all, more)
	return all
}

// These are types of values that are not written as Go writes them.
type (
	age         time.Duration // a duration that still grows, in whole seconds
	bytes       uint64
	percent     float64
	wholeNumber float64  // a number without its decimals
	many        struct { // a number with its noun
		n    int
		noun string
	}
	frequency int    // once, 3 times
	short     string // an id as crictl prints it
	extract   string // a text that somebody else wrote, without its middle
)

func (v age) String() string         { return going(time.Duration(v)) }
func (v bytes) String() string       { return size(uint64(v)) }
func (v percent) String() string     { return strconv.FormatFloat(float64(v), 'f', 1, 64) }
func (v wholeNumber) String() string { return strconv.FormatFloat(float64(v), 'f', 0, 64) }
func (v many) String() string        { return count(v.n, v.noun) }
func (v frequency) String() string   { return times(int(v)) }
func (v short) String() string       { return pleg.ShortID(string(v)) }
func (v extract) String() string     { return excerpt(string(v)) }

// written returns a value in the form that a sentence has it; empty if the value is not known. It panics for a type
// that it does not know.
func written(value any, now time.Time) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case []string:
		return join(v)
	case bool:
		if v {
			return "yes"
		}
		return ""
	case int:
		return thousands(v)
	case uint64:
		return thousands(v)
	case time.Duration:
		return span(v)
	case time.Time:
		if v.IsZero() {
			return ""
		}
		return clock(v, now)
	case pid:
		if v == 0 { // nobody has found the process
			return ""
		}
		return strconv.Itoa(int(v))
	case pleg.ObjectRef:
		return called(v)
	case evidence.Process:
		return fmt.Sprintf("%s (pid %d)", v.Command, v.PID)
	case fmt.Stringer:
		return v.String()
	case error:
		return words(v)
	}
	panic(fmt.Sprintf("no sentence can have a value of type %T", value))
}

// sentence fills values into a template. whole is false if a value outside of brackets is not known. It panics if a
// bracket or a brace is not closed.
func sentence(template string, values Values, now time.Time) (text string, whole bool) {
	var out strings.Builder
	whole = true
	for template != "" {
		i := strings.IndexAny(template, "[{")
		if i < 0 {
			out.WriteString(template)
			break
		}
		out.WriteString(template[:i])
		closing := "}"
		if template[i] == '[' {
			closing = "]"
		}
		inside, rest, closed := strings.Cut(template[i+1:], closing)
		if !closed {
			panic(fmt.Sprintf("findings.yaml: %q has no %s", template, closing))
		}
		if template = rest; closing == "}" {
			name, silent := strings.CutPrefix(inside, "?")
			value := written(values[name], now)
			whole = whole && value != ""
			if !silent {
				out.WriteString(value)
			}
		} else if part, known := sentence(inside, values, now); known {
			out.WriteString(part)
		}
	}
	return out.String(), whole
}

// A line is one line of evidence: a template of findings.yaml or lines.yaml, and its values.
type line struct {
	template string
	values   Values
}

// lineOf returns a line by its name in lines.yaml.
func lineOf(name string, values Values) line { return line{knowledge.Line(name), values} }

// verbatim returns a line with a text that plegtop did not write, such as an error of the runtime.
func verbatim(text string) line { return line{"{text}", Values{"text": text}} }
