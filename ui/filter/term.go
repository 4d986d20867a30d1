package filter

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A comparison stands between a field and its value.
type comparison string

const (
	is           comparison = ":"
	equal        comparison = "="
	different    comparison = "!="
	less         comparison = "<"
	lessEqual    comparison = "<="
	greater      comparison = ">"
	greaterEqual comparison = ">="
)

// comparisons in the order in which they are looked for: long ones first.
var comparisons = []comparison{lessEqual, greaterEqual, different, less, greater, equal, is}

// A term is one condition. Which of the values is set depends on the field.
type term struct {
	not   bool
	field *field
	op    comparison // empty for a word
	text  string     // the value as it was given

	lower    string // text, for comparing without case
	pattern  *regexp.Regexp
	duration time.Duration
	number   int64
	state    pleg.State
	kind     pleg.Kind
	delivery pleg.Delivery

	problem bool // the pod that is asked about has one
}

// String returns the term as Parse reads it.
func (t term) String() string {
	s := t.text
	if needsQuotes(s, t.op == "") {
		s = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
	}
	if t.op != "" {
		s = t.field.names[0] + string(t.op) + s
	}
	if t.not {
		s = "!" + s
	}
	return s
}

// needsQuotes reports whether Parse would take s apart.
func needsQuotes(s string, word bool) bool {
	if strings.ContainsAny(s, " \t|") || strings.HasPrefix(s, `"`) {
		return true
	}
	if !word {
		return false
	}
	_, op := splitField(s)
	return op != "" || strings.HasPrefix(s, "!")
}

// compared reports whether got stands to want as the term's comparison says.
func compared[T cmp.Ordered](got T, op comparison, want T) bool {
	switch op {
	case different:
		return got != want
	case less:
		return got < want
	case lessEqual:
		return got <= want
	case greater:
		return got > want
	case greaterEqual:
		return got >= want
	default:
		return got == want
	}
}

// matches reports whether one of texts is what a text field asks for.
// Different turns round the whole answer: none of them is.
func (t term) matches(match func(text, want string) bool, texts ...string) bool {
	for _, s := range texts {
		if match(s, t.lower) {
			return t.op != different
		}
	}
	return t.op == different
}

// contains reports whether want, in lower case, is a part of text.
func contains(text, want string) bool { return strings.Contains(strings.ToLower(text), want) }

// hasPrefix reports whether text begins with want, which is in lower case.
func hasPrefix(text, want string) bool { return strings.HasPrefix(strings.ToLower(text), want) }

// wild reports whether text is want, in which a star stands for anything.
func wild(text, want string) bool {
	text = strings.ToLower(text)
	head, rest, star := strings.Cut(want, "*")
	if !star {
		return text == want
	}
	text, ok := strings.CutPrefix(text, head)
	for ok && star {
		want = rest
		head, rest, star = strings.Cut(want, "*")
		if !star {
			return strings.HasSuffix(text, head)
		}
		_, text, ok = strings.Cut(text, head)
	}
	return false
}

// duration reads what time.ParseDuration reads, and whole days: "2d".
func duration(s string) (time.Duration, bool) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(n) * 24 * time.Hour, err == nil
	}
	d, err := time.ParseDuration(s)
	return d, err == nil
}
