package pleg

import "slices"

// A watch is a condition that somebody waits for, on one pod.
type watch struct {
	key     string
	version int // grows when the condition under this key is replaced
	met     func(*PodStatus) bool
}

// watches holds the conditions of each pod in the order in which their keys
// were first set.
type watches map[UID][]watch

// SetWatch has a pod inspected in every relist until met returns true for its
// status; a [ConditionMet] event follows then. A condition under the same key
// replaces the one before. Conditions of a pod that a relist of all pods does
// not list are dropped. met must depend on nothing but the status. Only the
// relists of 1.32 to 1.35 know watch conditions; for others this does nothing.
func (c *Core) SetWatch(uid UID, key string, met func(*PodStatus) bool) {
	if c.rules.conditions {
		c.watches.set(uid, key, met)
	}
}

// WhileRunning turns a condition on one container into one on its pod. It is
// met, too, once no container of that name is running: nothing is left to wait
// for then. Of several containers of that name the newest counts.
func WhileRunning(container string, met func(*ContainerStatus) bool) func(*PodStatus) bool {
	return func(st *PodStatus) bool {
		i := slices.IndexFunc(st.Containers, func(s ContainerStatus) bool { return s.Name == container })
		return i < 0 || st.Containers[i].State != Running || met(&st.Containers[i])
	}
}

func (w watches) set(uid UID, key string, met func(*PodStatus) bool) {
	list := w[uid]
	i := slices.IndexFunc(list, func(x watch) bool { return x.key == key })
	if i < 0 {
		w[uid] = append(list, watch{key: key, met: met})
		return
	}
	list[i].version++
	list[i].met = met
}

// purge drops the conditions of pods that are not listed.
func (w watches) purge(records map[UID]*record) {
	for uid := range w {
		if r, ok := records[uid]; !ok || r.current == nil {
			delete(w, uid)
		}
	}
}

// meet tries the conditions as they were before the inspection, and reports
// whether any is met. Those go, but for one that was replaced meanwhile.
func (w watches) meet(uid UID, before []watch, st *PodStatus) bool {
	any := false
	for _, b := range before {
		if !b.met(st) {
			continue
		}
		any = true
		w[uid] = slices.DeleteFunc(w[uid], func(x watch) bool {
			return x.key == b.key && x.version == b.version
		})
	}
	if len(w[uid]) == 0 {
		delete(w, uid)
	}
	return any
}
