package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// node returns a driver that has settled n pods of three containers each, and
// their lists.
func node(t testing.TB, n int) (*driver, []pleg.ListedSandbox, []pleg.ListedContainer) {
	t.Helper()
	e, err := New(Config{Runtime: &fakeRuntime{}})
	if err != nil {
		t.Fatal(err)
	}
	var sandboxes []pleg.ListedSandbox
	var containers []pleg.ListedContainer
	for i := range n {
		pod := ref(fmt.Sprintf("pod-%04d", i))
		id := fmt.Sprintf("%064d", i)
		sandboxes = append(sandboxes, pleg.ListedSandbox{Pod: pod, Sandbox: pleg.Sandbox{ID: id, State: pleg.Running}})
		for c := range 3 {
			containers = append(containers, pleg.ListedContainer{Pod: pod, Container: pleg.Container{
				ID: fmt.Sprintf("%s%d", id[1:], c), Name: fmt.Sprint("c", c), State: pleg.Running, Image: "registry.example/app:1",
			}})
		}
	}
	d := newDriver(e)
	d.relistWith(sandboxes, containers)
	return d, sandboxes, containers
}

// relistWith does what a relist does, without its calls.
func (d *driver) relistWith(sandboxes []pleg.ListedSandbox, containers []pleg.ListedContainer) {
	now := d.clock.now()
	r := &relist{began: now, listed: true}
	d.relist = r
	d.listedAll(r, listing{sandboxes: sandboxes, containers: containers})
	for next, more := d.core.Next(); more; next, more = d.core.Next() {
		r.moved = true
		d.inspected(r, next.Pod.UID, now, inspection{status: pleg.Compose(next.Pod.PodRef, nil, nil)})
	}
	r.moved = d.release(now) || r.moved
	d.end(r)
}

func (d *driver) publishNow() {
	d.press.hurry()
	d.publish(d.clock.now())
}

func BenchmarkPublish(b *testing.B) {
	b.Run("1000x3/none", func(b *testing.B) {
		d, _, _ := node(b, 1000)
		d.publishNow()
		b.ReportAllocs()
		for b.Loop() {
			d.publishNow()
		}
	})
	b.Run("1000x3/one", func(b *testing.B) {
		d, _, _ := node(b, 1000)
		uid := ref("pod-0500").UID
		b.ReportAllocs()
		for b.Loop() {
			d.pods.edit(uid).Inspected++
			d.publishNow()
		}
	})
	b.Run("1000x3/newcomer", func(b *testing.B) {
		d, _, _ := node(b, 1000)
		b.ReportAllocs()
		for b.Loop() {
			d.pods.changed, d.pods.reorder = true, true
			d.publishNow()
		}
	})
}

// BenchmarkTakeList is what the engine adds to the core's part of a relist in
// which nothing changed.
func BenchmarkTakeList(b *testing.B) {
	d, sandboxes, containers := node(b, 1000)
	d.relistWith(sandboxes, containers)
	b.Run("1000x3/assemble", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			pleg.Assemble(sandboxes, containers, time.Time{})
		}
	})
	b.Run("1000x3/relist", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			d.relistWith(sandboxes, containers)
		}
	})
}
