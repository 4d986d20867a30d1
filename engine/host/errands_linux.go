package host

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// errandAge is from when on a child of the runtime may be one that does not end.
const errandAge = 30 * time.Second

// findErrands adds the network plugins among the children of a runtime that have not
// ended for some time. Only their environment tells them from other children, such as
// one that unpacks an image: CNI has all of a call in it (CNI spec 1.0, section 2).
func (l *walk) findErrands() {
	runtimePID := map[int]bool{}
	for _, s := range l.seen {
		runtimePID[s.proc.PID] = s.identity.role == daemon && slices.Contains(runtimes, s.comm)
	}
	for _, s := range l.children {
		if !runtimePID[s.stat.PPID] {
			continue
		}
		environ, err := fetch(l, procFile{s.proc.PID, "environ", true}, s.proc.Environ)
		if err != nil {
			continue // it has ended, or is another user's
		}
		if id := pluginOf(environ); id.verb != "" {
			s.identity = id
			l.seen = append(l.seen, s)
		}
	}
	slices.SortFunc(l.seen, func(a, b sighting) int { return cmp.Compare(a.proc.PID, b.proc.PID) })
}

// pluginOf reads the environment of a network plugin; the verb is empty for what is
// none.
func pluginOf(environ []string) (id identity) {
	for _, line := range environ {
		switch name, value, _ := strings.Cut(line, "="); name {
		case "CNI_COMMAND":
			id.role, id.verb = runc, "CNI "+value
		case "CNI_CONTAINERID":
			id.container = value
		case "CNI_ARGS":
			for arg := range strings.SplitSeq(value, ";") {
				switch name, value, _ := strings.Cut(arg, "="); name {
				case "K8S_POD_NAMESPACE":
					id.namespace = value
				case "K8S_POD_NAME":
					id.pod = value
				}
			}
		}
	}
	return id
}
