package host

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// If a container has the node's root at one of the usual places, plegtop looks there. A folder that only looks
// like a root is left alone: a folder of the node itself, with a /proc for chroot.
func TestRootOfTheNode(t *testing.T) {
	tests := []struct {
		name  string
		files []string          // that are there
		links map[string]string // of namespaces
		want  string            // below our own root
	}{
		{"on a node", []string{"proc/stat"}, map[string]string{"proc/self/ns/mnt": "mnt:[1]"}, ""},
		{"kubectl debug", []string{"host/proc/stat"}, map[string]string{"proc/self/ns/mnt": "mnt:[2]", "host/proc/1/ns/mnt": "mnt:[1]"}, "host"},
		{"not root there", []string{"host/proc/stat"}, map[string]string{"proc/self/ns/mnt": "mnt:[2]"}, "host"},
		{"Bottlerocket", []string{".bottlerocket/rootfs/proc/stat"}, nil, ".bottlerocket/rootfs"},
		{"a folder for chroot", []string{"host/proc/stat"}, map[string]string{"proc/self/ns/mnt": "mnt:[1]", "host/proc/1/ns/mnt": "mnt:[1]"}, ""},
		{"a folder of that name", []string{"host/etc/hosts"}, nil, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			own := t.TempDir()
			at := func(path string) string {
				to := filepath.Join(own, path)
				if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
					t.Fatal(err)
				}
				return to
			}
			var failed error
			for _, path := range test.files {
				failed = errors.Join(failed, os.WriteFile(at(path), nil, 0o600))
			}
			for path, to := range test.links {
				failed = errors.Join(failed, os.Symlink(to, at(path)))
			}
			if failed != nil {
				t.Fatal(failed)
			}
			want := ""
			if test.want != "" {
				want = filepath.Join(own, test.want)
			}
			if got := findRoot(own, hostRoots); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
	if got := FindRoot("/given"); got != "/given" {
		t.Errorf("one that is given becomes %q", got)
	}
}
