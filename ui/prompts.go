package ui

import (
	"cmp"
	"slices"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/widget"
)

// filterPrompt asks for a filter and applies it while it is being typed. As long as it
// is wrong, the one that held before is in force: what it happened to mean some letters
// ago is of no use. A wrong one cannot be accepted.
func (m *Model) filterPrompt() pane.Pane {
	before := m.view.Filter.Text
	p := layer.NewPrompt("filter", before)
	p.Changed = func(_ pane.Host, s string) error {
		err := m.SetFilter(s)
		if err != nil {
			_ = m.SetFilter(before) // parsed once already
		}
		return err
	}
	p.Accepted = p.Changed
	p.Canceled = func(pane.Host) { _ = m.SetFilter(before) }
	return p
}

// commands lists what can be done here by name, with its key. What is chosen is done as by that.
func (m *Model) commands() {
	var all []widget.Choice
	for _, e := range m.cfg.Keys.Here(m.scope(m.active())) {
		if e.Action != keymap.Commands {
			all = append(all, widget.Choice{Name: string(e.Action), Note: e.Binding.Help().Key + "  " + e.Binding.Help().Desc})
		}
	}
	slices.SortStableFunc(all, func(a, b widget.Choice) int { return cmp.Compare(a.Name, b.Name) })
	p := layer.NewPicker("Commands", all)
	p.Chosen = func(_ pane.Host, name string) { m.chose(keymap.Action(name)) }
	m.Open(p)
	p.Ask(m, "command")
}

// namespacePicker asks which namespaces are to be shown, of those that pods are in.
func (m *Model) namespacePicker() pane.Pane {
	pods := map[string]int{}
	for _, p := range m.view.Snapshot.Pods {
		pods[p.Namespace]++
	}
	var all []widget.Choice
	for name, n := range pods {
		on := len(m.view.Filter.Namespaces) > 0 && m.view.Filter.Namespace(name)
		all = append(all, widget.Choice{Name: name, Note: say.Plural(n, "pod"), On: on})
	}
	slices.SortFunc(all, func(a, b widget.Choice) int { return cmp.Compare(a.Name, b.Name) })
	p := layer.NewPicker("Namespaces", all)
	p.Accepted = func(_ pane.Host, names []string) { m.SetNamespaces(names) }
	return p
}
