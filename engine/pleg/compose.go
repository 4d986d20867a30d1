package pleg

import (
	"slices"
	"time"
)

// Compose makes a pod's status of what its sandboxes and containers answered:
// both newest first, those of one age in the order given. The pod's addresses
// are those of the newest sandbox, and of that only if it is ready. Compose
// sorts the slices in place and keeps them.
func Compose(ref PodRef, sandboxes []SandboxStatus, containers []ContainerStatus) *PodStatus {
	sortNewestFirst(sandboxes, func(s *SandboxStatus) time.Time { return s.CreatedAt })
	sortNewestFirst(containers, func(c *ContainerStatus) time.Time { return c.CreatedAt })
	st := &PodStatus{PodRef: ref, Sandboxes: sandboxes, Containers: containers}
	if len(sandboxes) > 0 && sandboxes[0].State == Running {
		st.IPs = sandboxes[0].IPs
	}
	return st
}

// sortNewestFirst sorts large values, which are mostly in order already and
// dear to pass to a comparison.
func sortNewestFirst[T any](list []T, createdAt func(*T) time.Time) {
	for i := 1; i < len(list); i++ {
		if createdAt(&list[i]).After(createdAt(&list[i-1])) {
			slices.SortStableFunc(list, func(a, b T) int { return createdAt(&b).Compare(createdAt(&a)) })
			return
		}
	}
}
