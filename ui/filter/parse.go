package filter

import (
	"strings"
)

// Parse reads a filter. A text of spaces only is the zero Filter. Any error is
// an [*Error].
func Parse(text string) (Filter, error) {
	p := parser{text: text}
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
	text string
	pos  int
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
	} else if t.field = fieldOf(name); t.field == nil {
		return t, &Error{at, fieldNames() + `, or quotes around a text`, name}
	} else if !t.field.takes(op) {
		return t, &Error{at + len(name), `":" after ` + name, string(op)}
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
		return &Error{at, t.field.want, text}
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
	return "", &Error{Offset: len(p.text), Want: `a closing quote (")`}
}

// want returns an error at a byte of the text, with what stands there.
func (p *parser) want(what string, at int) error {
	found := p.text[at:]
	if i := strings.IndexAny(found, " \t"); i >= 0 {
		found = found[:i]
	}
	return &Error{Offset: at, Want: what, Found: found}
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
