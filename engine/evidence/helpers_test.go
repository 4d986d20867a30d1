package evidence

import (
	"testing"
	"time"
)

func TestHelperLimit(t *testing.T) {
	for verb, want := range map[string]time.Duration{
		"state": 5 * time.Second, "update": 5 * time.Second, "kill": 5 * time.Second, "delete": 8 * time.Second,
		"create": 10 * time.Second, "CNI ADD": 15 * time.Second, "CNI DEL": 15 * time.Second,
		"mount": 15 * time.Second, "mount.nfs4": 15 * time.Second, "umount": 10 * time.Second, "umount.nfs": 10 * time.Second,
		"fusermount3": 10 * time.Second, "iptables-restor": 15 * time.Second, "unpigz": 10 * time.Minute,
		"exec": 0, "run": 0, "events": 0, "init": 0, "wait": 0, "gofer": 0, "": 0, "sleep": 0, "CNI": 0, "tripod.nfs": 0, ".": 0,
	} {
		if got := (Process{Verb: verb}).HelperLimit(); got != want {
			t.Errorf("%q: %v, want %v", verb, got, want)
		}
	}
}
