package engine

import "iter"

// Changes yields each pod that differs between two snapshots: as it was, nil if it is new, and as
// it is now, nil if it has gone. A pod that did not change costs one comparison of pointers.
func Changes(was, now []*Pod) iter.Seq2[*Pod, *Pod] {
	return func(yield func(was, now *Pod) bool) {
		if oneList(was, now) {
			return
		}
		pair(was, now, func(i, j int) bool {
			var before, after *Pod
			if i >= 0 {
				before = was[i]
			}
			if j >= 0 {
				after = now[j]
			}
			return before == after || yield(before, after)
		})
	}
}

// PerPod keeps one value for each pod of a snapshot. The value is computed from that pod alone, and
// kept until the pod changes. The zero value holds nothing. It is not safe for concurrent use.
type PerPod[T any] struct {
	Pods   []*Pod // the pods of the last Update
	Values []T    // one for each of Pods, valid until the next Update
	spare  []T
}

// Update takes over the pods of another snapshot. It calls of for each pod that is new or has
// changed; was is the old value of that pod, nil if the pod is new. Update reports whether anything
// changed.
func (k *PerPod[T]) Update(pods []*Pod, of func(p *Pod, was *T) T) bool {
	if oneList(pods, k.Pods) {
		return false
	}
	values := k.spare[:0]
	if cap(values) < len(pods) {
		values = make([]T, 0, len(pods)+len(pods)/8)
	}
	pair(k.Pods, pods, func(i, j int) bool {
		switch {
		case j < 0:
		case i < 0:
			values = append(values, of(pods[j], nil))
		case k.Pods[i] == pods[j]:
			values = append(values, k.Values[i])
		default:
			values = append(values, of(pods[j], &k.Values[i]))
		}
		return true
	})
	clear(k.Values)
	k.Pods, k.Values, k.spare = pods, values, k.Values
	return true
}

// oneList reports whether two snapshots share the same list of pods.
func oneList(a, b []*Pod) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// pair walks through the pods of two snapshots side by side, in their order. For each pod it calls
// each with the indexes of the pod in both, -1 if a snapshot does not have it. It stops when each
// returns false.
func pair(was, now []*Pod, each func(i, j int) bool) {
	i, j := 0, 0
	for i < len(was) || j < len(now) {
		order := 0
		switch {
		case i == len(was):
			order = 1
		case j == len(now):
			order = -1
		case was[i] != now[j]:
			order = was[i].PodRef.Compare(now[j].PodRef)
		}
		at, to := i, j
		if order <= 0 {
			i++
		} else {
			at = -1
		}
		if order >= 0 {
			j++
		} else {
			to = -1
		}
		if !each(at, to) {
			return
		}
	}
}
