package evidence

import (
	"testing"
	"time"
)

func TestErrandLimit(t *testing.T) {
	for verb, want := range map[string]time.Duration{
		"state": 5 * time.Second, "update": 10 * time.Second, "kill": 10 * time.Second, "delete": 15 * time.Second,
		"create": 20 * time.Second, "CNI ADD": 30 * time.Second, "CNI DEL": 30 * time.Second,
		"mount": 30 * time.Second, "mount.nfs4": 30 * time.Second, "umount": 20 * time.Second, "umount.nfs": 20 * time.Second,
		"fusermount3": 20 * time.Second, "iptables-restor": 20 * time.Second, "unpigz": 10 * time.Minute,
		"exec": 0, "run": 0, "events": 0, "init": 0, "wait": 0, "gofer": 0, "": 0, "sleep": 0, "CNI": 0, "tripod.nfs": 0, ".": 0,
	} {
		if got := (Process{Verb: verb}).ErrandLimit(); got != want {
			t.Errorf("%q: %v, want %v", verb, got, want)
		}
	}
}
