package ui

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
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
	all      engine.PerPod[*podInfo] // of all pods, shown or not
	rows     []podRow
	shown    []*podInfo // the pods among rows
	troubled int        // pods with a problem, shown or not
	hung     int        // those of them with a call that hangs

	troubles map[pleg.UID]diagnose.Trouble  // of the pods that have one
	show     func(*podInfo, time.Time) bool // see filter
	timed    bool
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
	return pods{open: map[pleg.UID]bool{}}
}

// observe takes over the pods of s. Only what changed is worked out anew.
func (p *pods) observe(s *engine.Snapshot) {
	hanging := hangingCalls(s)
	informed := func(pod *engine.Pod, _ **podInfo) *podInfo {
		return inform(pod, hanging[pod.UID], p.troubles[pod.UID])
	}
	changed := p.all.Update(s.Pods, informed)
	p.troubled, p.hung = 0, 0
	for i, info := range p.all.Values {
		if info.trouble != p.troubles[info.pod.UID] || !sameCall(info.out, hanging[info.pod.UID]) {
			info = informed(info.pod, nil)
			p.all.Values[i], changed = info, true
		}
		if info.out != nil {
			p.hung++
		}
		if info.problem != "" {
			p.troubled++
		}
	}
	if !changed && !p.timed {
		return
	}
	for uid := range p.open {
		if p.info(uid) == nil {
			delete(p.open, uid)
		}
	}
	p.rebuild(s.At)
}

// filter chooses the pods that are shown; nil for all. Timed says that which they are
// can change though they do not.
func (p *pods) filter(show func(*podInfo, time.Time) bool, timed bool) {
	p.show, p.timed = show, timed
	for _, info := range p.all.Values {
		info.sifted = false
	}
}

// shows reports whether the filter lets a pod through.
func (p *pods) shows(info *podInfo, at time.Time) bool {
	if p.show == nil {
		return true
	}
	if !info.sifted || p.timed {
		info.sifted, info.passed = true, p.show(info, at)
	}
	return info.passed
}

// info returns what is known of a pod; nil if there is none.
func (p *pods) info(uid pleg.UID) *podInfo {
	i := slices.IndexFunc(p.all.Pods, func(pod *engine.Pod) bool { return pod.UID == uid })
	if i < 0 {
		return nil
	}
	return p.all.Values[i]
}

// rebuild chooses and orders the rows, and keeps the cursor on what it was on.
func (p *pods) rebuild(at time.Time) {
	shown := p.shown[:0]
	for _, info := range p.all.Values {
		if (!p.trouble || info.problem != "") && p.shows(info, at) {
			shown = append(shown, info)
		}
	}
	p.order(shown)
	clear(p.shown[min(len(shown), len(p.shown)):])
	p.shown = shown
	before := p.rows
	p.rows = p.rows[:0]
	for _, info := range shown {
		p.rows = append(p.rows, podRow{info, -1})
		if p.open[info.pod.UID] {
			for i := range info.tree {
				p.rows = append(p.rows, podRow{info, i})
			}
		}
	}
	clear(before[min(len(p.rows), len(before)):])
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
		n = need{max(n.namespace, info.need.namespace), max(n.pod, info.need.pod), max(n.remark, info.need.remark)}
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
	index := p.cursor
	if row, ok := p.current(); !ok || row.place() != p.at {
		index = slices.IndexFunc(p.rows, func(r podRow) bool { return r.place() == p.at })
	}
	if index < 0 {
		index = slices.IndexFunc(p.rows, func(r podRow) bool { return r.tree < 0 && r.info.pod.UID == p.at.uid })
	}
	if index >= 0 {
		p.cursor = index
	}
	p.scroll.clamp(len(p.rows))
	if index >= 0 || p.info(p.at.uid) == nil {
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
