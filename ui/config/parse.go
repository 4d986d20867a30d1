package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/filter"
	"github.com/plegtop/plegtop/ui/theme"
)

// An Error says where a file is wrong.
type Error struct {
	File string
	Line int    // from 1; 0 where the file as a whole is wrong
	Key  string // such as "theme" or "keys.freeze"; empty if no key is to blame
	Err  error
}

// Error returns file:line: key: what is wrong.
func (e *Error) Error() string {
	s := e.File
	if e.Line > 0 {
		s = fmt.Sprintf("%s:%d", s, e.Line)
	}
	if e.Key != "" {
		s += ": " + e.Key
	}
	return fmt.Sprintf("%s: %v", s, e.Err)
}

// Unwrap returns what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// Parse reads the text of a file called name. An empty text gives the settings
// that hold without a file. Any error is an [*Error], about the first line that
// is wrong.
func Parse(name string, data []byte) (Settings, error) {
	s := Settings{Keys: keymap.Default()}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return s, syntaxError(name, err)
	}
	if len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" {
		return s, nil
	}
	r := reader{file: name, settings: &s}
	return s, r.top(doc.Content[0])
}

// syntaxError takes the line out of the parser's text, which is
// "yaml: line 3: could not find ...".
func syntaxError(file string, err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	e := &Error{File: file, Err: errors.New(text)}
	var rest string
	if n, _ := fmt.Sscanf(text, "line %d: %s", &e.Line, &rest); n == 2 {
		_, text, _ = strings.Cut(text, ": ")
		e.Err = errors.New(text)
	}
	return e
}

// A reader fills settings from the nodes of one file.
type reader struct {
	file     string
	settings *Settings
}

func (r reader) fail(n *yaml.Node, key, format string, args ...any) error {
	return &Error{r.file, n.Line, key, fmt.Errorf(format, args...)}
}

// top reads the keys of the file, in order.
func (r reader) top(n *yaml.Node) error {
	return r.mapping(n, "", func(key string, at, value *yaml.Node) error {
		set, ok := setters[key]
		if !ok {
			return r.fail(at, key, "no such setting; there are %s", strings.Join(names(), ", "))
		}
		if key == "keys" {
			return r.keys(value)
		}
		if err := set(r.settings, value); err != nil {
			return &Error{r.file, value.Line, key, err}
		}
		return nil
	})
}

// mapping calls each for every key of n, which must be a mapping without
// aliases or a key given twice.
func (r reader) mapping(n *yaml.Node, within string, each func(key string, at, value *yaml.Node) error) error {
	if n.Kind != yaml.MappingNode {
		return r.fail(n, within, "want lines of the form key: value")
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		at, value := n.Content[i], n.Content[i+1]
		if line, twice := seen[at.Value]; twice {
			return r.fail(at, at.Value, "is set on line %d already", line)
		}
		seen[at.Value] = at.Line
		if err := each(at.Value, at, value); err != nil {
			return err
		}
	}
	return nil
}

// keys rebinds actions, all at once so that two of them can change places.
func (r reader) keys(n *yaml.Node) error {
	all, at := map[string][]string{}, map[string]*yaml.Node{}
	err := r.mapping(n, "keys", func(action string, node, value *yaml.Node) error {
		keys, err := texts(value)
		if err != nil {
			return &Error{r.file, value.Line, "keys." + action, err}
		}
		all[action], at[action] = keys, node
		return nil
	})
	if err != nil {
		return err
	}
	bound, err := r.settings.Keys.Rebind(all)
	if e, ok := errors.AsType[*keymap.RebindError](err); ok {
		return &Error{r.file, at[e.Name].Line, "keys." + e.Name, e.Err}
	}
	r.settings.Keys = bound
	return nil
}

func names() []string {
	var all []string
	for name := range setters {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// setters holds every setting by its key. Keys are bound by the reader itself.
var setters = map[string]func(*Settings, *yaml.Node) error{
	"keys":       nil,
	"theme":      func(s *Settings, n *yaml.Node) error { return oneOf(&s.Theme, n, theme.Names()) },
	"ascii":      func(s *Settings, n *yaml.Node) error { return truth(&s.ASCII, n) },
	"sort":       func(s *Settings, n *yaml.Node) error { return oneOf(&s.Sort, n, Columns) },
	"descending": func(s *Settings, n *yaml.Node) error { return truth(&s.Descending, n) },
	"timeFormat": func(s *Settings, n *yaml.Node) error { return oneOf(&s.TimeFormat, n, TimeFormats) },
	"filter":     func(s *Settings, n *yaml.Node) error { return filterText(&s.Filter, n) },
	"namespaces": func(s *Settings, n *yaml.Node) (err error) { s.Namespaces, err = texts(n); return err },
	"problems":   func(s *Settings, n *yaml.Node) error { return truth(&s.Problems, n) },
	"period":     func(s *Settings, n *yaml.Node) error { return period(&s.Period, n) },
}

func scalar(n *yaml.Node) (string, error) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return "", errors.New("want one value")
	}
	return n.Value, nil
}

// texts reads a list, or one value in place of a list of one. Plain numbers are
// taken as they are written: 1 is the key 1.
func texts(n *yaml.Node) ([]string, error) {
	if n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
		return []string{n.Value}, nil
	}
	if n.Kind != yaml.SequenceNode {
		return nil, errors.New("want a list, such as [a, b]")
	}
	all := []string{}
	for _, c := range n.Content {
		s, err := scalar(c)
		if err != nil {
			return nil, errors.New("want a list of plain values, such as [a, b]; quote what has another meaning in YAML")
		}
		all = append(all, s)
	}
	return all, nil
}

func oneOf(to *string, n *yaml.Node, known []string) error {
	s, err := scalar(n)
	if err != nil || !slices.Contains(known, s) {
		return fmt.Errorf("want one of %s, not %q", strings.Join(known, ", "), s)
	}
	*to = s
	return nil
}

func truth(to *bool, n *yaml.Node) error {
	if n.Tag != "!!bool" || n.Decode(to) != nil {
		return fmt.Errorf("want true or false, not %q", n.Value)
	}
	return nil
}

func filterText(to *string, n *yaml.Node) error {
	s, err := scalar(n)
	if err != nil {
		return err
	}
	if _, err := filter.Parse(s); err != nil {
		return err
	}
	*to = s
	return nil
}

func period(to *time.Duration, n *yaml.Node) error {
	d, err := time.ParseDuration(n.Value)
	if err != nil || d <= 0 {
		return fmt.Errorf("want a duration over zero, such as 1s or 500ms, not %q", n.Value)
	}
	*to = d
	return nil
}
