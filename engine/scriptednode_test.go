package engine_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/pleg"
)

// pod adds a pod with a ready sandbox and running containers.
func (r *scripted) pod(name string, containers []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sandboxes = append(r.sandboxes, &pleg.ListedSandbox{
		Pod: podRef(name), Sandbox: pleg.Sandbox{ID: name, State: pleg.Running, CreatedAt: r.now()},
	})
	r.addresses[name] = "10.0.0.1"
	for _, c := range containers {
		r.container(name, c, name+"/"+c, 0)
	}
}

func (r *scripted) container(pod, name, id string, attempt uint32) {
	r.containers = append(r.containers, &pleg.ListedContainer{Pod: podRef(pod), Container: pleg.Container{
		ID: id, Name: name, State: pleg.Running, Attempt: attempt, CreatedAt: r.now(), SandboxID: pod,
	}})
	r.statuses[id] = pleg.ContainerStatus{StartedAt: r.now()}
}

// exit ends a container, or all of them.
func (r *scripted) exit(id string, code int32, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, c := range r.containers {
		if c.ID != id && id != "all" {
			continue
		}
		r.containers[i] = changed(c, func(c *pleg.ListedContainer) { c.State = pleg.Exited })
		st := r.statuses[c.ID]
		st.FinishedAt, st.ExitCode, st.Reason = r.now(), code, reason
		r.statuses[c.ID] = st
	}
}

// changed returns a changed copy of an entry of a list.
func changed[T any](entry *T, change func(*T)) *T {
	next := *entry
	change(&next)
	return &next
}

// restart adds a running container of the same name: the one that has ended stays listed. The id
// of the second try of web/app is web/app.1.
func (r *scripted) restart(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	pod, name, _ := strings.Cut(id, "/")
	var attempt uint32
	for _, c := range r.containers {
		if c.Pod.Name == pod && c.Name == name {
			attempt++
		}
	}
	r.container(pod, name, fmt.Sprintf("%s.%d", id, attempt), attempt)
}

// set puts a container or sandbox in a state for which the runtime has no times.
func (r *scripted) set(id, word string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	state := pleg.State(slices.Index([]string{"", "created", "running", "exited", "unknown"}, word))
	for i, c := range r.containers {
		if c.ID == id {
			r.containers[i] = changed(c, func(c *pleg.ListedContainer) { c.State = state })
		}
	}
	for i, s := range r.sandboxes {
		if s.ID == id {
			r.sandboxes[i] = changed(s, func(s *pleg.ListedSandbox) { s.State = state })
		}
	}
}

// remove removes a pod, a container, or all.
func (r *scripted) remove(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	gone := func(pod, id string) bool { return what == "all" || what == id || what == pod }
	r.sandboxes = slices.DeleteFunc(r.sandboxes, func(s *pleg.ListedSandbox) bool { return gone(s.Pod.Name, s.ID) })
	r.containers = slices.DeleteFunc(r.containers, func(c *pleg.ListedContainer) bool { return gone(c.Pod.Name, c.ID) })
}

// condition sets what Status says.
func (r *scripted) condition(c pleg.Condition) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.IndexFunc(r.conditions, func(d pleg.Condition) bool { return d.Type == c.Type }); i >= 0 {
		r.conditions[i] = c
		return
	}
	r.conditions = append(r.conditions, c)
}

// change changes the runtime.
func (r *scripted) change(do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	do()
}
