package knowledge

import (
	"slices"
	"strings"
	"time"
)

// A Helper is a kind of program that a runtime calls, and that ends when its work is done.
type Helper struct {
	Verbs    []string // of an OCI runtime, such as runc
	Programs []string // the names of programs that do one thing, whatever their arguments are
	Limit    time.Duration
	Reason   string   // for the limit
	Calls    []string // of the CRI that run it
	Source   string
}

var helpers = lazy[Helper]("helpers.yaml")

// VerbLimit returns how long an OCI runtime works on a verb at most where nothing is wrong; 0 for a
// verb that runs until its container ends.
func VerbLimit(verb string) time.Duration {
	return limitOf(func(h Helper) bool { return slices.Contains(h.Verbs, verb) })
}

// ProgramLimit returns the longest time that a program with one task runs, whatever its arguments
// are; 0 for any other program. A name of 15 bytes may be one that the kernel has cut.
func ProgramLimit(program string) time.Duration {
	if name, ofFileSystem, _ := strings.Cut(program, "."); ofFileSystem != "" && strings.HasSuffix(name, "mount") {
		program = name // such as mount.nfs4
	}
	return limitOf(func(h Helper) bool {
		return slices.ContainsFunc(h.Programs, func(known string) bool {
			return known == program || len(program) == commLength && strings.HasPrefix(known, program)
		})
	})
}

// Runs reports whether a call of the CRI runs a helper with such a verb, or a program of that name.
func Runs(call, verb string) bool {
	return slices.ContainsFunc(helpers(), func(h Helper) bool {
		return slices.Contains(h.Calls, call) && (slices.Contains(h.Verbs, verb) || slices.Contains(h.Programs, verb))
	})
}

// commLength is how much of a program's name the kernel keeps.
const commLength = 15

func limitOf(is func(Helper) bool) time.Duration {
	all := helpers()
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i].Limit
	}
	return 0
}
