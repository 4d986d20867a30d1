package engine

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A world answers a machine by chance, in simulated time: pods come, go and crash,
// calls are quick, slow, fail or hang, people press keys.
type world struct {
	*rand.Rand
	m   *machine
	now time.Time
	out map[CallID]*flying
	log []logged

	looking *Looking // the look at the node that is out; nil if none is
	lookAt  time.Time

	talkers []talker  // streams that are open
	talkAt  time.Time // when one of them says something; zero if none is open
	calm    bool      // nobody presses a key, and no stream breaks
	said    []SourceEvent

	sandboxes  []pleg.ListedSandbox
	containers []pleg.ListedContainer
	made       int
	mood       int // how the runtime is at present
	moodEnds   time.Time
}

// A flying call returns at a certain moment, at its deadline the latest.
type flying struct {
	Call
	at  time.Time
	err *call.Error
}

type logged struct {
	at time.Time
	in Input
}

func newWorld(t testing.TB, seed uint64, c Config, p answers.Policy) *world {
	t.Helper()
	return newWorldAt(t, time.Unix(1_000_000, 0).UTC(), seed, c, p)
}

func newWorldAt(t testing.TB, start time.Time, seed uint64, c Config, p answers.Policy) *world {
	t.Helper()
	c.Runtime = &fakeRuntime{}
	c.Look = seen() // never called: the world answers itself
	w := &world{Rand: rand.New(rand.NewPCG(seed, 1)), now: start, out: make(map[CallID]*flying)}
	c = c.withDefaults()
	if !p.Once {
		p = running(c)
	}
	m := newMachine(c, p, w.now)
	w.m = m
	for range 1 + w.IntN(5) {
		w.addPod()
	}
	return w
}

func (w *world) addPod() {
	w.made++
	name := fmt.Sprintf("pod-%d", w.made)
	w.sandboxes = append(w.sandboxes, pleg.ListedSandbox{Pod: ref(name), Sandbox: pleg.Sandbox{ID: name, State: pleg.Running, CreatedAt: w.now}})
	for i := range 1 + w.IntN(2) {
		w.containers = append(w.containers, pleg.ListedContainer{Pod: ref(name), Container: pleg.Container{
			ID: fmt.Sprintf("%s/%d", name, i), Name: fmt.Sprint("c", i), SandboxID: name, State: pleg.Running, CreatedAt: w.now,
		}})
	}
}

func (w *world) removePod() {
	if len(w.sandboxes) == 0 {
		return
	}
	uid := w.sandboxes[w.IntN(len(w.sandboxes))].Pod.UID
	w.sandboxes = slices.DeleteFunc(w.sandboxes, func(s pleg.ListedSandbox) bool { return s.Pod.UID == uid })
	w.containers = slices.DeleteFunc(w.containers, func(c pleg.ListedContainer) bool { return c.Pod.UID == uid })
}

// happen lets something happen on the node.
func (w *world) happen() {
	switch w.IntN(8) {
	case 0:
		if len(w.sandboxes) < 8 {
			w.addPod()
		}
	case 1:
		w.removePod()
	default:
		if n := len(w.containers); n > 0 {
			c := &w.containers[w.IntN(n)]
			c.State = pleg.State(w.IntN(4) + 1)
		}
	}
}

// next lets time pass up to the next thing that happens and returns it.
func (w *world) next(due time.Time) Input {
	var first *flying
	for _, f := range w.out {
		if first == nil || f.at.Before(first.at) || f.at.Equal(first.at) && f.ID < first.ID {
			first = f
		}
	}
	key := w.now.Add(time.Duration(w.ExpFloat64() * float64(20*time.Second)))
	if w.calm {
		key = w.now.Add(24 * time.Hour)
	}
	switch {
	case w.looking != nil && (due.IsZero() || !w.lookAt.After(due)) && (first == nil || !w.lookAt.After(first.at)):
		w.now = later(w.now, w.lookAt)
		w.looking = nil
		return Looked{Report: w.report()}
	case first != nil && (due.IsZero() || !first.at.After(due)) && !first.at.After(key):
		w.now = later(w.now, first.at)
		delete(w.out, first.ID)
		return w.answer(first)
	case !w.talkAt.IsZero() && (due.IsZero() || !w.talkAt.After(due)) && !w.talkAt.After(key):
		w.now = later(w.now, w.talkAt)
		return w.talk()
	case !due.IsZero() && !due.After(key):
		w.now = later(w.now, due)
		return Tick{}
	}
	w.now = key
	return w.press()
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// press is what a person asks for, or what somebody saw of the node.
func (w *world) press() Input {
	r := Requests{Paused: w.m.pause.on, Held: w.m.sources.held}
	var uid pleg.UID = "uid-nobody"
	if n := len(w.sandboxes); n > 0 {
		uid = w.sandboxes[w.IntN(n)].Pod.UID
	}
	switch w.IntN(11) {
	case 0:
		r.Paused = !r.Paused
	case 1:
		r.Relist = true
	case 2:
		r.Reinspect = []pleg.UID{uid}
	case 3:
		r.Sweep = SweepBegins
	case 4:
		r.Sweep = SweepEnds
	case 5:
		r.Period = time.Duration(1+w.IntN(60)) * time.Second
	case 6:
		r.Raw = []RawRequest{{uint64(w.made), call.Flight{Op: call.PodSandboxStatus, Pod: ref(string(uid[4:])), ID: string(uid[4:])}}}
	case 7:
		r.Withdrawn = []uint64{uint64(w.made)}
	case 8:
		return Tick{}
	case 9:
		r.Held = !r.Held
	case 10:
		r.SetStreams, r.Streams = true, []ledger.Source{ledger.FromCgroup, ledger.FromCRI}[:w.IntN(3)]
	}
	return r
}

// report is what the node shows: all that runs, and what the runtime does not know.
func (w *world) report() *evidence.Report {
	r := &evidence.Report{At: w.now}
	ids := []string{"foreign"}
	for _, c := range w.containers {
		ids = append(ids, c.ID)
	}
	for _, id := range ids {
		r.Processes.Objects = append(r.Processes.Objects, evidence.Object{ObjectRef: pleg.ObjectRef{ID: id}})
	}
	return r
}

// answer returns what comes of a call, as the lists are when it returns.
func (w *world) answer(f *flying) Returned {
	r := Returned{ID: f.ID, At: w.now, Err: f.err, Trace: call.Trace{RequestBytes: 10, ResponseBytes: 100}}
	if w.IntN(3) == 0 {
		w.happen()
	}
	if f.err != nil {
		return r
	}
	switch f.Op {
	case call.Version:
		r.Answer.Version = &pleg.Version{RuntimeName: "world"}
		if w.IntN(50) == 0 {
			r.Answer.Version = &pleg.Version{RuntimeName: "containerd", RuntimeVersion: "1.7.0"}
		}
	case call.Status:
		r.Answer.Conditions = []pleg.Condition{{Type: "RuntimeReady", Status: w.IntN(20) > 0}, {Type: "NetworkReady", Status: w.IntN(20) > 0}}
	case call.ListPodSandbox:
		r.Answer.Sandboxes = slices.DeleteFunc(slices.Clone(w.sandboxes), func(s pleg.ListedSandbox) bool { return f.Pod.UID != "" && s.Pod.UID != f.Pod.UID })
	case call.ListContainers:
		r.Answer.Containers = slices.DeleteFunc(slices.Clone(w.containers), func(c pleg.ListedContainer) bool { return f.Pod.UID != "" && c.Pod.UID != f.Pod.UID })
	case call.PodSandboxStatus:
		i := slices.IndexFunc(w.sandboxes, func(s pleg.ListedSandbox) bool { return s.ID == f.Flight.ID })
		if i < 0 {
			r.Err = call.ErrorOf(f.Op, notFound(f.Op))
			return r
		}
		r.Answer.Sandbox = &pleg.SandboxStatus{ID: f.Flight.ID, Pod: w.sandboxes[i].Pod, State: w.sandboxes[i].State}
	default:
		i := slices.IndexFunc(w.containers, func(c pleg.ListedContainer) bool { return c.ID == f.Flight.ID })
		if i < 0 {
			r.Err = call.ErrorOf(f.Op, notFound(f.Op))
			return r
		}
		r.Answer.Container = &pleg.ContainerStatus{ID: f.Flight.ID, Name: w.containers[i].Name, State: w.containers[i].State}
	}
	if f.Raw {
		r.Answer = Answer{Raw: []byte("{}")}
	}
	return r
}

// make decides what becomes of a call. The runtime's moods last for minutes.
func (w *world) make(c Call) {
	if !w.now.Before(w.moodEnds) {
		w.mood = w.IntN(7)
		w.moodEnds = w.now.Add(time.Duration(w.ExpFloat64() * float64(4*time.Minute)))
	}
	f := &flying{Call: c, at: w.now.Add(time.Duration(w.IntN(int(20 * time.Millisecond))))}
	fail := func(kind call.Kind, code string) {
		f.err = &call.Error{Op: c.Op, Kind: kind, Code: code, Text: "by chance"}
	}
	hang := func() {
		f.at = w.now.Add(c.Timeout)
		fail(call.ErrDeadline, "DeadlineExceeded")
	}
	switch {
	case w.mood == 1 && w.IntN(3) == 0, w.mood == 2 && c.Op.IsList(), w.mood == 3:
		hang()
	case w.mood == 4 && w.IntN(4) == 0, w.mood == 5:
		fail(call.ErrUnavailable, "Unavailable")
	case w.mood == 6 && c.Op == call.ListContainers && c.Pod.UID == "":
		fail(call.ErrTooLarge, "ResourceExhausted")
	case w.IntN(200) == 0:
		fail(call.ErrOther, "Unknown")
	case w.IntN(100) == 0:
		f.at = w.now.Add(min(c.Timeout, time.Duration(w.IntN(int(5*time.Second)))))
	}
	w.out[c.ID] = f
}

// step steps the machine and does what it asks for.
func (w *world) step(in Input) Work {
	w.log = append(w.log, logged{w.now, in})
	work := w.m.step(w.now, in)
	for _, id := range work.End {
		if f := w.out[id]; f != nil {
			f.at = w.now
			f.err = &call.Error{Op: f.Op, Kind: call.ErrCanceled, Code: "Canceled", Text: "ended"}
		}
	}
	for _, c := range work.Make {
		w.make(c)
	}
	w.stream(work)
	if work.Look != nil {
		w.looking, w.lookAt = work.Look, w.now.Add(time.Duration(w.IntN(int(2*time.Second))))
	}
	return work
}

// A referee holds a machine to what it promises.
type referee struct {
	t     *testing.T
	out   map[CallID]Call
	ids   CallID
	seq   uint64
	seen  map[string]bool // events of the relist that began at a moment
	began time.Time
	old   map[pleg.UID]*Pod
	n     int

	looking bool // a look at the node is out
	streams streamReferee
}

// watch checks one step, given its input and its work, and the snapshot after it.
func (r *referee) watch(w *world, in Input, work Work) {
	if back, ok := in.(Returned); ok {
		delete(r.out, back.ID)
	}
	if _, back := in.(Looked); back {
		r.looking = false
	}
	if work.Look != nil {
		if _, hangs := w.m.hung(); r.looking || work.Look.Deep && !hangs && !w.m.away() && w.m.sweep.last == nil {
			r.t.Errorf("%v: %+v while one is out: %v", w.now, work.Look, r.looking)
		}
		r.looking = true
	}
	for _, c := range work.Make {
		if c.ID != r.ids+1 || c.Timeout < 0 {
			r.t.Errorf("call %+v after number %d", c, r.ids)
		}
		r.ids = c.ID
		for _, other := range r.out {
			beside := c.By == call.BySearch && c.Pod.UID != "" && other.Op == call.ListContainers && other.Pod.UID == "" && w.now.Sub(other.Since) >= answers.SurelyHangs
			if other.Flight.SameTarget(c.Flight) && !beside {
				r.t.Errorf("%v: %+v is made while %+v is out", w.now, c, other)
			}
		}
		r.out[c.ID] = c
	}
	s := w.m.snapshot(w.now)
	r.streams.watch(r.t, w, s, in, work)
	for _, e := range work.Events {
		if r.seq++; e.Seq != r.seq {
			r.t.Errorf("event %+v, want number %d", e, r.seq)
		}
		if e.Delivery == pleg.Unseen {
			continue // has its own rules
		}
		if !e.At.Equal(r.began) {
			r.began, r.seen = e.At, make(map[string]bool)
		}
		key := fmt.Sprint(e.Pod.UID, e.ID, e.Kind, e.At.UnixNano())
		if r.seen[key] {
			r.t.Errorf("%+v comes twice", e)
		}
		r.seen[key] = true
	}
	if due := w.m.due(); !due.IsZero() && !due.After(w.now) {
		r.t.Errorf("%v: due at %v already, after %T", w.now, due, in)
		for _, p := range w.m.parts {
			r.t.Errorf("%T: due at %v", p, p.due(w.m))
		}
	}
	r.check(w, s)
}

func (r *referee) check(w *world, s *Snapshot) {
	inFlight := 0
	for _, c := range s.Calls {
		inFlight += c.InFlight
	}
	if inFlight != len(s.InFlight) || inFlight != len(r.out) || !slices.IsSortedFunc(s.InFlight, func(a, b call.Flight) int { return a.Since.Compare(b.Since) }) {
		r.t.Errorf("in flight %+v, %d counted, %d made", s.InFlight, inFlight, len(r.out))
	}
	if v := s.Sweep; v != nil && (v.Done > v.Total || len(v.Hung)+len(v.Failed) > v.Done || len(s.InFlight) > v.Width+6) {
		r.t.Errorf("sweep %+v with %d in flight", v, len(s.InFlight))
	}
	if h := s.Health; s.Paused && !h.UnhealthyAt.IsZero() || !h.UnhealthyAt.IsZero() && !h.UnhealthyAt.After(w.now.Add(-1)) {
		r.t.Errorf("%v: paused %v, health %+v", w.now, s.Paused, h)
	}
	if n := s.Node.Next; n.To.Before(n.From) || !n.From.IsZero() && (s.Paused || n.Ready == s.Node.Ready) {
		r.t.Errorf("%v: paused %v, node %+v", w.now, s.Paused, s.Node)
	}
	now := make(map[pleg.UID]*Pod, len(s.Pods))
	for _, p := range s.Pods {
		now[p.UID] = p
		if was := r.old[p.UID]; was != nil && p.Failure != nil && p.Old != was.Old {
			r.t.Errorf("the record of %v has advanced though its inspection failed: %+v", p.PodRef, p.Failure)
		}
	}
	r.old = now
	r.n++
}

// However the runtime behaves and whatever people press, in simulated days.
func TestMachineKeepsItsPromises(t *testing.T) {
	days := 24 * time.Hour
	if testing.Short() {
		days /= 4
	}
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, seed, Config{Release: pleg.Newest - pleg.Release(seed), Period: 15 * time.Second, Mode: pleg.Mode(seed % 2), Streams: worldStreams()}, answers.Policy{})
			r := &referee{t: t, out: make(map[CallID]Call)}
			for end := w.now.Add(days / 8); w.now.Before(end) && !t.Failed(); {
				in := w.next(w.m.due())
				r.watch(w, in, w.step(in))
			}
			if r.n < 1000 || r.seq == 0 {
				t.Errorf("only %d steps and %d events", r.n, r.seq)
			}
			for w.step(Halt{}); len(w.out) > 0; { // no call is left without an end
				w.step(w.next(time.Time{}))
			}
		})
	}
}

// A look that is made once ends in time, whatever happens.
func TestMachineThatLooksOnceEnds(t *testing.T) {
	for seed := range uint64(400) {
		w := newWorld(t, seed, Config{}, Examination{}.policy())
		w.mood, w.moodEnds = w.IntN(7), w.now.Add(time.Hour)
		r := &referee{t: t, out: make(map[CallID]Call)}
		began := w.now
		r.watch(w, Tick{}, w.step(Tick{}))
		for !w.m.check.over && !t.Failed() {
			due := w.m.due()
			if due.IsZero() && len(w.out) == 0 {
				t.Fatalf("seed %d: nothing is out, nothing is due", seed)
			}
			in := w.next(due)
			r.watch(w, in, w.step(in))
		}
		if took := w.now.Sub(began); took > answers.OnceFor {
			t.Errorf("seed %d, mood %d: took %v", seed, w.mood, took)
		}
	}
}

// difference is cmp.Diff of what is the same, as a rule, and is then much faster.
func difference(x, y any, opts ...cmp.Option) string {
	if alike(reflect.ValueOf(x), reflect.ValueOf(y)) {
		return ""
	}
	return cmp.Diff(x, y, opts...)
}

// alike is reflect.DeepEqual, but for the place and the monotonic reading of a time and for errors,
// of which their text counts. What it holds for different may be the same.
func alike(x, y reflect.Value) bool {
	if !x.IsValid() || !y.IsValid() || x.Type() != y.Type() {
		return x.IsValid() == y.IsValid()
	}
	switch x.Kind() {
	case reflect.Pointer, reflect.Interface:
		if x.IsNil() || y.IsNil() {
			return x.IsNil() && y.IsNil()
		}
		if x.Type() == reflect.TypeFor[error]() && x.CanInterface() {
			return fmt.Sprint(x) == fmt.Sprint(y)
		}
		return x.Kind() == reflect.Pointer && x.Pointer() == y.Pointer() || alike(x.Elem(), y.Elem())
	case reflect.Struct:
		if a, is := timeOf(x); is {
			b, _ := timeOf(y)
			return a.Equal(b)
		}
		for i := range x.NumField() {
			if !alike(x.Field(i), y.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice, reflect.Array:
		if x.Len() != y.Len() {
			return false
		}
		for i := range x.Len() {
			if !alike(x.Index(i), y.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Map:
		if x.Len() != y.Len() {
			return false
		}
		for k, v := range x.Seq2() {
			if other := y.MapIndex(k); !other.IsValid() || !alike(v, other) {
				return false
			}
		}
		return true
	}
	return x.Equal(y)
}

// timeOf returns the time that a value is, where it is one that can be read.
func timeOf(v reflect.Value) (at time.Time, is bool) {
	if v.Type() != reflect.TypeFor[time.Time]() || !v.CanInterface() {
		return time.Time{}, false
	}
	return v.Interface().(time.Time), true
}
