package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
)

// networks sets what the status of a sandbox is changed by; nil for nothing.
func (r *fakeRuntime) networks(change func(*pleg.SandboxStatus)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.network = change
}

// down makes the sandbox of a pod not ready.
func (r *fakeRuntime) down(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.sandboxes {
		if r.sandboxes[i].ID == id {
			r.sandboxes[i].State = pleg.Exited
		}
	}
}

// networkEvents returns the derived events of a feed so far, and how many there were of others.
func networkEvents(t *testing.T, b *bench) (derived []string, others int) {
	t.Helper()
	b.fresh()
	u, err := b.Feed().Next(b.t.Context())
	if err != nil {
		t.Fatal(err)
	}
	last := uint64(0)
	for _, e := range u.Events {
		if e.Seq != last+1 {
			t.Errorf("event %d after %d", e.Seq, last)
		}
		if last = e.Seq; e.Delivery != pleg.Derived {
			others++
			continue
		}
		if !e.Sandbox || e.From != e.To || e.At.IsZero() || e.HasLag {
			t.Errorf("derived: %+v", e)
		}
		derived = append(derived, fmt.Sprintf("%v %s", e.Kind, e.ID))
	}
	return derived, others
}

// TestNetworkEvents holds what is derived of the network of a sandbox that comes, once for
// each.
func TestNetworkEvents(t *testing.T) {
	bare := func(s *pleg.SandboxStatus) { s.IPs = nil }
	for _, tt := range []struct {
		name string
		play func(*bench)
		want []string
	}{
		{"at the start", func(*bench) {}, nil},
		{"an address", func(b *bench) { b.fake.pod("new", "app") }, []string{"NetworkSetUp new"}},
		{"no address", func(b *bench) {
			b.fake.networks(bare)
			b.fake.pod("new")
		}, []string{"NetworkFailed new"}},
		{"no address yet", func(b *bench) {
			b.fake.networks(bare)
			b.fake.pod("new", "app")
			b.after(5 * time.Second)
			b.fake.networks(nil)
			b.fake.exit("new/app", 1, "") // so that it is inspected again
		}, []string{"NetworkSetUp new"}},
		{"no address, and paused", func(b *bench) {
			b.fake.networks(bare)
			b.fake.pod("new")
			b.after(2 * time.Second)
			b.ask(b.Pause)
			b.after(time.Hour)
			if got, _ := networkEvents(b.t, b); got != nil {
				b.t.Errorf("paused: %v", got)
			}
		}, nil},
		{"on the node's network", func(b *bench) {
			b.fake.networks(func(s *pleg.SandboxStatus) { s.IPs, s.HostNetwork = nil, true })
			b.fake.pod("new")
		}, nil},
		{"not ready", func(b *bench) {
			b.fake.networks(bare)
			b.fake.pod("new")
			b.fake.down("new")
		}, []string{"NetworkFailed new"}},
		{"short-lived", func(b *bench) {
			b.fake.networks(bare)
			b.fake.pod("new", "app")
			b.fake.down("new")
		}, nil},
		{"not ready, and slowly listed", func(b *bench) {
			b.fake.networks(bare)
			b.fake.script("ListPodSandbox", behaviour{delay: 10 * time.Second})
			b.after(2 * time.Second)
			b.fake.pod("new")
			b.after(5 * time.Second)
			b.fake.down("new")
		}, nil},
		{"not ready, older than the lists that lacked it", func(b *bench) {
			b.fake.networks(bare)
			b.fake.pod("new")
			b.fake.down("new")
			b.fake.mu.Lock()
			defer b.fake.mu.Unlock()
			b.fake.sandboxes[len(b.fake.sandboxes)-1].CreatedAt = time.Now().Add(-time.Hour)
		}, []string{"NetworkFailed new"}},
		{"not ready, after slow lists, and just created", func(b *bench) {
			b.fake.networks(bare)
			b.fake.script("ListContainers", behaviour{delay: 10 * time.Second})
			b.after(2 * time.Second)
			b.fake.behave()
			b.after(9 * time.Second)
			b.fake.pod("new")
			b.fake.down("new")
		}, []string{"NetworkFailed new"}},
		{"gone at once", func(b *bench) {
			b.fake.networks(bare)
			b.fake.pod("new")
			b.after(2 * time.Second)
			b.fake.remove("new")
		}, nil},
		{"listed, left out and listed again", func(b *bench) {
			b.fake.pod("new")
			b.after(2 * time.Second)
			b.fake.remove("new")
			b.after(2 * time.Second)
			b.fake.pod("new")
		}, []string{"NetworkSetUp new"}},
		{"cannot be inspected", func(b *bench) {
			b.fake.script("PodSandboxStatus new", behaviour{err: &call.Error{Op: call.PodSandboxStatus, Kind: call.ErrOther, Code: "Unknown", Text: "too busy"}})
			b.fake.pod("new")
			b.after(time.Minute)
			b.fake.behave()
		}, []string{"NetworkSetUp new"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, Config{}, onePod, func(b *bench) {
				b.fresh()
				tt.play(b)
				b.after(AddressWithin + 5*time.Second)
				got, _ := networkEvents(t, b)
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("derived (-want +got):\n%s", diff)
				}
				if s := b.fresh(); int(s.Channel.Delivered+s.Channel.Filtered)+len(got) != int(b.last()) || s.Channel.Len != 0 {
					t.Errorf("channel %+v of %d events", s.Channel, b.last())
				}
				for _, w := range b.fresh().Workers.All {
					if w.Last.Delivery == pleg.Derived {
						t.Errorf("%v is woken by %v", w.Pod, w.Last.Kind)
					}
				}
			})
		})
	}
}

// A sandbox that an event source saw start was up, though the relist found it ended.
func TestNetworkOfASandboxThatASourceSawStart(t *testing.T) {
	watch(t, Config{}, ledger.FromCRI, func(w *watching) {
		w.fake.networks(func(s *pleg.SandboxStatus) { s.IPs = nil })
		for _, id := range []string{"short", "failed"} {
			w.fake.pod(id)
			w.fake.down(id)
		}
		w.f.says(says(pleg.SignalStarted, "short"), stopped("short"))
		w.after(time.Second)
		w.wants("two sandboxes", "delivered ContainerDied failed relist", "derived NetworkFailed failed relist",
			"unseen ContainerStarted short cri", "delivered ContainerDied short cri 500ms")
	})
}
