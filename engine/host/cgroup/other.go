//go:build !linux

package cgroup

import (
	"context"
	"fmt"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A Source is for Linux alone.
type Source struct{}

// New prepares for nothing.
func New(string) *Source { return &Source{} }

// Cgroups fails.
func (*Source) Cgroups(context.Context, func(pleg.Upstream)) error { return errNotLinux }

var errNotLinux = fmt.Errorf("not Linux: %w", call.ErrUnimplemented)
