package ui

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/text"
)

// A podRow is one line of the pods pane: a pod, or something in it.
type podRow struct {
	info *podInfo
	tree int // index in info.tree; -1 for the pod itself
}

// A place is what the cursor stands on, whatever line that is on.
type place struct {
	uid pleg.UID
	id  string // of a sandbox or container; empty for the pod
}

func (r podRow) place() place {
	if r.tree < 0 {
		return place{uid: r.info.pod.UID}
	}
	return place{r.info.pod.UID, r.info.tree[r.tree].id}
}

// pods is the pane of pods: which are shown, in what order, and where the
// cursor is.
type pods struct {
	scroll
	infos    map[pleg.UID]*podInfo // of all pods, shown or not
	all      []*podInfo            // in the order of the snapshot
	rows     []podRow
	shown    []*podInfo // the pods among rows
	troubled int        // pods with a problem, shown or not
	hung     int        // those of them with a call that hangs

	troubles map[pleg.UID]diagnose.Trouble // of the pods that have one
	show     func(*podInfo, time.Time) bool
	trouble  bool // problems only
	sort     columnID
	invert   bool
	open     map[pleg.UID]bool // unfolded

	at      place // under the cursor
	columns []shownColumn
	width   int
	need    need // the widest texts that were shown since the last resize
}

func newPods() pods {
	return pods{infos: map[pleg.UID]*podInfo{}, open: map[pleg.UID]bool{}}
}

// observe takes over the pods of s. Only what changed is worked out anew.
func (p *pods) observe(s *engine.Snapshot) {
	p.all = p.all[:0:0]
	p.troubled, p.hung = 0, 0
	for _, pod := range s.Pods {
		info := p.infos[pod.UID]
		if info == nil || info.pod != pod || info.trouble != p.troubles[pod.UID] || info.out != nil || hangsIn(s, pod.UID) != nil {
			info = inform(pod, s, p.troubles[pod.UID])
			p.infos[pod.UID] = info
		}
		if info.out != nil {
			p.hung++
		}
		if info.problem != "" {
			p.troubled++
		}
		p.all = append(p.all, info)
	}
	p.forget()
	p.rebuild(s.At)
}

// forget drops what belongs to pods that are gone.
func (p *pods) forget() {
	if len(p.infos) == len(p.all) {
		return
	}
	live := make(map[pleg.UID]*podInfo, len(p.all))
	for _, info := range p.all {
		live[info.pod.UID] = info
	}
	p.infos = live
	for uid := range p.open {
		if live[uid] == nil {
			delete(p.open, uid)
		}
	}
}

// rebuild chooses and orders the rows, and keeps the cursor on what it was on.
func (p *pods) rebuild(at time.Time) {
	shown := make([]*podInfo, 0, len(p.all))
	for _, info := range p.all {
		if (!p.trouble || info.problem != "") && (p.show == nil || p.show(info, at)) {
			shown = append(shown, info)
		}
	}
	p.order(shown)
	p.shown = shown
	p.rows = p.rows[:0:0]
	for _, info := range shown {
		p.rows = append(p.rows, podRow{info, -1})
		if p.open[info.pod.UID] {
			for i := range info.tree {
				p.rows = append(p.rows, podRow{info, i})
			}
		}
	}
	p.measure()
	p.keepCursor()
}

func (p *pods) order(shown []*podInfo) {
	if p.sort != colNamespace {
		slices.SortStableFunc(shown, p.sort.compare)
	}
	if p.invert {
		slices.Reverse(shown)
	}
}

// measure widens the columns of names and remarks where a longer one has come.
// They do not shrink before the next resize: columns that jump are hard to read.
func (p *pods) measure() {
	n := p.need
	for _, info := range p.shown {
		n.namespace = max(n.namespace, min(text.Width(info.pod.Namespace), podColumns[colNamespace].most))
		n.pod = max(n.pod, min(text.Width(info.pod.Name)+2, podColumns[colPod].most))
		if info.remark != "" {
			n.remark = max(n.remark, min(text.Width(info.remark), podColumns[colRemark].most))
		}
	}
	if n != p.need {
		p.need = n
		p.columns = arrange(p.width, n)
	}
}

// resize gives the pane w cells and h rows below its heads.
func (p *pods) resize(w, h int) {
	if w != p.width {
		p.width, p.need = w, need{}
		p.columns = arrange(w, p.need)
		p.measure()
	}
	p.scroll.resize(h, len(p.rows))
}

// keepCursor puts the cursor back on the object that it was on: on the pod if its
// container has gone, and on the same line if the pod has gone too.
func (p *pods) keepCursor() {
	index := slices.IndexFunc(p.rows, func(r podRow) bool { return r.place() == p.at })
	if index < 0 {
		index = slices.IndexFunc(p.rows, func(r podRow) bool { return r.tree < 0 && r.info.pod.UID == p.at.uid })
	}
	if index >= 0 {
		p.cursor = index
	}
	p.scroll.clamp(len(p.rows))
	if index >= 0 || p.infos[p.at.uid] == nil {
		p.note() // else a filter hides it, and the next may show it again
	}
}

// note remembers what is under the cursor.
func (p *pods) note() {
	if row, ok := p.current(); ok {
		p.at = row.place()
	}
}

// current returns the row under the cursor, and false if there is none.
func (p *pods) current() (podRow, bool) {
	if p.cursor < 0 || p.cursor >= len(p.rows) {
		return podRow{}, false
	}
	return p.rows[p.cursor], true
}

// jump puts the cursor on a pod whose call hangs, unless it is there already;
// else on the next pod with a problem in the direction of step, round the end.
// It reports whether there was one among those shown.
func (p *pods) jump(step int) bool {
	here, _ := p.current()
	wanted := func(r podRow) bool { return r.tree < 0 && r.info.problem != "" }
	if p.hung > 0 && (here.info == nil || here.info.out == nil) {
		wanted = func(r podRow) bool { return r.tree < 0 && r.info.out != nil }
	}
	n := len(p.rows)
	for i := 1; i <= n; i++ {
		to := ((p.cursor+i*step)%n + n) % n
		if wanted(p.rows[to]) {
			p.cursor = to
			p.clamp(n)
			p.note()
			return true
		}
	}
	return false
}

// fold folds or unfolds the pod under the cursor; the cursor goes to the pod.
func (p *pods) fold(open bool, at time.Time) {
	row, ok := p.current()
	if !ok {
		return
	}
	uid := row.info.pod.UID
	if open {
		p.open[uid] = true
	} else {
		delete(p.open, uid)
		p.at = place{uid: uid}
	}
	p.rebuild(at)
}

// isOpen reports whether the pod under the cursor is unfolded.
func (p *pods) isOpen() bool {
	row, ok := p.current()
	return ok && p.open[row.info.pod.UID]
}

// sortNext sorts by the next column that is shown, or by the one before it.
func (p *pods) sortNext(step int, at time.Time) columnID {
	i := slices.IndexFunc(p.columns, func(s shownColumn) bool { return s.id == p.sort })
	n := len(p.columns)
	if n == 0 {
		return p.sort
	}
	p.sort = p.columns[((max(i, 0)+step)%n+n)%n].id
	p.rebuild(at)
	return p.sort
}
