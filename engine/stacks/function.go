package stacks

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/plegtop/plegtop/engine/knowledge"
)

// A function is what its name tells of it. Names are few, so that all of it is found out
// once.
type function struct {
	name   string // as Go writes it: "internal/poll.(*FD).Read"
	owner  string // its package and receiver's type: "internal/poll.(*FD)"; empty if it is no method
	method string // "Read"; empty if it is no method
	call   string // the CRI's method, if it is what gRPC calls for one
	kinds  kind
	works  subject
	sign   int               // what it tells of what is done in it, by its place in signs
	waits  *knowledge.Lock   // that who waits for a lock in it waits for; nil if that is not known
	holds  []*knowledge.Lock // that who is in it has
	leaves *knowledge.Lock   // that who is in it has let go of, though what called it is one that holds it
}

type kind uint8

const (
	ofRuntime kind = 1 << iota // of Go's runtime
	ofSync                     // of package sync
	takesLock                  // of a mutex
	passesOn                   // waits for the lock of who calls it
	ofService                  // of what answers all calls, so that its address says nothing
	asksTTRPC                  // calls another program
	asksGRPC
)

func (f *function) is(k kind) bool { return f.kinds&k != 0 }

// A subject says which argument of a function is the address of what it works on.
type subject uint8

const (
	onNothing subject = iota
	onReceiver
	onArgument // the first after the receiver that is a pointer, and no context
)

// listOf are the calls that answer as lists do, a piece at a time; which of the two a client
// makes is no matter of who waits for what.
var listOf = map[string]string{"StreamPodSandboxes": "ListPodSandbox", "StreamContainers": "ListContainers"}

// newFunction takes a name apart.
func newFunction(name string) function {
	f := function{name: name, sign: signOf(name)}
	pkg, rest := split(name)
	if owner, method, is := strings.Cut(rest, ")."); is && strings.HasPrefix(owner, "(*") && !strings.ContainsAny(method, ".-") {
		f.owner, f.method, f.works = pkg+"."+owner+")", method, onReceiver
	}
	switch lower := strings.ToLower(f.method); {
	case pkg == "runtime":
		f.kinds = ofRuntime
	case pkg == "sync" || pkg == "internal/sync":
		f.kinds = ofSync
		if strings.HasSuffix(f.owner, "Mutex)") && strings.Contains(lower, "lock") && !strings.Contains(lower, "unlock") {
			f.kinds |= takesLock
		}
	case lower == "lock" || lower == "rlock":
		f.kinds = passesOn
	}
	if handler, whole := strings.CutSuffix(rest, "_Handler"); whole && strings.HasPrefix(handler, "_") {
		_, f.call, _ = strings.Cut(handler, "Service_")
		f.call = cmp.Or(listOf[f.call], f.call)
	}
	f.classify()
	return f
}

// split is the package's path, and what follows: "internal/poll", "(*FD).Read". Where a
// path has a dot in its last part, Go writes %2e.
func split(name string) (pkg, rest string) {
	start := strings.LastIndexByte(name, '/') + 1
	dot := strings.IndexByte(name[start:], '.')
	if dot < 0 {
		return "", name
	}
	return name[:start+dot], name[start+dot+1:]
}

// functionOf is the place of a name in the table, -1 if the table is full. It is not
// readable if it is no name.
func (d *dump) functionOf(name []byte) (id int32, readable bool) {
	if id, known := d.byName[string(name)]; known {
		return id, true
	}
	if len(name) > maxName || bytes.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\uFFFD' }) {
		return 0, false
	}
	if len(d.functions) == maxNames || d.nameBytes+len(name) > maxNameBytes {
		return -1, true
	}
	f := newFunction(string(name))
	d.nameBytes += len(name)
	d.functions = append(d.functions, f)
	d.byName[f.name] = int32(len(d.functions) - 1)
	return int32(len(d.functions) - 1), true
}
