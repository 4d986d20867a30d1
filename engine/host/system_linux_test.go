package host

import (
	"os"
	"testing"
)

// An init system is recognized by its folder, whatever the names of its processes are.
func TestInitSystemOfANode(t *testing.T) {
	for folder, want := range map[string]string{
		"/run/systemd/system": "systemd", "/run/systemd/resolve": "", // which a container may have from its node
		"/run/openrc": "openrc", "/run": "",
	} {
		root := t.TempDir()
		if err := os.MkdirAll(root+folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if got := initSystem(root); got != want {
			t.Errorf("%s: %q, want %q", folder, got, want)
		}
	}
}
