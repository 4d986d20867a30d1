package evidence

import "testing"

// A disk is reported as soon as anything but its place is known: even a file system without a size, such as a
// tmpfs, may be read-only.
func TestDiskIsZero(t *testing.T) {
	for _, tt := range []struct {
		disk Disk
		want bool
	}{
		{Disk{}, true},
		{Disk{Path: "/run/x", Missing: "input/output error", Total: 1}, true},
		{Disk{Path: "/run/x"}, true},
		{Disk{Path: "/run/x", Total: 1}, false},
		{Disk{Path: "/run/x", ReadOnly: "it is mounted read-only"}, false},
	} {
		if got := tt.disk.IsZero(); got != tt.want {
			t.Errorf("%+v: %v, want %v", tt.disk, got, tt.want)
		}
	}
}
