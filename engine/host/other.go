//go:build !linux

package host

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

var errNotLinux = errors.New("not Linux")

// noPart is a part that finds nothing, and says why in a report.
func noPart(name string, why fill) part {
	return part{
		name:    name,
		read:    func(context.Context) fill { return why },
		missing: func(r *evidence.Report, _ error) { why(r) },
	}
}

// A walker has nothing to read here.
type walker struct {
	deep   func() bool
	missed func() []string
}

func newWalker(_, _ string, _ time.Duration) *walker { return &walker{} }

func (w *walker) look(context.Context, time.Time) evidence.Report {
	why := errNotLinux.Error() + ": there is no /proc to read"
	return evidence.Report{Processes: evidence.Processes{Missing: why}, State: evidence.Disk{Missing: why}}
}

// bundles is for Linux alone.
func bundles(_, _ string, _ bool, _ *walker) part {
	return noPart("bundles", func(r *evidence.Report) { r.Deep.Objects.Missing = errNotLinux.Error() })
}

// unserved is for Linux alone.
func unserved(_, _ string, _ bool) part { return noPart("unserved", func(*evidence.Report) {}) }

// A socketWatch finds nothing here.
type socketWatch struct {
	root, path string
	picture    bool
}

func (*socketWatch) look() evidence.Socket { return evidence.Socket{Missing: errNotLinux.Error()} }

// statDisk is for Linux alone.
func statDisk(_, _ string) (evidence.Disk, error) {
	return evidence.Disk{}, errNotLinux
}

// drawnDisk is for Linux alone.
func drawnDisk(string) part {
	return noPart("disk", func(r *evidence.Report) { r.Disk.Missing = errNotLinux.Error() })
}

func missingDisk(path string, err error) evidence.Disk {
	return evidence.Disk{Path: path, Missing: err.Error()}
}

// An ownRoot finds nothing here.
type ownRoot struct{ root, endpoint string }

func (ownRoot) find() string { return "" }

// kernelWords and askSystemd are for Linux alone.
func kernelWords(string, bool, *daemonWatch) func(time.Duration) part {
	return func(time.Duration) part {
		return noPart("kernel", func(r *evidence.Report) { r.Kernel.Missing = errNotLinux.Error() })
	}
}

func askSystemd(context.Context, string, []string) ([]evidence.Unit, int64, error) {
	return nil, 0, errNotLinux
}

// A dumper reads nothing here.
type dumper struct{}

func newDumper(Config) *dumper { return &dumper{} }

func (*dumper) look(context.Context, time.Time) evidence.Stacks {
	return evidence.Stacks{Source: evidence.Source{Missing: errNotLinux.Error()}}
}

func configuredMetrics(Config) (*url.URL, error) { return nil, errNotLinux }
