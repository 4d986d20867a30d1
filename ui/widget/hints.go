package widget

import (
	"strings"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/text"
)

// Hints draws as many of these keys as there is room for, each with what it does.
func Hints(l *text.Line, p Pen, keys []keymap.Entry) {
	gap := 0
	for _, e := range keys {
		key, _, _ := strings.Cut(e.Binding.Help().Key, " ")
		if gap+text.Width(key)+1+text.Width(e.Short) > l.Left() {
			return
		}
		l.Space(gap)
		l.Put(p.Key, key)
		l.Space(1)
		l.Put(p.Dim, e.Short)
		gap = 2
	}
}
