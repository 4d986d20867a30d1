//go:build !linux

package cgroup

import (
	"context"

	"github.com/plegtop/plegtop/engine/pleg"
)

// Cgroups returns an error: only Linux has control groups.
func (*Source) Cgroups(context.Context, func(pleg.Upstream)) error { return refusal("not Linux") }
