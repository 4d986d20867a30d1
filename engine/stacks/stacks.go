// Package stacks reads a dump of goroutines, as Go writes it with debug=2: which goroutines wait for
// which lock, which goroutine holds it, and what that goroutine does for which call of the CRI.
//
// The text may be anything, and of any length. The limits below bound the memory. Goroutines beyond
// them count in the total only, so hostile text may hide a holder, but it cannot make one up.
//
// There is a parser for such dumps, github.com/maruel/panicparse/v2. It keeps every goroutine, with all
// its lines, and any line whole: 10 MB of text take about 50 times as long and 25 times the memory, and
// a line of 60 MB takes 3.7 GB (docs/measurements.md). It ends at the first line that Go does not write.
// It knows addresses and no locks, which are most of this package.
package stacks

import (
	"errors"
	"io"

	"github.com/plegtop/plegtop/engine/evidence"
)

// What is kept of a dump: about ten times the largest dump seen in the field, and less than 30 MB
// together.
const (
	maxLine    = 64 << 10  // bytes; Go writes less than 2 KiB
	maxName    = 512       // bytes, of a function; Go writes 200
	maxNames   = 8 << 10   // functions
	maxState   = 64        // bytes, of a state; Go writes 25
	maxFrames  = 128       // of a goroutine; Go writes 100
	maxKept    = 32 << 10  // goroutines that may hold a lock
	maxAlike   = 1 << 10   // kept goroutines with the same stack, so that a leak leaves room for others
	maxInKept  = 384 << 10 // frames of all of them
	maxGroups  = 4 << 10
	maxLate    = 32 // frames of a new stack, once there is no room for more goroutines
	maxLocks   = 4 << 10
	maxCalls   = 16 // calls that wait for one lock; the CRI has about 40
	maxHolders = 4  // candidates for the holder of a lock of an unknown kind: if there are more, none is named
	shown      = 20 // groups, locks, open goroutines
)

// Read reads a dump of goroutines to its end. It sets Total, Groups, Locks and Open. A lock has no
// holder where the text does not tell who it is.
//
// If r fails, Read returns the goroutines before that together with the error. A goroutine that is not
// whole does not count; the goroutine at which the text is cut is such. A text without any goroutine
// is an error. Read takes as long as r takes.
func Read(r io.Reader) (evidence.Stacks, error) {
	d := dump{byIDs: map[string]*group{}, byKey: map[lockKey]*lock{}}
	p := parser{found: d.add, functions: map[string]*function{}}
	err := p.read(r)
	if err == nil && d.total == 0 {
		err = errors.New("read a dump of goroutines: there is no goroutine in it, so it is something else")
	}
	d.findHolders()
	return evidence.Stacks{Total: d.total, Groups: d.shownGroups(), Locks: d.shownLocks(), Open: d.shownOpen()}, err
}
