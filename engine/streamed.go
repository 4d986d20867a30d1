package engine

import (
	"slices"

	"github.com/plegtop/plegtop/engine/pleg"
)

// mostAdded is how many containers and sandboxes the stream may add to what the last lists
// have shown: a stream without sense would fill the memory until the next ones.
const mostAdded = 10_000

// streamed shows what the stream has told of a pod, as what the cache holds, and as what
// there is of it: the record knows of it only with the next relist.
func (t *pods) streamed(core *pleg.Core, u pleg.Upstream) {
	uid := u.Status.UID
	was := &pleg.Pod{}
	p, known := t.byUID[uid]
	if known {
		was = p.Seen()
	}
	st, held := core.Cache().Entry(uid)
	if !t.listed || !known && !held { // the last word of a pod that has gone
		return
	}
	now := merge(was, u)
	if !held && len(now.Sandboxes) == 0 {
		t.drop(uid)
		return
	}
	switch added := len(now.Sandboxes) + len(now.Containers) - len(was.Sandboxes) - len(was.Containers); {
	case added <= 0, t.added+added <= mostAdded:
		t.added += added
	case known:
		now = was
	default:
		return
	}
	p = t.edit(uid)
	p.PodRef, p.Status, p.StatusErr, p.StatusAt = u.Status.PodRef, st.Status, st.Err, st.Modified
	p.Current = now
}

// merge returns a pod as it was seen last, with what an event tells of it. The status of
// an event is of one sandbox and its containers; the pod may have older ones.
func merge(was *pleg.Pod, u pleg.Upstream) *pleg.Pod {
	p := was.Clone()
	p.PodRef = u.Status.PodRef
	for _, s := range u.Status.Sandboxes {
		at := slices.IndexFunc(p.Sandboxes, func(b pleg.Sandbox) bool { return b.ID == s.ID })
		if at < 0 {
			at = len(p.Sandboxes)
			p.Sandboxes = append(p.Sandboxes, pleg.Sandbox{})
		}
		p.Sandboxes[at] = pleg.Sandbox{ID: s.ID, State: s.State, Attempt: s.Attempt, CreatedAt: s.CreatedAt}
	}
	mergeContainers(p, u.Status)
	if u.Signal == pleg.SignalDeleted {
		p.Sandboxes = slices.DeleteFunc(p.Sandboxes, func(b pleg.Sandbox) bool { return b.ID == u.ID })
		p.Containers = slices.DeleteFunc(p.Containers, func(c pleg.Container) bool { return c.ID == u.ID || c.SandboxID == u.ID })
	}
	return p
}

func mergeContainers(p *pleg.Pod, st *pleg.PodStatus) {
	at := make(map[string]int, len(p.Containers))
	for i := range p.Containers {
		at[p.Containers[i].ID] = i
	}
	for i := range st.Containers {
		s := &st.Containers[i]
		c := pleg.Container{
			ID: s.ID, Name: s.Name, State: s.State, Attempt: s.Attempt, CreatedAt: s.CreatedAt, Image: s.Image,
			SandboxID: st.Sandboxes[0].ID,
		}
		if i, known := at[s.ID]; known {
			c.Image = p.Containers[i].Image
			p.Containers[i] = c
		} else {
			p.Containers = append(p.Containers, c)
		}
	}
}
