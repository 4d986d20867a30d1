package lines

import (
	"cmp"
	"fmt"
	"io"
	goruntime "runtime"
	"runtime/debug"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/record"
	"github.com/plegtop/plegtop/ui/jsonline"
)

// A versionObject is what this program is.
type versionObject struct {
	Version string `line:"version"`
	Commit  string `line:"commit,omitempty"` // that it was built from; empty if the build did not say
	Go      string `line:"go"`
	OS      string `line:"os"`
	Arch    string `line:"arch"`
	Kubelet string `line:"kubelet"`         // the newest release whose relist it makes
	Format  int    `line:"recordingFormat"` // of the recordings that it writes
}

// Version writes which plegtop this is to w: its version, or as JSON also what it was built from.
func Version(w io.Writer, version string, asJSON bool) error {
	o := versionObject{
		Version: version, Go: goruntime.Version(), OS: goruntime.GOOS, Arch: goruntime.GOARCH, Kubelet: pleg.Newest.String(), Format: record.Format,
	}
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, s := range build.Settings {
			if s.Key == "vcs.revision" {
				o.Commit = cmp.Or(o.Commit, s.Value)
			}
		}
	}
	line := []byte("plegtop " + version + "\n")
	if asJSON {
		line = jsonline.Append(nil, &o)
	}
	if _, err := w.Write(line); err != nil {
		return fmt.Errorf("write the version: %w", err)
	}
	return nil
}
