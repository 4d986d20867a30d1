package stacks

import (
	"bytes"
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine/knowledge"
)

// A function is what the name of a function shows. A dump has few different names, so this is worked out once
// for each.
type function struct {
	id     uint16
	name   string // as Go writes it: "internal/poll.(*FD).Read"
	pkg    string // the path of its package, without internal/ of Go itself
	owner  string // "internal/poll.(*FD)"; empty if it is no method of a pointer
	method string // "Read"; empty likewise
	call   string // the method of the CRI that it is the gRPC handler of
	role   string // as knowledge has them
	sign   int    // the row of knowledge.Signs; their number if there is none

	takesLock bool              // it takes the lock of a mutex
	argument  bool              // it works on its first argument, and not on its receiver
	waits     *knowledge.Lock   // the kind of lock that a goroutine waits for in it; nil if not known
	holds     []*knowledge.Lock // the kinds of lock that a goroutine in this function may hold
	leaves    *knowledge.Lock   // the kind that it has let go of here, though its callers held it
}

// listOf are the streaming calls that do the same as lists, piece by piece.
var listOf = map[string]string{"StreamPodSandboxes": "ListPodSandbox", "StreamContainers": "ListContainers"}

// newFunction returns a function by its name, with what the tables of package knowledge say about it.
func newFunction(name string) *function {
	f := &function{name: name, sign: knowledge.SignOf(name)}
	start := strings.LastIndexByte(name, '/') + 1
	last, rest, _ := strings.Cut(name[start:], ".")            // Go writes %2e for a dot in the path of a package
	f.pkg = strings.TrimPrefix(name[:start]+last, "internal/") // Go 1.24 and later have the mutex in internal/sync
	if owner, method, is := strings.Cut(rest, ")."); is && strings.HasPrefix(owner, "(*") && !strings.ContainsAny(method, ".-") {
		f.owner, f.method = name[:len(name)-len(method)-1], method
	}
	if handler, is := strings.CutSuffix(rest, "_Handler"); is && strings.HasPrefix(handler, "_") {
		_, f.call, _ = strings.Cut(handler, "Service_")
		f.call = cmp.Or(listOf[f.call], f.call)
	}
	for i := range knowledge.Locks() {
		kind := &knowledge.Locks()[i]
		if at := kind.WaitPlace(f.owner, f.method); at != nil {
			f.waits, f.argument = kind, f.argument || at.Argument
		}
		if at := kind.HoldPlace(f.owner, f.method); at != nil {
			f.holds, f.argument = append(f.holds, kind), f.argument || at.Argument
		}
		if kind.LetGo(f.name) {
			f.leaves = kind
		}
	}
	f.role = knowledge.RoleOf(f.owner, f.method)
	switch lower := strings.ToLower(f.method); {
	case f.pkg == "sync":
		f.takesLock = strings.HasSuffix(f.owner, "Mutex)") && strings.Contains(lower, "lock") && !strings.Contains(lower, "unlock")
	case f.role == "" && f.waits == nil && (lower == "lock" || lower == "rlock"):
		f.role = "wrapper"
	}
	return f
}

// firstArgument finds the first argument after the receiver, and after a context if there is one.
var firstArgument = regexp.MustCompile(`^[^,]*, (?:\{[^{}]*\}, )?(0x[0-9a-f]+\??)(?:,|$)`)

// worksOn finds the address of what the function works on, 0 if there is none. A number below 64 KiB
// is no address. Arguments look like
//
//	0xc000166690, {0x1a84598, 0xc0001f}, 0xc00001?, ...
func (f *function) worksOn(arguments []byte) (at uint64, inexact bool) {
	var text []byte
	switch {
	case f == nil || f.owner == "":
		return 0, false
	case !f.argument:
		text, _, _ = bytes.Cut(arguments, []byte(","))
	default:
		if found := firstArgument.FindSubmatch(arguments); found != nil {
			text = found[1]
		}
	}
	text, inexact = bytes.CutSuffix(text, []byte("?"))
	digits, hex := bytes.CutPrefix(text, []byte("0x"))
	at, err := strconv.ParseUint(string(digits), 16, 64)
	if !hex || err != nil || at < 64<<10 {
		return 0, false
	}
	return at, inexact
}
