package widget

import (
	"regexp"
	"testing"
	"time"
)

// marksOf returns the marks of a scale by the cell at which they begin.
func marksOf(scale string) map[int]string {
	all := make(map[int]string)
	for _, at := range regexp.MustCompile(`\S+`).FindAllStringIndex(scale, -1) {
		all[at[0]] = scale[at[0]:at[1]]
	}
	return all
}

// Whatever the widths, every mark is whole and stands at the cell of its time.
func TestMarksStandAtTheirTimes(t *testing.T) {
	time.Local = time.UTC
	for _, width := range zooms {
		a := &Axis{Width: width}
		a.Follow(noon.Add(17 * time.Second))
		for w := range 200 {
			ago, clock := a.Ago(w), a.Clock(w)
			if len(ago) != w || len(clock) != w {
				t.Fatalf("%v over %d cells: scales are %q and %q", width, w, ago, clock)
			}
			for i, mark := range marksOf(ago) {
				if back, err := time.ParseDuration(mark); mark != "now" && (err != nil || i != w-1+int(back/a.PerCell(w))) {
					t.Errorf("%v over %d cells: %q is in cell %d", width, w, mark, i)
				}
			}
			for i, mark := range marksOf(clock) {
				at, err := time.Parse("2006-01-02 15:04:05", noon.Format("2006-01-02 ")+(mark + ":00")[:8])
				if err != nil || i != a.Index(w, at) {
					t.Errorf("%v over %d cells: %q is in cell %d", width, w, mark, i)
				}
			}
		}
	}
}
