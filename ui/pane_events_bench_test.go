package ui

import (
	"testing"
	"time"

	"github.com/plegtop/plegtop/ui/text"
)

// A frame of 200x45 with as many events as are kept, of which some are new.
func BenchmarkEvents(b *testing.B) {
	v := eventsView(deaths(1, 10_000)...)
	s := eventsStage(v, 198, 45)
	var l text.Line
	seq := uint64(10_000)
	b.ReportAllocs()
	for b.Loop() {
		later(s, 2*time.Second, deaths(seq+1, seq+3)...)
		seq += 3
		l.Buf = l.Buf[:0]
		for y := range s.H {
			l.Begin(s.W)
			s.Draw(&l, y, true)
			l.Under()
			l.End()
		}
	}
}
