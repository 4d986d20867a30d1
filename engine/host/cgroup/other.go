//go:build !linux

package cgroup

import (
	"context"
	"fmt"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// Sources are for Linux alone.
type Sources struct{}

// New prepares for nothing.
func New(string, bool) *Sources { return &Sources{} }

// Cgroups fails.
func (*Sources) Cgroups(context.Context, func(pleg.Upstream)) error { return errNotLinux }

// Pidfds fails.
func (*Sources) Pidfds(context.Context, func(pleg.Upstream)) error { return errNotLinux }

var errNotLinux = fmt.Errorf("not Linux: %w", call.ErrUnimplemented)
