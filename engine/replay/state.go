package replay

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// around returns the last list of all pods that was answered up to a moment, and the next one;
// nil where there is none.
func (r *run) around(op call.Operation, at time.Time) (before, after *recorded) {
	all := r.targets[target{op: op}]
	i, _ := slices.BinarySearchFunc(all, at, func(c *recorded, at time.Time) int { return c.Since.Compare(at) })
	whole := func(c *recorded) bool { return c.Pod.UID == "" && !c.ended.IsZero() && c.with.Err == nil }
	for j := i - 1; j >= 0 && before == nil; j-- {
		if c := all[j]; whole(c) && !c.ended.After(at) {
			before = c
		}
	}
	for j := max(i-2, 0); j < len(all) && after == nil; j++ {
		if c := all[j]; whole(c) && c.ended.After(at) {
			after = c
		}
	}
	return before, after
}

// sandboxes returns those of a pod, or of all for no uid, at a moment: the last list up to then,
// with those that the next one has and that were made before.
func (r *run) sandboxes(at time.Time, uid pleg.UID) []pleg.ListedSandbox {
	before, after := r.around(call.ListPodSandbox, at)
	var rows []pleg.ListedSandbox
	if before != nil {
		rows = before.with.Answer.Sandboxes
	}
	if after != nil && !same(rows, after.with.Answer.Sandboxes) {
		rows = merged(rows, after.with.Answer.Sandboxes, func(s *pleg.ListedSandbox) string { return s.ID }, func(s, was *pleg.ListedSandbox) bool {
			return was == nil && (before == nil || !s.CreatedAt.IsZero() && !s.CreatedAt.After(at))
		})
	}
	return ofPod(rows, uid, func(s *pleg.ListedSandbox) pleg.UID { return s.Pod.UID })
}

// containers returns those of a pod, or of all for no uid, at a moment: the last list up to then,
// with what the next one has and what the runtime dates before the moment.
func (r *run) containers(at time.Time, uid pleg.UID) []pleg.ListedContainer {
	before, after := r.around(call.ListContainers, at)
	var rows []pleg.ListedContainer
	var since time.Time
	if before != nil {
		rows, since = before.with.Answer.Containers, before.Since
	}
	if after != nil && !same(rows, after.with.Answer.Containers) {
		rows = merged(rows, after.with.Answer.Containers, func(c *pleg.ListedContainer) string { return c.ID }, func(c, was *pleg.ListedContainer) bool {
			switch {
			case before == nil:
				return true
			case was == nil:
				return !c.CreatedAt.IsZero() && !c.CreatedAt.After(at)
			}
			return c.State == pleg.Exited && was.State != pleg.Exited && r.endedWithin(c.ID, since, at)
		})
	}
	return ofPod(rows, uid, func(c *pleg.ListedContainer) pleg.UID { return c.Pod.UID })
}

// endedWithin reports whether the runtime has said, at any time, that a container ended then.
func (r *run) endedWithin(id string, from, to time.Time) bool {
	return slices.ContainsFunc(r.targets[target{call.ContainerStatus, id}], func(c *recorded) bool {
		s := c.with.Answer.Container
		return s != nil && ended(s, to) && s.FinishedAt.After(from)
	})
}

// same reports whether two lists are one: what has not changed shares its rows.
func same[T any](a, b []T) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// merged returns rows with those of later ones that take holds to be so already; was is the row
// of the same object, nil if there is none.
func merged[T any](rows, later []T, id func(*T) string, take func(row, was *T) bool) []T {
	place := make(map[string]int, len(rows))
	for i := range rows {
		place[id(&rows[i])] = i
	}
	all := slices.Clone(rows)
	for i := range later {
		row := &later[i]
		if at, had := place[id(row)]; had && take(row, &rows[at]) {
			all[at] = *row
		} else if !had && take(row, nil) {
			all = append(all, *row)
		}
	}
	return all
}

// ofPod returns the rows of a pod; all for no uid.
func ofPod[T any](rows []T, uid pleg.UID, of func(*T) pleg.UID) []T {
	if uid == "" {
		return rows
	}
	return slices.DeleteFunc(slices.Clone(rows), func(row T) bool { return of(&row) != uid })
}
