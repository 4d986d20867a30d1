package widget

import (
	"strings"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/text"
)

// Hints draws as many of these keys as there is room for, each with what it does. Keys
// that do the same one way and the other share the word for it. If all are to be named,
// words are left out for which there is no room then.
func Hints(l *text.Line, p Pen, keys []keymap.Entry, all bool) {
	room, need := l.Left(), 0
	for i := range keys {
		if gap, key := spelled(keys, i); all {
			need += gap + text.Width(key)
		}
	}
	for i, e := range keys {
		gap, key := spelled(keys, i)
		if !all {
			need += gap + text.Width(key)
			if i+1 < len(keys) && keys[i+1].Short == e.Short && need+2+1+text.Width(e.Short) > room {
				return // a key without its word says nothing
			}
		}
		last := i+1 == len(keys) || keys[i+1].Short != e.Short
		if last {
			need += 1 + text.Width(e.Short)
		}
		if need > room && !all || gap+text.Width(key) > l.Left() {
			return
		}
		l.Space(gap)
		l.Put(p.Key, key)
		if last && need <= room {
			l.Space(1)
			l.Put(p.Dim, e.Short)
		}
	}
}

// spelled returns a key, and how many cells are between it and the one before.
func spelled(keys []keymap.Entry, i int) (gap int, key string) {
	key, _, _ = strings.Cut(keys[i].Binding.Help().Key, " ")
	switch {
	case i == 0:
		return 0, key
	case keys[i-1].Short == keys[i].Short:
		return 1, key
	}
	return 2, key
}
