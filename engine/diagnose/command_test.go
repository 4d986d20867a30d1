package diagnose

import (
	"os/exec"
	"testing"

	"github.com/plegtop/plegtop/engine"
)

func TestQuote(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", "''"},
		{"abc-1.2_3", "abc-1.2_3"},
		{"a b", "'a b'"},
		{"it's", `'it'\''s'`},
		{"$(reboot)", "'$(reboot)'"},
		{"a\nb", `$'a\x0ab'`},
		{"\x1b]0;x\x07'\\", `$'\x1b]0;x\x07\'\\'`},
		{"\xff", `$'\xff'`},
		{"a\u202eb", `$'a\xe2\x80\xaeb'`},
		{"grün", "'grün'"},
	}
	for _, tt := range tests {
		if got := quote(tt.in); got != tt.want {
			t.Errorf("quote(%q) = %s, want %s", tt.in, got, tt.want)
		}
	}
}

// FuzzQuote holds quote against a real shell.
func FuzzQuote(f *testing.F) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		bash = ""
	}
	for _, s := range []string{"", "a b", "'", `\'`, "\x1b[0m", "\xff\x80", "`id`", "$'x'", "é\u200d", "a1\x01b2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		quoted := quote(s)
		for i := range len(quoted) {
			if c := quoted[i]; c < ' ' || c == 0x7f {
				t.Fatalf("quote(%q) = %q holds a control byte", s, quoted)
			}
		}
		if bash == "" {
			return
		}
		for i := range len(s) {
			if s[i] == 0 {
				return // no argument can hold it
			}
		}
		out, err := exec.Command(bash, "-c", "printf %s "+quoted).Output()
		if err != nil || string(out) != s {
			t.Fatalf("bash reads %s as %q, want %q: %v", quoted, out, s, err)
		}
	})
}

func TestCrictl(t *testing.T) {
	tests := []struct{ endpoint, want string }{
		{"", "crictl inspect c1"},
		{"unix:///run/containerd/containerd.sock", "crictl inspect c1"},
		{"/run/containerd/containerd.sock", "crictl inspect c1"},
		{"unix:///var/run/crio/crio.sock", "crictl -r unix:///var/run/crio/crio.sock inspect c1"},
		{"unix:///tmp/a b.sock", "crictl -r 'unix:///tmp/a b.sock' inspect c1"},
	}
	for _, tt := range tests {
		if got := (&view{Snapshot: new(engine.Snapshot), endpoint: tt.endpoint}).crictl("inspect", operand("c1")...); got != tt.want {
			t.Errorf("crictl at %q: %s, want %s", tt.endpoint, got, tt.want)
		}
	}
	if got := (&view{Snapshot: new(engine.Snapshot)}).crictl("inspect", operand("--help")...); got != "crictl inspect -- --help" {
		t.Errorf("an id like a flag: %s", got)
	}
}
