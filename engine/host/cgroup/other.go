//go:build !linux

package cgroup

import (
	"context"

	"github.com/plegtop/plegtop/engine/pleg"
)

// Cgroups fails: control groups are Linux's.
func (*Source) Cgroups(context.Context, func(pleg.Upstream)) error { return refusal("not Linux") }
