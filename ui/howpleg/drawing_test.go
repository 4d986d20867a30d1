package howpleg

import (
	"testing"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/theme"
)

// TestWaysAreDrawn holds that each way of the loop comes to its box, at each size, and that each
// letter of the drawing is a box or a way.
func TestWaysAreDrawn(t *testing.T) {
	look := theme.Default()
	boxes, ways := board(&pane.View{Snapshot: &engine.Snapshot{}, Theme: &look})
	for _, size := range [][2]int{{78, 19}, {118, 35}, {198, 45}} {
		w, h := size[0], size[1]
		if w < leastWidth {
			continue
		}
		all := areas(stretch(w, h))
		drawn := 0
		for letter, at := range all {
			if letter < 'a' || letter > 'z' {
				continue
			}
			drawn++
			from, to := all[byte(ways[letter-'a'].from)], all[byte(ways[letter-'a'].to)]
			across := at.top > max(from.top, to.top) && at.bottom < min(from.bottom, to.bottom) && at.right-at.left+1 == max(from.left, to.left)-min(from.right, to.right)-1
			down := at.left == at.right && at.left > max(from.left, to.left) && at.right < min(from.right, to.right) && (at.bottom == to.top || at.top == to.bottom)
			if !across && !down {
				t.Errorf("%dx%d: way %c stands at %+v, between %+v and %+v", w, h, letter, at, from, to)
			}
		}
		if drawn != len(ways) || len(all) != len(ways)+len(boxes)+1 {
			t.Errorf("%dx%d: %d ways of %d, %d letters for %d boxes", w, h, drawn, len(ways), len(all), len(boxes))
		}
	}
}

// TestStretch holds that the picture is as wide as it may be and never higher, and not there where
// it has no room.
func TestStretch(t *testing.T) {
	for w := leastWidth - 1; w < 260; w += 7 {
		for h := range 60 {
			grid := stretch(w, h)
			if (len(grid) > 0) != (w >= leastWidth && h >= leastHeight) || len(grid) > h {
				t.Fatalf("%dx%d: %d lines", w, h, len(grid))
			}
			for _, line := range grid {
				if len(line) != w {
					t.Fatalf("%dx%d: a line of %d cells", w, h, len(line))
				}
			}
		}
	}
}
