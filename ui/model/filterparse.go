package model

import (
	"slices"
	"strings"
	"time"
)

// ParseFilter reads a filter. A text of spaces only is the zero Filter. Any error is a
// [*FilterError].
func ParseFilter(text string) (Filter, error) {
	var f Filter
	for p := (parser{text: text}); ; {
		if p.space(); p.done() {
			return f, nil
		}
		t, err := p.term()
		if err != nil {
			return Filter{}, err
		}
		f.terms = append(f.terms, t)
	}
}

// A parser is at a byte of a text.
type parser struct {
	text string
	pos  int
}

func (p *parser) done() bool   { return p.pos == len(p.text) }
func (p *parser) rest() string { return p.text[p.pos:] }

func (p *parser) space() {
	p.pos = len(p.text) - len(strings.TrimLeft(p.rest(), " \t"))
}

func (p *parser) term() (term, error) {
	var t term
	if p.rest()[0] == '!' {
		t.not = true
		t.written = "!"
		p.pos++
	}
	name, op := splitField(p.rest())
	if op == "" {
		value, err := p.value("a word or a field")
		t.written += quoted(value, true)
		t.match = word(value)
		return t, err
	}
	f := fieldOf(name)
	switch {
	case f == nil:
		return t, &FilterError{p.pos, fieldNames() + ", or quotes around a text", name}
	case (op == ":") != (f.compare == nil):
		return t, &FilterError{p.pos + len(name), f.takes() + " after " + f.name, op}
	}
	p.pos += len(name) + len(op)
	at := p.pos
	value, err := p.value(f.want)
	if err != nil {
		return t, err
	}
	var ok bool
	if t.match, ok = f.asks(op, value); !ok {
		return t, &FilterError{at, f.want, value}
	}
	t.written += f.name + op + quoted(value, false)
	t.timed = f.compare != nil
	return t, nil
}

// value reads up to a space or the end, or between quotes. A backslash between quotes stands
// for itself unless a quote or another one follows.
func (p *parser) value(want string) (string, error) {
	rest := p.rest()
	if !strings.HasPrefix(rest, `"`) {
		word, _, _ := strings.Cut(strings.ReplaceAll(rest, "\t", " "), " ")
		if word == "" {
			return "", p.want(want)
		}
		p.pos += len(word)
		return word, nil
	}
	var s strings.Builder
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '"' && s.Len() == 0:
			return "", p.want(want)
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

// want returns an error here, with what stands there.
func (p *parser) want(what string) error {
	found := p.rest()
	if i := strings.IndexAny(found, " \t"); i >= 0 {
		found = found[:i]
	}
	return &FilterError{Offset: p.pos, Want: what, Found: found}
}

// quoted returns a value as the parser reads it.
func quoted(s string, word bool) string {
	_, op := splitField(s)
	if strings.ContainsAny(s, " \t") || strings.HasPrefix(s, `"`) || word && (op != "" || strings.HasPrefix(s, "!")) {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
	}
	return s
}

// splitField returns the name that s begins with, and what stands behind it before the value:
// two empty texts if s begins with a word.
func splitField(s string) (name, op string) {
	n := strings.IndexFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
	if n <= 0 || !strings.ContainsRune(":<>", rune(s[n])) {
		return "", ""
	}
	return s[:n], s[n : n+1]
}

func fieldOf(name string) *field {
	i := slices.IndexFunc(fields, func(f *field) bool { return strings.EqualFold(f.name, name) })
	if i < 0 {
		return nil
	}
	return fields[i]
}

// fieldNames lists what may stand before a colon.
func fieldNames() string {
	all := make([]string, len(fields))
	for i, f := range fields {
		all[i] = f.name
	}
	return "one of " + strings.Join(all, ", ")
}

// asks returns what the field asks for with a value; false if that is none.
func (f *field) asks(op, value string) (match, bool) {
	if f.compare == nil {
		return f.compile(value)
	}
	limit, ok := duration(strings.ToLower(value))
	return f.compare(func(d time.Duration) bool { return op == "<" && d < limit || op == ">" && d > limit }), ok
}
