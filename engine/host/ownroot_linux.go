package host

import (
	"path/filepath"

	"github.com/prometheus/procfs"
)

// An ownRoot finds the folder of the runtime that listens at an endpoint. It
// belongs to one goroutine at a time.
type ownRoot struct {
	root, endpoint string
	of             pidStart // whose folder it is
	path           string
}

// find returns the folder on the host, by the arguments of the process that
// listens, its configuration, or its default; where nobody listens, by the
// configuration of the runtime whose socket it is. It is "" where that cannot be
// known. Once known it is looked for again only when that process has ended.
func (o *ownRoot) find() string {
	proc, err := procfs.NewFS(filepath.Join("/", o.root, "proc"))
	if err != nil || o.endpoint == "" {
		return ""
	}
	if _, same := started(proc, o.of.pid); o.path != "" && same == o.of {
		return o.path
	}
	switch s := serving(o.root, o.endpoint, false); {
	case s.process.pid != 0 && s.data.preset != "":
		path := s.setting(s.data)
		if s.err != nil && s.given(s.data) == "" {
			if _, err := statDisk(o.root, path); err != nil {
				return "" // what it was told cannot be read, and it is not where it is mostly
			}
		}
		o.of, o.path = s.process, path
	case s.process.pid == 0 && o.path == "":
		return s.files.text(s.data)
	}
	return o.path
}
