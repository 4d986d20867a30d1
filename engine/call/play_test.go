package call

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A play is calls and what they mean, one a line:
//
//	1.5  a  relist ContainerStatus web/app 120   call a begins, with a timeout of 120 s
//	3    a  ok                                   it returns; or with a kind of error
//	4    =  Silent                               the extent then
//	4    a? Late                                 the state of call a then
//	0    healthy                                 lists were answered at once until 0 s
//	4    busy                                    tasks wait for the CPU from then on
//
// Timeouts are 2 s where a line has none.
type play struct {
	t     *testing.T
	table *Table
	calls map[string]Flight
	ids   map[string]ID
}

var start = time.Unix(1_000_000, 0)

func at(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }

func newPlay(t *testing.T) *play {
	return &play{t: t, table: NewTable(), calls: make(map[string]Flight), ids: make(map[string]ID)}
}

var (
	askers = map[string]Asker{"relist": ByRelist, "status": ByStatusLoop, "probe": ByProbe, "sweep": BySweep, "search": BySearch}
	errs   = map[string]Kind{"deadline": ErrDeadline, "away": ErrUnavailable, "mute": ErrSilent, "error": ErrOther, "large": ErrTooLarge, "gone": ErrNotFound, "canceled": ErrCanceled}
	states = [...]string{"Unknown", "InTime", "Slow", "Failing", "Late", "Hung"}
	wide   = [...]string{"Fine", "TooEarly", "AllSlow", "ObjectsHang", "ListHangs", "NoObject", "Silent", "Refused"}
)

func (p *play) run(lines string) {
	p.t.Helper()
	for s := bufio.NewScanner(strings.NewReader(lines)); s.Scan(); {
		if f := strings.Fields(s.Text()); len(f) > 1 {
			p.line(s.Text(), f)
		}
	}
}

func (p *play) line(text string, f []string) {
	p.t.Helper()
	seconds, err := strconv.ParseFloat(f[0], 64)
	if err != nil {
		p.t.Fatalf("%q: %v", text, err)
	}
	now := at(seconds)
	name := strings.TrimSuffix(f[1], "?")
	switch {
	case f[1] == "healthy":
		p.relists(3, 0.01)
	case f[1] == "busy":
		p.table.Busy = true
	case f[1] == "=":
		if got := wide[p.table.Extent(now)]; got != f[2] {
			hangs, _ := p.table.Hanging(now)
			p.t.Errorf("%q: %s\nhanging: %+v", text, got, hangs)
		}
	case name != f[1]:
		if got := states[p.table.State(p.calls[name], now)]; got != f[2] {
			p.t.Errorf("%q: %s", text, got)
		}
	case f[2] == "ok" || errs[f[2]] != 0 || f[2] == "error":
		var e *Error
		if kind, bad := errs[f[2]]; bad {
			e = &Error{Op: p.calls[name].Op, Kind: kind}
		}
		if _, out := p.table.Ended(p.ids[name], now, e); !out {
			p.t.Fatalf("%q: it is not out", text)
		}
	default:
		p.begin(now, name, f[2:])
	}
}

func (p *play) begin(now time.Time, name string, f []string) {
	c := Flight{By: askers[f[0]], Since: now}
	for _, op := range Operations() {
		if op.String() == f[1] {
			c.Op = op
		}
	}
	timeout := ProbeTimeout
	for _, word := range f[2:] {
		if pod, id, object := strings.Cut(word, "/"); object {
			c.Pod, c.ID = pleg.PodRef{UID: pleg.UID(pod)}, id
		} else if n, err := strconv.ParseFloat(word, 64); err == nil {
			timeout = time.Duration(n * float64(time.Second))
		}
	}
	p.calls[name], p.ids[name] = c, p.ids[name]+ID(len(p.ids)+1)<<32+1
	p.table.Began(p.ids[name], c, timeout)
}

// relists has a healthy runtime listed so often, each list taking so long, until 0 s.
func (p *play) relists(n int, took float64) {
	for i := range n {
		t := -float64(n-i) * (2*took + 1)
		p.run(fmt.Sprintf("%[1]f l relist ListPodSandbox 120\n%[2]f l ok\n%[2]f l relist ListContainers 120\n%[3]f l ok", t, t+took, t+2*took))
	}
}

func TestExtent(t *testing.T) {
	for _, tt := range []struct{ name, play string }{
		{"nothing was asked", `0 = Fine`},
		{"a container hangs, and another is answered", `
			0   a relist ContainerStatus web/app 120
			0.9 = Fine
			1   = TooEarly
			1   b probe Version
			1.01 b ok
			1.01 c probe Status
			1.02 c ok
			1.02 d probe ContainerStatus db/pg
			1.1 = TooEarly
			1.2 d ok
			1.3 = ObjectsHang
			1.3 a? Late
			2   a? Hung
			9   a ok
			9   = Fine
			9   a? Unknown`},
		{"the only container hangs", `
			0 a relist ContainerStatus web/app 120
			1 c probe Status
			1.02 c ok
			1.1 = ObjectsHang`},
		{"an object that was probed in vain is not to blame, as long as none was answered", `
			0 a probe ContainerStatus web/app
			2 a deadline
			2 = TooEarly
			3 b relist ContainerStatus db/pg 120
			3.1 b ok
			3.2 = ObjectsHang
			23 = Fine`},
		{"an object that hung is asked until it answers", `
			0 a sweep ContainerStatus web/app
			1.9 b sweep ContainerStatus db/pg
			2 b ok
			2 a deadline
			2 a? Hung
			2.1 = ObjectsHang
			7 a probe ContainerStatus web/app
			7.1 a? InTime
			7.1 = ObjectsHang
			7.2 a gone
			7.2 a? Unknown
			7.3 = Fine`},
		{"an object that was asked for once, and nothing else", `
			0 a sweep ContainerStatus web/app 0.5
			0.5 a deadline
			0.5 a? Hung
			0.6 = TooEarly
			9 = TooEarly`},
		{"a probe says nothing of its object while nothing else is answered", `
			0 a probe ContainerStatus web/app 120
			9 a? Hung
			9 = TooEarly`},
		{"the runtime passes on that somebody else gave no answer", `
			0 a relist ContainerStatus web/app 120
			0.1 a deadline
			0.1 a? Failing
			0.2 = Fine`},
		{"an object hangs, and the first probe is out", `
			0 a relist ContainerStatus web/app 120
			1 b probe Version
			1.5 = TooEarly
			2 = Silent`},
		{"a list hangs", `
			0 a relist ListContainers 120
			1 = TooEarly
			1 b probe Version
			1.1 b ok
			1.1 c probe Status
			1.2 c ok
			2.9 = TooEarly
			3 = ListHangs
			120 a deadline
			120 a? Hung
			121 = ListHangs
			121 a relist ListContainers 120
			122 = ListHangs
			122.9 a? Late
			123 a? Hung
			130 a ok
			130 = Fine`},
		{"silence: Status and a list hang", `
			0 a relist ListContainers 120
			1 b status Status 120
			1.9 = TooEarly
			2 = Silent`},
		{"silence after an answer that is too old", `
			0 a status Status 120
			5 b relist ListContainers 120
			5.1 b ok
			30 b relist ListContainers 120
			31 = Silent`},
		{"a list and the objects of two pods hang, and another object is answered", `
			0 a relist ListContainers 120
			0 b sweep ContainerStatus web/app 120
			0 c sweep ContainerStatus db/pg 120
			0.1 d sweep ContainerStatus web/log
			0.2 d ok
			3 = ListHangs`},
		{"silence: Version is answered", `
			0 a relist ContainerStatus web/app 120
			1 b probe Version
			1.1 b ok
			1.1 c probe Status
			3.1 c deadline
			3.2 = Silent`},
		{"silence: a list and the objects of two pods", `
			0 a relist ListContainers 120
			1 b probe ContainerStatus web/app
			1 c probe ContainerStatus web/log
			2.5 = TooEarly
			2.5 d probe ContainerStatus db/pg
			3 b deadline
			3 c deadline
			3.4 = ListHangs
			3.5 = Silent`},
		{"Status alone hangs", `
			0 a status Status 120
			1 b relist ListContainers 120
			1.1 b ok
			5 = Fine
			5 a? Hung`},
		{"no object is answered", `
			0 a relist ContainerStatus web/app 120
			1 b probe Status
			1.1 b ok
			1.1 c probe ContainerStatus db/pg
			2 = TooEarly
			2.1 = NoObject
			2.5 d probe PodSandboxStatus db/box
			2.6 d ok
			2.7 = Fine
			3   d probe PodSandboxStatus db/box
			3.1 d ok
			3.7 = ObjectsHang`},
		{"no container of one pod is answered, and its sandbox is", `
			0 a sweep ContainerStatus web/1
			0 b sweep ContainerStatus web/2
			0 c sweep ContainerStatus web/3
			0 d sweep ContainerStatus web/4
			0 e sweep ContainerStatus web/5
			0 f sweep ContainerStatus web/6
			0 g sweep ContainerStatus web/7
			0 s probe PodSandboxStatus web/box
			0.1 s ok
			1 = ObjectsHang
			1 h sweep ContainerStatus web/8
			2 = NoObject`},
		{"eight containers of one pod are not answered, and the ninth is", `
			0 a sweep ContainerStatus web/1 120
			0 b sweep ContainerStatus web/2 120
			0 c sweep ContainerStatus web/3 120
			0 d sweep ContainerStatus web/4 120
			0 e sweep ContainerStatus web/5 120
			0 f sweep ContainerStatus web/6 120
			0 g sweep ContainerStatus web/7 120
			0 h sweep ContainerStatus web/8 120
			0.1 i sweep ContainerStatus web/9
			0.2 i ok
			1 = ObjectsHang`},
		{"nobody is there", `
			0 a relist ListPodSandbox 120
			0 a away
			0 = Refused
			1 a relist ListPodSandbox 120
			1 a ok
			1 = Fine`},
		{"connections are taken, and nothing is said on them", `
			0 a relist ListPodSandbox 120
			4 a mute
			4 = Silent`},
		{"nobody is there for a list, and an object is answered after it", `
			0 a relist ListPodSandbox 120
			0 a away
			0 b probe ContainerStatus web/app
			0.1 b ok
			0.2 = Fine`},
		{"lists and Status are answered with errors", `
			0 a relist ListPodSandbox 120
			0 a error
			0 b status Status 120
			0 b error
			1 a relist ListPodSandbox 120
			1 a error
			1 = Fine
			2 a relist ListPodSandbox 120
			2 a error
			2 = Refused
			3 c probe ContainerStatus web/app
			3.1 c ok
			3.2 = Fine`},
		{"a list is too large", `
			0 a relist ListPodSandbox 120
			0 a large
			0 = Fine
			0 a? Failing`},
		{"we end a call", `
			0 a relist ContainerStatus web/app 120
			5 a canceled
			5 = Fine
			5 a? Unknown`},
		{"the event stream stays out", `
			0 a relist GetContainerEvents 0
			99 a? InTime
			99 = Fine`},
		{"a busy node", `
			0 busy
			0 a relist ContainerStatus web/app 120
			0 b sweep ContainerStatus db/pg
			2 b deadline
			2 = AllSlow
			4.9 a? InTime
			5 a? Hung`},
		{"a runtime that stood still has come back", `
			0   healthy
			0   a relist ListContainers 120
			1   b probe Version
			1   c status Status 120
			1.5 d probe ContainerStatus web/app
			3   b deadline
			3.5 d deadline
			3.5 = Silent
			4   c ok
			4.1 e probe ContainerStatus db/pg
			4.1 = Fine
			4.9 e ok
			6.9 a? Late
			7   = ListHangs
			7   a ok
			7   = Fine`},
		{"what was out when the runtime came back accuses nobody", `
			0   healthy
			0   a relist ListContainers 120
			0   b sweep ContainerStatus web/app 120
			1.5 a ok
			2.4 b? InTime
			2.5 b? Late
			2.5 = TooEarly
			3.5 b? Hung
			4   c sweep ContainerStatus db/pg
			4.1 c ok
			4.2 = ObjectsHang`},
		{"what ran out before the runtime came back accuses nobody", `
			0   a relist ContainerStatus web/app 120
			0   b sweep ContainerStatus db/pg
			2   b deadline
			2   = NoObject
			2.5 a ok
			2.5 = Fine`},
		{"the first object comes back while lists are answered", `
			0   a relist ContainerStatus web/app 120
			0   b sweep ContainerStatus db/pg 120
			4.8 c search ListPodSandbox
			4.9 c ok
			5   = NoObject
			5   a ok
			5   b? InTime
			6   b? Late`},
		{"an object that hangs on when the runtime has come back", `
			0   healthy
			0   a relist ContainerStatus web/app 120
			0   b probe ContainerStatus web/log
			2   b deadline
			3   c probe ContainerStatus web/log
			3.5 a ok
			5   c deadline
			5   = Fine
			8   c probe ContainerStatus web/log
			10  c deadline
			10  = TooEarly`},
		{"a runtime that was away has come back", `
			0   healthy
			0   b sweep ContainerStatus web/app 120
			1   a relist ListContainers 120
			1   a away
			2   a relist ListContainers 120
			2   a ok
			3.5 b? Late`},
		{"Version and a Status at once are no comeback", `
			0   healthy
			0   a relist ListContainers 120
			1   b probe Version
			1   c probe Status
			2.5 b ok
			3   c deadline
			3   = Silent
			3.1 c probe Status
			3.2 c ok
			3.3 a? Hung
			3.3 = ListHangs`},
	} {
		t.Run(tt.name, func(t *testing.T) { newPlay(t).run(tt.play) })
	}
}

// A call hangs after what is long for its kind: longer where all calls are slow and where
// lists always take long.
func TestLateAndHung(t *testing.T) {
	for _, tt := range []struct {
		name       string
		lists      float64 // what each usually takes; 0 for no answer yet
		op         Operation
		late, hung float64
	}{
		{"no answer yet", 0, ContainerStatus, 1, 2},
		{"no list yet", 0, ListContainers, 1, 3},
		{"healthy", 0.01, ListContainers, 1, 3},
		{"another call, healthy", 0.01, ContainerStatus, 1, 2},
		{"lists that take long", 2, ListContainers, 8, 12},
		{"all that is known takes long", 1, Version, 2, 3},
		{"lists that take for ever", 60, ListContainers, 20, 30},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlay(t)
			if tt.lists > 0 {
				p.relists(5, tt.lists)
			}
			f := Flight{Op: tt.op, Since: start}
			p.table.Began(1, f, 0)
			for _, s := range []struct {
				after float64
				want  State
			}{{tt.late - 0.01, InTime}, {tt.late, Late}, {tt.hung - 0.01, Late}, {tt.hung, Hung}} {
				if got := p.table.State(f, at(s.after)); got != s.want {
					t.Errorf("after %v s: %s, want %s", s.after, states[got], states[s.want])
				}
			}
		})
	}
}

// What half of the answers took is usual, or what each of the last took.
func TestUsual(t *testing.T) {
	for _, tt := range []struct {
		name string
		op   Operation
		took []time.Duration
		want time.Duration
	}{
		{"none", ListContainers, nil, 0},
		{"one", ListContainers, []time.Duration{4}, 4},
		{"half of them", ListContainers, []time.Duration{9, 1, 5, 3, 7}, 5},
		{"become slow", ListContainers, []time.Duration{1, 1, 1, 1, 1, 8, 6}, 6},
		{"a slow one", ListContainers, []time.Duration{1, 1, 1, 1, 1, 1, 6}, 1},
		{"four slow objects", ContainerStatus, []time.Duration{6, 6, 6, 6}, 0},
		{"a pod of slow objects", ContainerStatus, []time.Duration{1, 1, 1, 1, 1, 6, 6}, 1},
	} {
		if got := (&Answers{Recent: tt.took}).usual(tt.op); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// Where all calls take longer than the time we give them, none of them hangs.
func TestAllSlow(t *testing.T) {
	p := newPlay(t)
	for range 5 {
		p.run("0 a relist ContainerStatus web/app 120\n1 a ok\n0 l relist ListPodSandbox 120\n2 l ok")
	}
	p.run(`
		2 a sweep ContainerStatus web/log
		4 a deadline
		4 = AllSlow
		5 b relist ContainerStatus db/pg 120
		8 b? Hung
		8.5 c sweep ContainerStatus web/app
		8.6 c ok
		8.7 = ObjectsHang`)
}

func TestTooSlow(t *testing.T) {
	for _, tt := range []struct{ name, play, want string }{
		{"never asked", ``, ""},
		{"answered", "0 a status Status 120\n0.1 a ok", ""},
		{"out", "8 a status Status 120", "Status: no reply for 2s"},
		{"slow", "7 a status Status 120\n8.5 a ok", "the last Status took 1.5s"},
		{"slow long ago", "-10 a status Status 120\n-5 a ok", ""},
		{"ran out", "7 a probe Status\n9 a deadline", "the last Status took 2s"},
		{"Version slow beside it", "0 a status Status 120\n0 a ok\n5 b probe Version\n7 b ok", ""},
		{"Version slow, and Status fails", "0 a status Status 120\n0 a error\n5 b probe Version\n7 b ok", "the last Version took 2s"},
	} {
		p := newPlay(t)
		if p.run(tt.play); p.table.TooSlow(at(10)) != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, p.table.TooSlow(at(10)), tt.want)
		}
	}
}

func TestInWay(t *testing.T) {
	p := newPlay(t)
	p.run("0 a relist ListContainers 120\n0 b relist ContainerStatus web/app 120")
	onePod := Flight{By: BySearch, Op: ListContainers, Pod: pleg.PodRef{UID: "web"}}
	for _, tt := range []struct {
		f     Flight
		after float64
		free  bool
	}{
		{Flight{Op: ContainerStatus, ID: "app"}, 99, false},
		{Flight{Op: ContainerStatus, ID: "log"}, 0, true},
		{Flight{Op: PodSandboxStatus, ID: "app"}, 0, true},
		{Flight{By: BySearch, Op: ListPodSandbox}, 99, false},
		{Flight{By: ByRelist, Op: ListContainers, Pod: onePod.Pod}, 99, false},
		{onePod, 9.9, false},
		{onePod, 10, true},
	} {
		if f, is := p.table.InWay(tt.f, at(tt.after)); is == tt.free || is && !f.SameTarget(tt.f) {
			t.Errorf("%v after %v s: %v is in the way: %v", tt.f, tt.after, f, is)
		}
	}
	p.table.Began(99, onePod, 0)
	if _, is := p.table.InWay(onePod, at(99)); !is {
		t.Error("one pod is listed twice at a time")
	}
}

func TestKnown(t *testing.T) {
	p := newPlay(t)
	p.run(`
		0 a probe ContainerStatus web/app
		0 b probe PodSandboxStatus db/box
		2 a deadline
		2 b deadline
		7 a probe ContainerStatus web/app
		9 a deadline
		9 c probe ContainerStatus web/log
		9 c error
		9 s status Status 120
		9 s ok`)
	if k := p.table.Known(ContainerStatus, "app"); !k.RanOut || k.InRow != 2 || k.First != at(0) || k.Failed != at(2) || k.At != at(9) || k.Took() != 2*time.Second {
		t.Errorf("app: %+v", k)
	}
	p.run("9 l search ListContainers web/\n10 l ok")
	if p.table.Ops[ListContainers].Recent != nil || !p.table.Ops[ListContainers].Good.Equal(at(10)) {
		t.Error("the list of one pod says how long that of all takes")
	}
	if k := p.table.Known(Status, ""); k.Err != nil || k.At != at(9) {
		t.Errorf("Status: %+v", k)
	}
	p.run("10 a probe ContainerStatus web/app\n10 a error")
	if k := p.table.Known(ContainerStatus, "app"); k.RanOut || k.InRow != 1 || k.First != at(10) {
		t.Errorf("app: %+v", k)
	}
	for i := range 2 * troubledMost {
		p.run(fmt.Sprintf("%d x probe ContainerStatus web/%d\n%[1]d x error", 20+i, i))
	}
	if n := len(p.table.Ops[ContainerStatus].Troubled); n != troubledMost {
		t.Errorf("%d objects are kept", n)
	}
}

// What comes at once, and is not about the size of the answer, may mean that the runtime
// does not work.
func TestFails(t *testing.T) {
	for k := range ErrClosed + 1 {
		want := k != ErrDeadline && k != ErrTooLarge && k != ErrUnreadable
		if got := (&Known{Err: &Error{Kind: k}}).fails(); got != want {
			t.Errorf("%v: %v", k, got)
		}
	}
	if new(Known).fails() {
		t.Error("a success fails")
	}
}

// Flights are the same slice while nothing changes, and nobody writes to one.
func TestFlights(t *testing.T) {
	p := newPlay(t)
	p.run("0 a relist ListContainers 120\n1 b probe Version")
	was := p.table.Flights()
	if again := p.table.Flights(); len(was) != 2 || &again[0] != &was[0] {
		t.Errorf("flights: %v, then %v", was, again)
	}
	p.run("2 a ok\n2 c probe Status")
	if was[0].Op != ListContainers || was[1].Op != Version || len(p.table.Flights()) != 2 {
		t.Errorf("flights became %v", was)
	}
	if _, out := p.table.Ended(12345, at(3), nil); out {
		t.Error("a call has returned that was not out")
	}
}

// A table that was written down goes on as it was.
func TestCheckpoint(t *testing.T) {
	p := newPlay(t)
	p.relists(3, 0.1)
	p.run(`
		0 a relist ContainerStatus web/app 120
		0 b sweep ContainerStatus db/pg
		2 b deadline
		2 c status Status 120
		2 c away`)
	mode, err := cbor.EncOptions{Time: cbor.TimeRFC3339Nano}.EncMode()
	if err != nil {
		t.Fatal(err)
	}
	data, err := mode.Marshal(p.table)
	if err != nil {
		t.Fatal(err)
	}
	read := NewTable()
	if err := cbor.Unmarshal(data, read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p.table.Ops, read.Ops); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if want, got := p.table.Extent(at(4)), read.Extent(at(4)); got != want || got == Fine {
		t.Errorf("extent %s, want %s", wide[got], wide[want])
	}
}
