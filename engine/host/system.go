package host

import (
	"context"
	"os"
	"strings"
	"sync"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/smallfile"
)

// system is the part that tells which operating system and which init system the node has. It is
// read once.
func system(root string) part {
	osID := sync.OnceValue(func() string { return osRelease(root) })
	initName := sync.OnceValue(func() string { return initSystem(root) })
	return part{
		name: "system",
		read: func(context.Context) fill {
			osID, initName := osID(), initName()
			return func(r *evidence.Report) { r.OS, r.Init = osID, initName }
		},
		missing: func(*evidence.Report, error) {}, // what is not known is left out
	}
}

// osRelease returns the ID of the node's os-release (freedesktop.org); empty if there is none.
func osRelease(root string) string {
	for _, path := range []string{"/etc/os-release", "/usr/lib/os-release"} {
		text, err := smallfile.Read(root + path)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if value, is := strings.CutPrefix(strings.TrimSpace(line), "ID="); is {
				return strings.Trim(value, `"'`)
			}
		}
	}
	return ""
}

// initSystem returns the name of the init system whose folder is on the node; empty for none of
// those that we know.
func initSystem(root string) string {
	for _, m := range knowledge.Managers() {
		if m.Runs == "" {
			continue
		}
		if info, err := os.Lstat(root + m.Runs); err == nil && info.IsDir() {
			return m.Name
		}
	}
	return ""
}
