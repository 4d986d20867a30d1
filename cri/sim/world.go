package sim

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"time"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// A world is everything that exists on the node, and its clocks. It is pure: it
// reads no clock, starts no goroutine and does no I/O; time passes when advance
// is called. It must not be used from two goroutines at once.
type world struct {
	now     time.Time // by the script, which says when something happens
	clock   time.Time // by the server's clock, which says when it did
	pace    pace
	rng     *rand.Rand
	names   *rand.Rand // for names alone: they are the same again when a scenario begins anew
	queue   []task     // the earliest first
	kubelet kubelet
	before  *world // that this one took over the node from; nil: it is the first

	pods       []*pod       // the kubelet's, in order of creation; like the two below
	sandboxes  []*sandbox   // as listed
	containers []*container // as listed
	// The same by id.
	sandboxOf   map[string]*sandbox
	containerOf map[string]*container

	addresses uint32          // ever given to sandboxes
	unplugged bool            // new sandboxes get none
	changes   uint64          // of what calls or the kernel show
	pids      map[uint32]bool // in use

	// onChange is told of every transition, if it is set.
	onChange func(transition)
	last     transition // the newest of this step; zero for none
}

// A transition is one change of one sandbox or, if container is set, of one
// container in it.
type transition struct {
	at        time.Time
	kind      cri.ContainerEventType
	sandbox   *sandbox
	container *container
}

// String says what happened to what; nothing for no transition.
func (t transition) String() string {
	var subject string
	switch {
	case t.sandbox == nil:
		return ""
	case t.container == nil:
		subject = "sandbox of " + t.sandbox.pod.ref()
	default:
		subject = t.sandbox.pod.ref() + "/" + t.container.spec.name
	}
	return happens[t.kind] + ": " + subject
}

// happens is what becomes of what a transition is about.
var happens = map[cri.ContainerEventType]string{
	cri.ContainerEventType_CONTAINER_CREATED_EVENT: "created", cri.ContainerEventType_CONTAINER_STARTED_EVENT: "started",
	cri.ContainerEventType_CONTAINER_STOPPED_EVENT: "ended", cri.ContainerEventType_CONTAINER_DELETED_EVENT: "removed",
}

func newWorld(seed uint64, now time.Time) *world {
	return &world{
		now: now, clock: now, pace: pace{clock: now, script: now, speed: 1},
		rng: rand.New(rand.NewPCG(seed, 0)), names: rand.New(rand.NewPCG(seed, 2)),
		kubelet: newKubelet(now), sandboxOf: map[string]*sandbox{}, containerOf: map[string]*container{}, pids: map[uint32]bool{},
	}
}

// between returns a random duration from low up to high.
func (w *world) between(low, high time.Duration) time.Duration {
	return low + time.Duration(w.rng.Int64N(int64(high-low)+1))
}

// id returns a new id as runtimes make them: 64 hexadecimal digits.
func (w *world) id() string {
	var b [32]byte
	w.fill(b[:])
	return hex.EncodeToString(b[:])
}

// uid returns a new pod UID, an RFC 4122 UUID of version 4.
func (w *world) uid() string {
	var b [16]byte
	w.fill(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// fill fills b, whose length is a multiple of 8, with random bytes.
func (w *world) fill(b []byte) {
	for ; len(b) > 0; b = b[8:] {
		binary.LittleEndian.PutUint64(b, w.rng.Uint64())
	}
}

// nameLetters are those that Kubernetes makes random names of.
const nameLetters = "bcdfghjklmnpqrstvwxz2456789"

// letters returns a random part of a pod's name, n letters long.
func (w *world) letters(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = nameLetters[w.names.IntN(len(nameLetters))]
	}
	return string(b)
}

// address returns an IP address of the pod network, a different one each time
// until all 64,000 were used.
func (w *world) address() string {
	n := w.addresses % (256 * 250)
	w.addresses++
	return fmt.Sprintf("10.244.%d.%d", n/250, n%250+2)
}

// changed notes a transition that lists now show.
func (w *world) changed(kind cri.ContainerEventType, s *sandbox, c *container) {
	w.changes++
	s.pod.shown = nil
	w.last = transition{at: w.clock, kind: kind, sandbox: s, container: c}
	if kind != cri.ContainerEventType_CONTAINER_CREATED_EVENT && w.kubelet.set.Known(s.pod.key()) {
		w.wantRelist()
	}
	if w.onChange != nil {
		w.onChange(w.last)
	}
}

func drop[T comparable](all []T, one T) []T {
	if i := slices.Index(all, one); i >= 0 {
		return slices.Delete(all, i, i+1)
	}
	return all
}

// A task is something that happens at a moment of the script.
type task struct {
	at time.Time
	do func()
}

// after runs do once d has passed, behind what is due at that moment already.
// Tasks are never taken back: do has to look whether its subject is still as it was.
func (w *world) after(d time.Duration, do func()) {
	at := w.now.Add(d)
	i := sort.Search(len(w.queue), func(i int) bool { return w.queue[i].at.After(at) })
	w.queue = slices.Insert(w.queue, i, task{at, do})
}

// every runs do once each period, first after one period, until stop is called.
func (w *world) every(period time.Duration, do func()) (stop func()) {
	stopped := false
	var again func()
	again = func() {
		if stopped {
			return
		}
		w.after(period, again)
		do()
	}
	w.after(period, again)
	return func() { stopped = true }
}

// advance runs all that is due until the server's clock shows to, each task
// with the clocks at its own time. How many steps an advance is made in makes no
// difference.
func (w *world) advance(to time.Time) {
	end := w.pace.scriptAt(to)
	for len(w.queue) > 0 && !w.queue[0].at.After(end) {
		w.clock = latest(w.clock, w.pace.clockAt(w.queue[0].at))
		w.first()
	}
	w.now, w.clock = latest(w.now, end), latest(w.clock, to)
}

// first runs the first task of the queue.
func (w *world) first() {
	t := w.queue[0]
	w.queue = slices.Delete(w.queue, 0, 1)
	w.now = t.at
	t.do()
}

// next returns when, by the server's clock, the next task is due; false if none
// ever will be.
func (w *world) next() (time.Time, bool) {
	if len(w.queue) == 0 || w.pace.frozen {
		return time.Time{}, false
	}
	return w.pace.clockAt(w.queue[0].at), true
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
