package keymap

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// labels gives the keys that are not shown as they are spelled.
var labels = map[string]string{
	"up": "↑", "down": "↓", "left": "←", "right": "→", "pgup": "PgUp", "pgdown": "PgDn",
	"home": "Home", "end": "End", "insert": "Ins", "delete": "Del",
}

// Label returns a key as a person reads it: "^r" for "ctrl+r".
func Label(k string) string {
	if s, ok := labels[k]; ok {
		return s
	}
	if rest, ok := strings.CutPrefix(k, "ctrl+"); ok {
		return "^" + Label(rest)
	}
	return k
}

// labelAll returns all of keys as a person reads them, with a space between them.
func labelAll(keys []string) string {
	all := make([]string, len(keys))
	for i, k := range keys {
		all[i] = Label(k)
	}
	return strings.Join(all, " ")
}

// named holds the keys that have a name in place of a character.
var named = map[string]bool{
	"enter": true, "tab": true, "backspace": true, "esc": true, "space": true,
	"up": true, "down": true, "left": true, "right": true, "home": true, "end": true,
	"pgup": true, "pgdown": true, "insert": true, "delete": true,
	"f1": true, "f2": true, "f3": true, "f4": true, "f5": true, "f6": true,
	"f7": true, "f8": true, "f9": true, "f10": true, "f11": true, "f12": true,
}

// checkKey returns an error that says how to write a key, if a terminal could
// never send k.
func checkKey(k string) error {
	base, modified := k, false
	for _, mod := range []string{"ctrl+", "alt+", "shift+"} { // the only order that terminals report
		if rest, ok := strings.CutPrefix(base, mod); ok && rest != "" {
			base, modified = rest, true
		}
	}
	r, size := utf8.DecodeRuneInString(base)
	single := size == len(base) && r != utf8.RuneError && unicode.IsGraphic(r) && r != ' '
	switch {
	case named[base]:
		return nil
	case single && !modified:
		return nil
	case single && !strings.Contains(k, "shift+") && !unicode.IsUpper(r):
		return nil
	}
	return fmt.Errorf("key %q: want one character (x, X, ?), a name (enter, space, pgdown, f5) or ctrl+x, alt+x, shift+tab", k)
}
