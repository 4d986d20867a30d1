package diagnose

import (
	"fmt"
	"regexp"
)

// The groups of findings about file systems whose program has ended: one of which a call says
// so, and those that the look at the node has found.
const ofServed, ofUnserved = "served", "unserved"

// servedGone finds a file system whose program has ended, by what a call fails with for a
// path on it.
func (v *view) servedGone(said string) []Finding {
	path := servedPath(said)
	if path == "" {
		return nil
	}
	return []Finding{v.programEnded(ofServed, path, said)}
}

// unserved finds file systems whose program has ended, whatever calls say. They may be
// nobody's reason: who asks for something there is answered with an error.
func (v *view) unserved() []Finding {
	all := v.deep().Unserved
	var lines []string
	for _, m := range all[:min(len(all), toldWords)] {
		lines = append(lines, fmt.Sprintf("%s (%s) answers: %s", m.Point, m.Type, "transport endpoint is not connected"))
	}
	f := v.programEnded(ofUnserved, all[0].Point, lines...)
	if n := len(all) - 1; n > 0 {
		f.Summary += fmt.Sprintf(" and %s", more(n, "mount"))
	}
	return []Finding{f}
}

// programEnded returns the finding about a path that a program served. Nothing that the
// runtime does brings that back.
func (v *view) programEnded(group, path string, said ...string) Finding {
	return Finding{
		ID: StoreFailing, Severity: Warning, Group: group,
		Summary:  "the program that served a file system has ended: " + path,
		Evidence: said,
		Next:     v.serveAnew(path),
	}
}

// serveAnew takes away a mount that nobody serves. A restart of the runtime does not help.
func (v *view) serveAnew(path string) []Step {
	return v.advise("mount.unserved", Values{"target": one(path)})
}

// servedPath returns the path of which an error says that nobody serves it any more; empty if
// it says so of none, as where a socket is not connected.
func servedPath(said string) string {
	if found := unservedPath.FindStringSubmatch(said); found != nil {
		return found[1]
	}
	return ""
}

var unservedPath = regexp.MustCompile(`(?:^|[\s'"])(/[^\s:'">@]+)['"]?: (?i:transport endpoint is not connected)`)
