package sim

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/host"
	"github.com/plegtop/plegtop/engine/pleg"
)

// The node's control groups tell what becomes of its containers' processes as a kernel's
// do, and of one that the runtime does not know of.
func TestHostRootTellsOfControlGroups(t *testing.T) {
	s, _ := start(t, "tour")
	n, err := host.New(host.Config{Root: s.HostRoot(), Offline: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	heard, done := make(chan pleg.Upstream, 1000), make(chan error, 1)
	go func() { done <- n.Cgroups(ctx, func(u pleg.Upstream) { heard <- u }) }()
	await := func(signal pleg.Signal, id string, limit time.Duration) bool {
		for late := time.After(limit); ; {
			select {
			case u := <-heard:
				if u.Signal == signal && u.ID == id {
					return true
				}
			case err := <-done:
				t.Fatal("ended: ", err)
			case <-late:
				return false
			}
		}
	}
	want := func(signal pleg.Signal, id string) {
		t.Helper()
		if !await(signal, id, 20*time.Second) {
			t.Fatalf("not told that %s has %v", id, signal)
		}
	}
	edit := func(do func(*world)) { s.edit(func() { do(s.scene.world) }) }
	p, wait := addPair(s), 50*time.Millisecond
	for !await(pleg.SignalStarted, p.Sandbox, wait) {
		p, wait = addPair(s), 2*wait // what is there when it begins is not told
	}
	a, b := p.Containers["a"], p.Containers["b"]
	edit(func(w *world) { w.run(w.containerOf[b], w.clock) })
	want(pleg.SignalStarted, b)
	if err := s.ExitContainer(a, 1, "", ""); err != nil {
		t.Fatal(err)
	}
	want(pleg.SignalStopped, a)
	edit(func(w *world) { w.setFate(w.containerOf[b], gone) })
	want(pleg.SignalStopped, b)
	edit(func(w *world) { w.stopSandbox(w.sandboxOf[p.Sandbox]) })
	want(pleg.SignalStopped, p.Sandbox)
	edit(func(w *world) { w.removePod(w.pod(p.UID)) })
	edit(func(w *world) { w.changes++ })
	if left, _ := filepath.Glob(filepath.Join(s.HostRoot(), "sys/fs/cgroup/*/*/"+strings.ReplaceAll("kubepods-burstable-pod"+p.UID, "-", "?")+"*")); len(left) > 0 {
		t.Errorf("left of its groups: %q", left)
	}
	if events, err := os.ReadFile(filepath.Join(s.HostRoot(), "sys/fs/cgroup/init.scope/cgroup.events")); err != nil || string(events) != "populated 1\nfrozen 0\n" {
		t.Errorf("init.scope: %q, %v", events, err)
	}
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
}
