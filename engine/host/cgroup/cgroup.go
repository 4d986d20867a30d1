// Package cgroup tells when containers start and end. It learns that from the kernel, by the tree of control
// groups, and does not ask the runtime.
package cgroup

import (
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/host/reads"
)

// A Source is the event source of one node whose events come from the kernel. It is safe for concurrent use.
type Source struct {
	root  string
	outer reads.Set[string] // of the containers that the node is in
}

// New returns the source of a node. Root is where the node's root is mounted; "" is /.
func New(root string) *Source { return &Source{root: root} }

// A refusal says why the event source does not work here, and what to do. It wraps [call.ErrUnimplemented].
type refusal string

func (r refusal) Error() string { return string(r) }

// Unwrap returns the kind of failure.
func (r refusal) Unwrap() error { return call.ErrUnimplemented }

// Stat returns a figure of a control group's stat file; 0 if the file does not have it.
func Stat(stat, name string) uint64 {
	for line := range strings.Lines(stat) {
		if value, found := strings.CutPrefix(line, name+" "); found {
			n, _ := strconv.ParseUint(strings.TrimSpace(value), 10, 64)
			return n
		}
	}
	return 0
}
