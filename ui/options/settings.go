package options

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"go.yaml.in/yaml/v3"

	"github.com/plegtop/plegtop/engine/smallfile"
	"github.com/plegtop/plegtop/keymap"
)

// defaultPath returns where the file is looked for that nobody named. It is empty where
// the user has no configuration folder.
func defaultPath() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "plegtop", "config.yaml")
}

// load reads the settings file. One that nobody named and that cannot be read is left
// out, with a note.
func (l line) load() error {
	path := cmp.Or(l.config, defaultPath())
	if path == "" {
		return nil
	}
	data, err := smallfile.Read(path)
	switch {
	case err == nil:
		return l.settings(path, data)
	case l.config != "":
		return fmt.Errorf("read settings: %w", err)
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
		l.Note = fmt.Sprintf("settings are left out: %v", err)
	}
	return nil
}

// settings sets what the text of a file says. Any error says where it stands: it is about
// the first line that is wrong.
func (l line) settings(file string, data []byte) error {
	l.file = file
	var doc, more yaml.Node
	in := yaml.NewDecoder(bytes.NewReader(data))
	if err := in.Decode(&doc); err != nil && !errors.Is(err, io.EOF) { // "yaml: line 3: could not find ..."
		said := strings.TrimPrefix(err.Error(), "yaml: ")
		if at, ok := strings.CutPrefix(said, "line "); ok {
			return errors.New(file + ":" + at)
		}
		return errors.New(file + ": " + said)
	}
	if len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" {
		return nil
	}
	if err := in.Decode(&more); !errors.Is(err, io.EOF) {
		return l.fail(&more, "", errors.New("want one document, without --- between settings"))
	}
	return l.mapping(doc.Content[0], "", l.setting)
}

// setting sets what one line of a file says. What the command line says otherwise holds,
// but the line is checked all the same.
func (l line) setting(name string, at, value *yaml.Node) error {
	nested := map[string]func(*yaml.Node) error{"keys": l.rebind}
	if read, ok := nested[name]; ok {
		return read(value)
	}
	f, ok := l.flags[name]
	switch {
	case f.typed:
		return l.fail(at, at.Value, errors.New("is for the command line alone"))
	case !ok:
		known := slices.AppendSeq(l.names(func(f flag) bool { return !f.typed }), maps.Keys(nested))
		slices.Sort(known)
		return l.fail(at, at.Value, errors.New("no such setting"+cmp.Or(keymap.Meant(keymap.Nearest(at.Value, known)), "; there are "+strings.Join(known, ", "))))
	}
	if l.given.Changed(name) {
		f = newLine(&Options{}).flags[name]
	}
	all, err := texts(value, f.many || f.list)
	if f.list && err == nil {
		all = []string{strings.Join(all, ",")}
	}
	for _, s := range all {
		err = cmp.Or(err, f.set(s))
	}
	return l.fail(value, at.Value, err)
}

// rebind binds actions to other keys, all at once so that two can change places.
func (l line) rebind(n *yaml.Node) error {
	all, at := map[string][]string{}, map[string]*yaml.Node{}
	err := l.mapping(n, "keys", func(action string, node, value *yaml.Node) (err error) {
		at[action] = node
		all[action], err = texts(value, true)
		return l.fail(value, "keys."+action, err)
	})
	if err != nil {
		return err
	}
	bound, err := l.Keys.Rebind(all)
	if e, ok := errors.AsType[*keymap.RebindError](err); ok {
		return l.fail(at[e.Name], "keys."+e.Name, e.Err)
	}
	l.Keys = bound
	return nil
}

// fail says that a line is wrong, and which setting in it; nil if err is.
func (l line) fail(n *yaml.Node, key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s:%d: %s%w", l.file, n.Line, strings.TrimLeft(key+": ", ": "), err)
}

// mapping calls do for every line of n, in order, for a setting with the name that it has now. n must
// be a mapping without aliases or a name given twice.
func (l line) mapping(n *yaml.Node, within string, do func(name string, at, value *yaml.Node) error) error {
	if n.Kind != yaml.MappingNode {
		return l.fail(n, within, errors.New("want lines of the form key: value"))
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		at, value := n.Content[i], n.Content[i+1]
		if line, twice := seen[at.Value]; twice {
			return l.fail(at, at.Value, fmt.Errorf("is set on line %d already", line))
		}
		seen[at.Value] = at.Line
		if err := do(at.Value, at, value); err != nil {
			return err
		}
	}
	return nil
}

// texts reads one value, or a list where many may stand. Plain numbers are taken as they
// are written: 1 is the key 1.
func texts(n *yaml.Node, many bool) ([]string, error) {
	if n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
		return []string{n.Value}, nil
	}
	if !many {
		return nil, errors.New("want one value")
	}
	if n.Kind != yaml.SequenceNode {
		return nil, errors.New("want a list, such as [a, b]")
	}
	all := []string{}
	for _, c := range n.Content {
		if c.Kind != yaml.ScalarNode || c.Tag == "!!null" {
			return nil, errors.New("want a list of plain values, such as [a, b]; quote what has another meaning in YAML")
		}
		all = append(all, c.Value)
	}
	return all, nil
}
