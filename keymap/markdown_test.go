package keymap

import (
	"fmt"
	"strings"
)

// Markdown returns the key table of docs/keys.md: keys, what they do, and the name
// of the action in the config file.
func (m Map) Markdown() string {
	var s strings.Builder
	for i, group := range m.Groups() {
		if i > 0 {
			s.WriteByte('\n')
		}
		fmt.Fprintf(&s, "| %v | | in the config file |\n|---|---|---|\n", group[0].Group)
		for _, e := range group {
			if n := e.Action.Pane(); n == 1 {
				fmt.Fprintf(&s, "| `1` to `%d` | go to the pane of that number | `%s` to `%s` |\n", mostPanes, Pane(1), Pane(mostPanes))
			}
			if e.Action.Pane() > 0 {
				continue
			}
			fmt.Fprintf(&s, "| %s | %s%s | `%v` |\n", codes(e.Binding.Keys()), e.Binding.Help().Desc, e.Where(), e.Action)
		}
	}
	return s.String()
}

func codes(keys []string) string {
	all := make([]string, len(keys))
	for i, k := range keys {
		all[i] = "`" + strings.ReplaceAll(Label(k), "|", `\|`) + "`"
	}
	return strings.Join(all, " ")
}
