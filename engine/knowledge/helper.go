package knowledge

import (
	"slices"
	"strings"
	"time"
)

// A Helper is a kind of program that a runtime calls, and that ends when its work is done.
type Helper struct {
	Verbs    []string // of an OCI runtime, such as runc
	Programs []string // the names of programs that do one task, whatever their arguments are
	Limit    time.Duration
	Reason   string   // why Limit is as it is
	Calls    []string // CRI calls that run it
	Source   string
}

var helpers = lazy[Helper]("helpers.yaml")

// VerbLimit returns the longest time that an OCI runtime works on a verb when nothing is wrong. It returns 0 for a verb
// that runs until its container ends, and for an unknown verb.
func VerbLimit(verb string) time.Duration {
	return limitOf(func(h Helper) bool { return slices.Contains(h.Verbs, verb) })
}

// ProgramLimit returns the longest time that a program with one task runs, whatever its arguments are; 0 for any other
// program. The kernel cuts names to 15 bytes, so a name of that length may be the beginning of a longer one.
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

// Runs reports whether a CRI call runs a helper with this verb, or a program with this name.
func Runs(call, verb string) bool {
	return slices.ContainsFunc(helpers(), func(h Helper) bool {
		return slices.Contains(h.Calls, call) && (slices.Contains(h.Verbs, verb) || slices.Contains(h.Programs, verb))
	})
}

// commLength is how many bytes of a program's name the kernel keeps.
const commLength = 15

func limitOf(is func(Helper) bool) time.Duration {
	all := helpers()
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i].Limit
	}
	return 0
}
