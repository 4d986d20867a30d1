package diagnose

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// containerdSocket is where crictl looks first when it is told nothing.
const containerdSocket = "/run/containerd/containerd.sock"

// crictl returns a crictl command line with its arguments quoted, and with the
// endpoint wherever crictl would not find it by itself.
func (in Input) crictl(verb string, args ...string) string {
	var b strings.Builder
	b.WriteString("crictl ")
	if e := in.Endpoint; e != "" && strings.TrimPrefix(e, "unix://") != containerdSocket {
		b.WriteString("-r " + quote(e) + " ")
	}
	b.WriteString(verb)
	for _, arg := range args {
		b.WriteString(" " + quote(arg))
	}
	return b.String()
}

// operand returns an argument such that no program takes it for a flag.
func operand(s string) []string {
	if strings.HasPrefix(s, "-") {
		return []string{"--", s}
	}
	return []string{s}
}

// quote returns s as one word of a POSIX shell. Bytes that a terminal would act
// on are spelled out, as bash and ksh read them.
func quote(s string) string {
	switch {
	case s != "" && strings.IndexFunc(s, needsQuotes) < 0:
		return s
	case !utf8.ValidString(s) || strings.IndexFunc(s, unprintable) >= 0:
		return spellOut(s)
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func needsQuotes(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_./:@%+=,-", r))
}

func unprintable(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }

// spellOut returns s in the $'...' quotes of bash.
func spellOut(s string) string {
	var b strings.Builder
	b.WriteString("$'")
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteString("'")
	return b.String()
}
