package text

import "strings"

// FileBase is the begin of a file's name that sorts by time and needs no quotes in a shell: it
// has the name of a node, as far as that is plain, and a time.
func FileBase(node, at string) string {
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, node[:min(len(node), 64)])
	return "plegtop-" + safe + "-" + at
}
