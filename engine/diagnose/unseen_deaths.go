package diagnose

import (
	"fmt"
	"strings"

	"github.com/plegtop/plegtop/engine/pleg"
)

// unseenTold is how many deaths that no relist has seen are told by name.
const unseenTold = 3

// nameOf names a container, as far as it is known whose it is.
func nameOf(o pleg.ObjectRef) string {
	if o.Pod.Name == "" || o.Container == "" {
		return strings.TrimSpace(o.Pod.String() + " " + pleg.ShortID(o.ID))
	}
	return o.Path()
}

// unseen says who has died since a finding began, of whom the kubelet cannot know.
func (v *view) unseen(f *Finding) []string {
	if v.Dead == nil {
		return nil
	}
	since := v.Health.ListedAt
	if !f.Since.IsZero() && f.Since.Before(since) {
		since = f.Since
	}
	var names []string
	for i := range v.Dead.All {
		if d := &v.Dead.All[i]; !d.Sandbox && !d.At.Before(since) {
			names = append(names, nameOf(d.ObjectRef))
		}
	}
	n := uint64(len(names)) + v.Dead.More
	if len(names) == 0 {
		return nil
	}
	have := " have"
	if n == 1 {
		have = " has"
	}
	said := fmt.Sprintf("%s%s died since, which the kubelet cannot see: %s", count(n, "container"), have, join(names[:min(len(names), unseenTold)]))
	if left := n - min(n, unseenTold); left > 0 {
		said += fmt.Sprintf(" and %s more", thousands(left))
	}
	return []string{said}
}
