//go:build linux

package e2e

import (
	"bytes"
	"strings"
	"testing"
)

// Texts for people have colours on a terminal, unless nobody wants them.
func TestTextOnATerminal(t *testing.T) {
	t.Parallel()
	for last, args := range map[string][]string{
		"show the version of plegtop": {"--help"}, "and what it misses": {"--demo=list"}, "ContainerStatus": {"--demo=quiet", "check"},
	} {
		for _, tt := range []struct {
			environ []string
			want    bool
		}{{nil, true}, {[]string{"NO_COLOR=yes"}, false}, {[]string{"TERM=dumb"}, false}} {
			t.Run(strings.Join(append(args, tt.environ...), " "), func(t *testing.T) {
				r := start(t, 80, 24, tt.environ, plegtop(t), args...)
				r.see(t, last)
				if code, err := r.Ended(limit); err != nil || code != 0 {
					t.Fatalf("exit code %d, %v: %s", code, err, r.stderr)
				}
				if got := bytes.ContainsRune(r.Raw(), '\x1b'); got != tt.want {
					t.Errorf("escape sequences: %v, want %v:\n%q", got, tt.want, r.Raw())
				}
			})
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	for _, arg := range []string{"--version", "version"} {
		if got := check(t, arg); got.exit != 0 || !strings.HasPrefix(got.stdout, "plegtop ") {
			t.Errorf("%s: exit code %d, %q", arg, got.exit, got.stdout)
		}
	}
}
