package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/plegtop/plegtop/ui/filter"
	"github.com/plegtop/plegtop/ui/theme"
)

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
