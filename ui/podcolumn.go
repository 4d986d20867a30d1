package ui

import (
	"cmp"
	"slices"
	"strings"
)

// A columnID names a column of the pods pane, and so what it can be sorted by.
type columnID uint8

const (
	colNamespace columnID = iota
	colPod
	colState
	colReady
	colContainers
	colExit
	colRestarts
	colAge
	colEvent
	colInspect
	colWorst
	colRemark
	columnCount
)

// A column says how much room one column wants.
type column struct {
	head  string
	least int // cells
	most  int // cells that are of use, if there is room
	rank  int // columns of the highest rank are dropped first
	right bool
}

var podColumns = [columnCount]column{
	colNamespace:  {head: "NAMESPACE", least: 10, most: 20, rank: 2},
	colPod:        {head: "POD", least: 14, most: 48, rank: 0},
	colState:      {head: "STATE", least: 11, most: 11, rank: 0},
	colReady:      {head: "READY", least: 5, most: 5, rank: 1, right: true},
	colContainers: {head: "CTRS", least: 5, most: 5, rank: 7},
	colExit:       {head: "EXIT", least: 4, most: 4, rank: 3, right: true},
	colRestarts:   {head: "RST", least: 4, most: 4, rank: 3, right: true},
	colAge:        {head: "AGE", least: 5, most: 5, rank: 4, right: true},
	colEvent:      {head: "LAST EVENT", least: 13, most: 13, rank: 6},
	colInspect:    {head: "INSPECT", least: 7, most: 7, rank: 5, right: true},
	colWorst:      {head: "WORST", least: 6, most: 6, rank: 8, right: true},
	colRemark:     {head: "REMARK", least: 8, most: 200, rank: 5},
}

// columnNamed returns the column whose head is name, in any case.
func columnNamed(name string) (columnID, bool) {
	for id := range podColumns {
		if strings.EqualFold(strings.ReplaceAll(podColumns[id].head, " ", ""), strings.ReplaceAll(name, " ", "")) {
			return columnID(id), true
		}
	}
	return colNamespace, false
}

// A shownColumn is a column that is shown, and how wide.
type shownColumn struct {
	id    columnID
	width int
}

// A need is how wide the texts are that three of the columns have to show.
type need struct{ namespace, pod, remark int }

// least returns the fewest cells that column id should have, of w for all. A
// remark makes do with less where there is no more.
func (n need) least(id columnID, w int) int {
	switch id {
	case colPod:
		return max(podColumns[id].least, min(n.pod, pick(w < leastWidth, w/2, w*2/5), 38))
	case colNamespace:
		return max(podColumns[id].least, min(n.namespace, 12))
	case colRemark:
		return max(podColumns[id].least, min(n.remark, 24))
	}
	return podColumns[id].least
}

// arrange chooses the columns that fit in w cells, one cell between two, and
// gives what is left to names and remarks. The widths that these really have
// bound what they get; without a remark there is no column for it.
func arrange(w int, n need) []shownColumn {
	shown := make([]shownColumn, 0, columnCount)
	for _, id := range byRank() {
		room, width := w-used(shown)-1, n.least(id, w)
		if id == colRemark {
			width = min(width, max(room, podColumns[id].least))
		}
		if (len(shown) == 0 || width <= room) && (id != colRemark || n.remark > 0) {
			shown = append(shown, shownColumn{id, width})
		}
	}
	slices.SortFunc(shown, func(a, b shownColumn) int { return cmp.Compare(a.id, b.id) })
	spare := w - used(shown)
	for _, grow := range []shownColumn{{colPod, n.pod}, {colNamespace, n.namespace}, {colRemark, podColumns[colRemark].most}, {colPod, podColumns[colPod].most * 2}} {
		for i := range shown {
			if shown[i].id == grow.id {
				more := max(0, min(spare, grow.width-shown[i].width))
				shown[i].width += more
				spare -= more
			}
		}
	}
	return shown
}

// used returns the cells that columns take, with the gaps between them.
func used(columns []shownColumn) int {
	n := max(0, len(columns)-1)
	for _, c := range columns {
		n += c.width
	}
	return n
}

func byRank() []columnID {
	ids := make([]columnID, columnCount)
	for i := range ids {
		ids[i] = columnID(i)
	}
	slices.SortStableFunc(ids, func(a, b columnID) int { return cmp.Compare(podColumns[a].rank, podColumns[b].rank) })
	return ids
}

// compare returns the order of two pods by one column; 0 leaves them in the
// order of the snapshot.
func (id columnID) compare(a, b *podInfo) int {
	switch id {
	case colPod:
		return cmp.Compare(a.pod.Name, b.pod.Name)
	case colState:
		return cmp.Compare(b.state, a.state)
	case colReady, colContainers:
		return cmp.Or(cmp.Compare(a.running-a.wanted, b.running-b.wanted), cmp.Compare(b.wanted, a.wanted))
	case colExit:
		return cmp.Compare(b.exit, a.exit)
	case colRestarts:
		return cmp.Compare(b.restarts, a.restarts)
	case colAge:
		return b.created.Compare(a.created)
	case colEvent:
		return b.pod.LastEvent.SeenAt.Compare(a.pod.LastEvent.SeenAt)
	case colInspect:
		if (a.out != nil) != (b.out != nil) {
			return pick(a.out != nil, -1, 1)
		}
		return cmp.Compare(b.pod.InspectLast, a.pod.InspectLast)
	case colWorst:
		return cmp.Compare(b.pod.InspectWorst, a.pod.InspectWorst)
	case colRemark:
		return cmp.Compare(b.remark, a.remark)
	}
	return 0
}
