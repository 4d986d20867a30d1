package ui

import (
	"testing"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/widget"
)

// numbers is a pane of numbers.
type numbers struct{ layer.TablePane[int, int] }

func (*numbers) Info() pane.Info { return pane.Info{Name: "Numbers", Least: 1, Wanted: 4} }

// Observe sets the rows in the order that was asked for, as every pane with a table does.
func (p *numbers) Observe(v *pane.View, w, h int) {
	p.TablePane.Observe(v, w, h)
	rows := []int{1, 3, 2}
	p.Sort(rows)
	p.Set(rows)
}

// newNumbers returns the pane, whose rows keep their order or not.
func newNumbers(sorts bool) *numbers {
	p := new(numbers)
	p.Name, p.Own, p.Sorts = "numbers", "arrival", sorts
	p.Table = widget.Table[int, int]{
		Columns: []widget.Column[int]{{
			Name: "value", Head: "VALUE", Least: 6,
			Value: func(b widget.Pen, n int) widget.Cell { return widget.Number(b.Text, int64(n)) },
		}},
		Key: func(n int) int { return n },
	}
	return p
}

// TestTablePaneSorts holds that keys sort rows that have an order of their
// choice, and say so; rows that keep theirs stay as they are.
func TestTablePaneSorts(t *testing.T) {
	for _, sorts := range []bool{true, false} {
		for name, sort := range map[string]func(p *numbers, h pane.Host) bool{
			"key": func(p *numbers, h pane.Host) bool { _, ok := p.Do(keymap.SortNext, h); return ok },
		} {
			p := newNumbers(sorts)
			s := layerStage(p, 20, 4)
			first, said := 1, ""
			if sorts {
				first, said = 3, "numbers sorted by value"
			}
			took := sort(p, s)
			if s.Refresh(); took != sorts || p.Rows()[0] != first || s.Said != said {
				t.Errorf("%s, sorts %v: taken %v, rows %v, said %q", name, sorts, took, p.Rows(), s.Said)
			}
		}
	}
}
