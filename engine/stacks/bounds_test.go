package stacks

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"slices"
	"testing"

	"github.com/plegtop/plegtop/engine/evidence"
)

// endless is a text that is written while it is read, and notes how much memory is in use
// meanwhile.
type endless struct {
	left    int // bytes
	part    func(b []byte, n int) []byte
	n       int
	pending []byte
	buffer  []byte
	sampled int
	peak    uint64
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 && len(e.pending) == 0 {
		return 0, io.EOF
	}
	if len(e.pending) == 0 {
		e.buffer = e.part(e.buffer[:0], e.n)
		e.pending, e.n = e.buffer, e.n+1
	}
	n := copy(p, e.pending)
	e.pending, e.left, e.sampled = e.pending[n:], e.left-n, e.sampled+n
	if e.sampled > 4<<20 {
		e.sampled = 0
		e.peak = max(e.peak, inUse())
	}
	return n, nil
}

func inUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// within checks what holds of whatever was read.
func within(t *testing.T, s evidence.Stacks) {
	t.Helper()
	count, waiters := 0, 0
	for _, g := range s.Groups {
		count += g.Count
		if g.Count < 1 || g.First < 1 || g.Longest < 0 || len(g.Frames) == 0 || len(g.Frames) > maxFrames {
			t.Errorf("group %+v", g)
		}
	}
	goroutines := slices.Clone(s.Open)
	for _, l := range s.Locks {
		waiters += l.Waiters
		if l.Waiters < 1 || l.Of == "" || l.Longest < 0 || !slices.IsSorted(l.Calls) || l.Likely && l.Holder.Number == 0 {
			t.Errorf("lock %+v", l)
		}
		if l.Holder.Waits == l.Address && l.Address != "" && l.Holder.Number != 0 {
			t.Errorf("the holder of %+v waits for it", l)
		}
		if l.Holder.Number != 0 {
			goroutines = append(goroutines, l.Holder)
		}
	}
	for _, g := range goroutines {
		if g.Number < 1 || len(g.Frames) == 0 || g.For < 0 {
			t.Errorf("goroutine %+v", g)
		}
	}
	if count > s.Total || waiters > s.Total || len(s.Groups) > shown || len(s.Locks) > shown || len(s.Open) > shown {
		t.Errorf("%d goroutines in %d groups, %d waiters of %d locks, %d open, of %d", count, len(s.Groups), waiters, len(s.Locks), len(s.Open), s.Total)
	}
}

// 200 MB, whatever they are, take less than 40 MB at once; and what can be found is.
func TestReadOfVeryMuch(t *testing.T) {
	whole, line := file(t, real), bytes.Repeat([]byte("goroutine 1 [select]:"), 1000)
	many := func(b []byte, n int) []byte {
		number := 2 * n
		b = fmt.Appendf(b, "goroutine %d [select]:\n", number+100)
		for i := range 12 {
			b = fmt.Appendf(b, "example.com/a%d.(*T%d).M%d(0x%x)\n\t/a.go:1 +0x1\n", i, n%7919, n%31, 0xc000000000+number*0x1000+i)
		}
		return append(b, '\n')
	}
	waiters := func(b []byte, n int) []byte {
		b = fmt.Appendf(b, "goroutine %d [sync.RWMutex.RLock, %d minutes]:\n", 100+n, n%90)
		b = append(b, "sync.runtime_SemacquireRWMutexR(0x217f?, 0x7f?, 0x0?)\n\t/a.go:1\nsync.(*RWMutex).RLock(...)\n\t/a.go:1\n"...)
		return fmt.Appendf(b, "%scontainer.(*statusStorage).Get(0x%x)\n\t/a.go:1\n\n", criStore, 0xc000000000+n*0x1000)
	}
	random := uint64(1)
	noise := func(b []byte, _ int) []byte {
		for range 512 {
			random = random*6364136223846793005 + 1442695040888963407
			b = append(b, byte(random>>33), byte(random>>41), byte(random>>49), byte(random>>57))
		}
		return append(b, "\ngoroutine 1 [select]:\n"...)
	}
	for _, tt := range []struct {
		name  string
		first []byte // then part after part
		part  func(b []byte, n int) []byte
		size  int  // MB; less where they are made with much work
		found bool // the holder in first
	}{
		{"the same", nil, func(b []byte, _ int) []byte { return append(b, whole...) }, 200, false},
		{"one line", nil, func(b []byte, _ int) []byte { return append(b, line...) }, 200, false},
		{"one goroutine", []byte("goroutine 1 [select]:\n"), func(b []byte, n int) []byte { return fmt.Appendf(b, "main.f%d()\n\t/a.go:1\n", n) }, 20, false},
		{"stacks that differ", whole, many, 40, true},
		{"locks that differ", whole, waiters, 30, true},
		{"noise", whole, noise, 20, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			runtime.GC()
			before := inUse()
			e := &endless{left: tt.size << 20, part: tt.part, pending: tt.first}
			s, err := Read(e)
			used := (max(e.peak, before) - before) >> 20
			if t.Logf("%d MB at once", used); used >= 40 {
				t.Errorf("%d MB at once, want less than 40", used)
			}
			if err != nil && s.Total > 0 {
				t.Error(err)
			}
			within(t, s)
			if found := len(s.Locks) > 0 && slices.ContainsFunc(s.Locks, func(l evidence.Lock) bool { return l.Holder.Number == 18600 }); tt.found && !found {
				t.Errorf("the holder was not found: %+v", s.Locks)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add(file(f, real))
	f.Add([]byte(text(2, "semacquire, 3 minutes", in(mutex, "a.(*A).Get(0xc000195000)", "b.(*B).Put(0xc000196000)")...)))
	f.Add([]byte("goroutine 7 gp=0xc000002380 m=nil [select (durable), 100 minutes, synctest bubble 3]:\nmain.f({0x1, ...}, _, 0xc000195000?)\n\t/a.go:1\n\n"))
	f.Add([]byte("goroutine 1 [semacquire]:\nsync.(*Mutex).lockSlow(0xffffffffffffffff)\n\t/a\n)()\n\t\n\n"))
	f.Fuzz(func(t *testing.T, dump []byte) {
		s, err := Read(bytes.NewReader(dump))
		within(t, s)
		if (err == nil) != (s.Total > 0) || s.Total > bytes.Count(dump, []byte("goroutine ")) {
			t.Errorf("%d goroutines, error %v", s.Total, err)
		}
	})
}

// dump10MB is 10 MB as a runtime under load has them: some hundred stacks, most of the
// goroutines in a few of them.
func dump10MB() []byte {
	var b bytes.Buffer
	for n := 1; b.Len() < 10<<20; n++ {
		at := fmt.Sprintf("0xc%09x", n*0x1000)
		outer := []string{handler("ListContainers"), "google.golang.org/grpc.(*Server).processUnaryRPC(0xc000800000, {0x1a, 0xc0})", "google.golang.org/grpc.(*Server).handleStream(0xc000800000)"}
		switch n % 4 {
		case 0:
			b.WriteString(text(n, "sync.RWMutex.RLock, 3 minutes", in(rlock, append([]string{criStore + get}, outer...)...)...))
		case 1:
			b.WriteString(text(n, "select", in(ttrpc, append([]string{fmt.Sprintf("example.com/pkg%d.(*T).M(%s)", n%300, at)}, outer...)...)...))
		default:
			b.WriteString(text(n, "IO wait, 90 minutes", "internal/poll.runtime_pollWait(0x7f47138c9600, 0x72)", "internal/poll.(*FD).Read("+at+", {0x25a8b9744000, 0x8000, 0x8000})", "net.(*conn).Read("+at+")"))
		}
	}
	return b.Bytes()
}

func BenchmarkRead(b *testing.B) {
	dump := dump10MB()
	b.SetBytes(int64(len(dump)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(bytes.NewReader(dump)); err != nil {
			b.Fatal(err)
		}
	}
}
