package widget_test

import (
	"fmt"
	"testing"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/widget"
)

func BenchmarkTable(b *testing.B) {
	rows := make([]row, 4000)
	for i := range rows {
		rows[i] = row{name: fmt.Sprintf("kube-system/coredns-7d89d9b6b8-%05d", i), note: "CrashLoopBackOff: back-off 5m0s restarting failed container", n: i}
	}
	tab := newTable(200, 50, rows...)
	tab.Do(keymap.Bottom)
	b.Run("set", func(b *testing.B) {
		for b.Loop() {
			tab.Set(rows)
		}
	})
	b.Run("draw", func(b *testing.B) {
		p := pen()
		l := text.Line{Buf: make([]byte, 0, 65536)}
		for b.Loop() {
			l.Buf = l.Buf[:0]
			for y := range 50 {
				l.Begin(200)
				tab.Draw(&l, p, y, true)
				l.End()
			}
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	d := write(200, 50, func(d *widget.Doc) {
		d.Many(12_000, func(i int) []text.Span { return []text.Span{{Text: "some label", Width: 24}, slot(fmt.Sprint(i))} })
	})
	for b.Loop() {
		d.Search("nowhere")
	}
}
