package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/ledger"
)

// A storm of 100,000 events a second takes neither time from relists and keys nor memory,
// and each event that is not looked at is counted.
func TestStormStarvesNobody(t *testing.T) {
	f := &fakeStream{t: t}
	c := Config{Streams: []Stream{{Source: ledger.FromCgroup, On: true, Run: f.Run}}}
	bubble(t, c, func(r *fakeRuntime) { r.pod("web", "app") }, func(b *bench) {
		calm := b.after(5 * time.Second).Relists.Count
		n := 0
		for range 5000 {
			for range 100 {
				n++
				f.says(stopped(fmt.Sprint("foreign-", n)))
			}
			time.Sleep(time.Millisecond)
		}
		b.fake.exit("web/app", 0, "")
		f.says(stopped("web/app"))
		s := b.after(3 * time.Second)
		b.ask(func() { b.Pause() })
		if s := b.fresh(); !s.Paused {
			t.Error("a key is not heeded")
		}
		got := s.Sources[0]
		if looked := uint64(5*batch*int(time.Second/batchPace) + queueRoom); got.Received > looked+batch || got.Received < looked/2 || got.Received+got.Lost != uint64(n)+1 {
			t.Errorf("%d received and %d lost of %d", got.Received, got.Lost, n)
		}
		if s.Relists.Count < 2*calm-1 || s.UnseenMore == 0 {
			t.Errorf("%d relists after as long as %d without a storm; %d unseen more", s.Relists.Count, calm, s.UnseenMore)
		}
		if n := b.shell.machine.transitions.Size().IDs; n > ledger.MostStrangers+10 {
			t.Errorf("%d ids are kept", n)
		}
	})
}
