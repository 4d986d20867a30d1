package diagnose

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// StoreFailing is a store of the runtime that is read-only, fails or is gone.
const StoreFailing ID = "store-failing"

const (
	// errorFresh is how far back an error that ext4 has counted is of today.
	errorFresh = time.Hour
	// failedFresh is for how long after the last request that failed a disk counts as failing: the kernel writes changes
	// within half a minute, and its log is read once a minute.
	failedFresh = 5 * time.Minute
)

// A store of the runtime cannot be written, is gone or answers with errors; or a call or the kernel says so of a file
// system that it may use.
var storeFailing = Rule{
	ID: StoreFailing,
	Find: func(f *Facts, report func(Match)) {
		text, means := f.complaint(knowledge.StoreFails, knowledge.Disconnected)
		found := false
		for _, s := range f.stores() {
			if m, fails := f.failingStore(s); fails {
				found = true
				m.Group, m.Values = s.name, m.Values.with(Values{
					"store": s.name, "path": s.Path, "source": s.Mount.Source, "place": s.place(), "complaint": text,
				})
				if m.Lines == nil {
					m.Lines = map[string][]line{}
				}
				m.Lines["first"], m.Steps = notBefore(s.waitsFor()), map[string][]Step{"+mend": f.mending(s)}
				report(m)
			}
		}
		switch {
		case found:
		case text == "" && len(f.deep().Unserved) > 0:
			report(f.unserved())
		case text == "":
			f.disksBelow(report)
		case means == knowledge.Disconnected:
			if path := unservedPath(text); path != "" { // else a socket is not connected
				report(Match{Variant: "served", Severity: Warning, Group: "served", Values: Values{"target": path, "complaint": text}})
			}
		default:
			report(Match{
				Variant: "complaint", Severity: Warning, Values: Values{"complaint": text, "excerpt": extract(text)},
				Steps: map[string][]Step{"+mend": f.orDrain(f.advise("disk.fails", nil))},
			})
		}
	},
}

// failingStore is about a store that cannot be written, is gone or answers with errors.
func (f *Facts) failingStore(s store) (m Match, fails bool) {
	l, said := f.failedRequest(s)
	switch {
	case s.Broken:
		return Match{Variant: "gone", Severity: Critical, Values: Values{"error": s.Missing}}, true
	case s.ReadOnly != "":
		v := Values{"error": s.ReadOnly}
		if s.Errors > 0 {
			v["errors"], v["age"] = many{int(s.Errors), "error"}, age(s.ErrorAge)
		}
		return Match{Variant: "read-only", Severity: Critical, Values: v}, true
	case said:
		m := Match{Variant: "kernel", Severity: Warning, Values: Values{"request": l.Failed}, Lines: map[string][]line{"over": f.storeOver(l)}}
		if l.Failed == "write" {
			m.Severity = Critical
		}
		return m, true
	case s.Errors > 0 && s.ErrorAge < errorFresh:
		return Match{Variant: "errors", Severity: Warning, Values: Values{"errors": many{int(s.Errors), "error"}, "age": age(s.ErrorAge)}}, true
	}
	return Match{}, false
}

// failedRequest returns the youngest line in which the kernel says that it could not write to the very device of a
// store, or else could not read from it. What it says of a whole disk may be about another part, and one of several
// disks below a store may be spared.
func (f *Facts) failedRequest(s store) (last evidence.KernelLine, fails bool) {
	for _, l := range f.Look.Kernel.Lines {
		ofStore := l.Failed != "" && l.Age < failedFresh && l.Device != "" && s.Mount.Source == "/dev/"+l.Device
		if ofStore && (!fails || l.Failed == "write" && last.Failed != "write") {
			last, fails = l, true
		}
	}
	return last, fails
}

// storeOver says when a finding ends that goes by what the kernel said.
func (f *Facts) storeOver(l evidence.KernelLine) []line {
	at := f.Look.At.Add(-l.Age)
	return []line{lineOf("store-over", Values{"at": at, "until": at.Add(failedFresh)})}
}

// disksBelow reports stores on a part of a disk, or on a device made of several disks, if the kernel says that requests
// to a disk below failed. That may be about another part, and a mirror may have what was lost.
func (f *Facts) disksBelow(report func(Match)) {
	for _, s := range f.stores() {
		i := slices.IndexFunc(f.Look.Kernel.Lines, func(l evidence.KernelLine) bool {
			return l.Age < failedFresh && slices.Contains(s.Below, l.Device) && requestFailed(l)
		})
		if i < 0 {
			continue
		}
		l := f.Look.Kernel.Lines[i]
		report(Match{
			Variant: "below", Severity: Warning, Group: s.name + groupDiskBelow,
			Values: Values{"store": s.name, "path": s.Path, "source": s.Mount.Source, "device": l.Device, "place": s.place()},
			Lines:  map[string][]line{"over": f.storeOver(l)},
			Steps:  map[string][]Step{"+mend": f.mending(s)},
		})
	}
}

// requestFailed reports whether the kernel says that a disk did not do what it was asked for. It refuses to discard
// blocks without harm. Before Linux 5.2 it did not say what was asked.
func requestFailed(l evidence.KernelLine) bool {
	old := strings.Contains(l.Text, " error, dev ") && !strings.Contains(l.Text, "target error") && !strings.Contains(l.Text, " op 0x")
	return l.About == knowledge.AboutDisk && (l.Failed != "" || old)
}

// unserved is about file systems whose program has ended, by a look. The runtime may use none of them.
func (f *Facts) unserved() Match {
	all := f.deep().Unserved
	m := Match{Variant: "unserved", Severity: Warning, Group: groupUnserved, Values: Values{"target": all[0].Point}, Lines: map[string][]line{}}
	for _, o := range all[:min(len(all), nodeLinesMost)] {
		m.Lines["mounts"] = append(m.Lines["mounts"], lineOf("mount-unserved", Values{"point": o.Point, "type": o.Type}))
	}
	if n := len(all) - 1; n > 0 {
		m.Values["more"] = many{n, "more mount"}
	}
	return m
}

var notConnected = regexp.MustCompile(`(?:^|[\s'"])(/[^\s:'">@]+)['"]?: (?i:transport endpoint is not connected)`)

// unservedPath returns the path of which an error says that nobody serves it any more; empty if it names none.
func unservedPath(text string) string {
	if found := notConnected.FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return ""
}
