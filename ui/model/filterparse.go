package model

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
)

// ParseFilter reads a filter, which may name these columns. A text of spaces only is the zero
// Filter. Any error is a [*FilterError].
func ParseFilter(text string, columns ...FilterColumn) (Filter, error) {
	p := parser{text: text, columns: columns}
	if p.space(); p.done() {
		return Filter{}, nil
	}
	var f Filter
	for {
		all, err := p.all()
		if err != nil {
			return Filter{}, err
		}
		f.any = append(f.any, all)
		if p.done() {
			return f, nil
		}
		p.pos++ // the bar that ended all
	}
}

// A parser is at a byte of a text.
type parser struct {
	text    string
	pos     int
	columns []FilterColumn
}

func (p *parser) done() bool   { return p.pos == len(p.text) }
func (p *parser) rest() string { return p.text[p.pos:] }

func (p *parser) space() {
	p.pos = len(p.text) - len(strings.TrimLeft(p.rest(), " \t"))
}

// all reads the terms up to a bar or the end: at least one.
func (p *parser) all() ([]term, error) {
	var all []term
	for {
		p.space()
		if p.done() || p.rest()[0] == '|' {
			break
		}
		t, err := p.term()
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	if len(all) == 0 {
		return nil, p.want("a word or a field", p.pos)
	}
	return all, nil
}

func (p *parser) term() (term, error) {
	var t term
	if p.rest()[0] == '!' {
		t.not = true
		p.pos++
	}
	at := p.pos
	name, op := splitField(p.rest())
	if op == "" {
		t.field = word
	} else if t.field = cmp.Or(fieldOf(name), columnOf(p.columns, name)); t.field == nil {
		return t, &FilterError{at, fieldNames() + `, or quotes around a text`, name}
	} else if !t.field.takes(op) {
		return t, &FilterError{at + len(name), `":" after ` + name, string(op)}
	}
	t.op = op
	p.pos += len(name) + len(op)
	return t, p.value(&t)
}

// value reads what the term's field is compared with.
func (p *parser) value(t *term) error {
	at := p.pos
	text, err := p.quoted()
	if err != nil {
		return err
	}
	if text == "" {
		return p.want(t.field.want, at)
	}
	t.text, t.lower = text, strings.ToLower(text)
	if !t.field.set(t) {
		return &FilterError{at, t.field.want, text}
	}
	return nil
}

// quoted reads up to a space, a bar or the end, or between quotes. A backslash
// between quotes stands for itself unless a quote or another one follows.
func (p *parser) quoted() (string, error) {
	rest := p.rest()
	if !strings.HasPrefix(rest, `"`) {
		end := strings.IndexAny(rest, " \t|")
		if end < 0 {
			end = len(rest)
		}
		p.pos += end
		return rest[:end], nil
	}
	var s strings.Builder
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '"':
			p.pos += i + 1
			return s.String(), nil
		case c == '\\' && i+1 < len(rest) && strings.IndexByte(`"\`, rest[i+1]) >= 0:
			i++
			s.WriteByte(rest[i])
		default:
			s.WriteByte(c)
		}
	}
	return "", &FilterError{Offset: len(p.text), Want: `a closing quote (")`}
}

// want returns an error at a byte of the text, with what stands there.
func (p *parser) want(what string, at int) error {
	found := p.text[at:]
	if i := strings.IndexAny(found, " \t"); i >= 0 {
		found = found[:i]
	}
	return &FilterError{Offset: at, Want: what, Found: found}
}

// splitField returns the name and the comparison that s begins with, or two
// empty texts if it begins with a word.
func splitField(s string) (string, comparison) {
	n := strings.IndexFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
	if n <= 0 {
		return "", ""
	}
	for _, op := range comparisons {
		if strings.HasPrefix(s[n:], string(op)) {
			return s[:n], op
		}
	}
	return "", ""
}

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
	kind     pleg.Kind
	delivery pleg.Delivery
	source   ledger.Source

	isNumber, isDuration bool // of a column: which of them the value is
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

// duration reads what time.ParseDuration reads, and days before that: "2d", or "2d1h" as the screen
// writes it.
func duration(s string) (time.Duration, bool) {
	days, rest, ok := strings.Cut(s, "d")
	if !ok {
		days, rest = "0", s
	}
	n, err := strconv.ParseUint(days, 10, 16)
	if err != nil || ok && rest == "" {
		return time.Duration(n) * 24 * time.Hour, err == nil
	}
	d, err := time.ParseDuration(rest)
	return time.Duration(n)*24*time.Hour + d, err == nil
}
