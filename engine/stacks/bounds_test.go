package stacks

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/plegtop/plegtop/engine/evidence"
)

// endless is a text that is made while it is read. While it is read, it notes how much memory is in use.
type endless struct {
	left    int // bytes
	part    func(b []byte, n int) []byte
	n       int
	buffer  []byte
	pending []byte
	unnoted int
	peak    uint64
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	if len(e.pending) == 0 {
		e.buffer = e.part(e.buffer[:0], e.n)
		e.pending, e.n = e.buffer, e.n+1
	}
	n := copy(p, e.pending)
	e.pending, e.left, e.unnoted = e.pending[n:], e.left-n, e.unnoted+n
	if e.unnoted > 4<<20 {
		e.unnoted = 0
		e.peak = max(e.peak, inUse())
	}
	return n, nil
}

func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// within checks what must be true of any result.
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

// The memory in use has a limit, however long the text is. The holder at the beginning of the text is found.
func TestReadOfVeryMuch(t *testing.T) {
	whole, line := file(t, real), bytes.Repeat([]byte("goroutine 1 [select]:"), 1000)
	random := uint64(1)
	for _, tt := range []struct {
		name  string
		size  int                          // MB; less where the text is much work
		part  func(b []byte, n int) []byte // after the whole dump
		limit uint64                       // MB
	}{
		{"the same", 64, func(b []byte, _ int) []byte { return append(b, whole...) }, 5},
		{"one line", 64, func(b []byte, _ int) []byte { return append(b, line...) }, 5},
		{"one goroutine", 20, func(b []byte, n int) []byte {
			if n == 0 {
				b = append(b, "goroutine 1 [select]:\n"...)
			}
			return fmt.Appendf(b, "main.f%d()\n\t/a.go:1\n", n)
		}, 10},
		{"everything at its limit", 60, func(b []byte, n int) []byte {
			b = fmt.Appendf(b, "goroutine %d [%060d, %d minutes]:\nsync.(*Mutex).Lock(...)\n\t/a.go:1\n", 20000+n, n, n%90)
			for i := range 12 {
				name := n*12 + i
				if name >= maxNames { // no new name
					name = (n*7919 + i*31) % (maxNames / 4) * 4
				}
				b = fmt.Appendf(b, "a%d%s.(*T).M(0x%x)\n\t/a.go:1\n", name, strings.Repeat("x", min(name%4, 1)*480), 0xc000000000+n*0x1000+i)
			}
			return append(b, '\n')
		}, 30},
		{"other stacks after its limit", 60, func(b []byte, n int) []byte {
			const alike = maxInKept / maxFrames / 4 // fills what is kept with few stacks
			b = fmt.Appendf(b, "goroutine %d [%060d, %d minutes]:\nsync.(*Mutex).Lock(...)\n\t/a.go:1\n", 20000+n, n, n%90)
			for i := range maxFrames - 1 {
				name := i
				if n >= 4*alike {
					name = (n*7919 + i*31) % maxNames
				} else if i == 0 {
					name = n / alike
				}
				b = fmt.Appendf(b, "a%d.(*T).M(0x%x)\n\t/a.go:1\n", name, 0xc000000000+n*0x1000+i)
			}
			return append(b, '\n')
		}, 30},
		{"noise", 20, func(b []byte, _ int) []byte {
			for range 512 {
				random = random*6364136223846793005 + 1442695040888963407
				b = append(b, byte(random>>33), byte(random>>41), byte(random>>49), byte(random>>57))
			}
			return append(b, "\ngoroutine 1 [select]:\n"...)
		}, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := inUse()
			e := &endless{left: tt.size << 20, part: tt.part, pending: slices.Clone(whole)}
			s, err := Read(e)
			if err != nil {
				t.Fatal(err)
			}
			used := (max(e.peak, before) - before) >> 20
			if t.Logf("%d MB of %d goroutines", used, s.Total); used >= tt.limit {
				t.Errorf("%d MB in use, want less than %d", used, tt.limit)
			}
			within(t, s)
			if !slices.ContainsFunc(s.Locks, func(l evidence.Lock) bool { return l.Holder.Number == 18600 }) {
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

// BenchmarkRead reads 10 MB as a runtime under load writes them: some hundred stacks, with most of the
// goroutines in a few of them.
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

// A lock counts even if its first waiter comes when no more goroutines are kept.
func TestLockAfterManyGoroutines(t *testing.T) {
	var dump strings.Builder
	for n := range maxKept {
		dump.WriteString(text(n+1, "select", fmt.Sprintf("main.idle%d()", n/(maxAlike/2))))
	}
	for n := range 2 {
		dump.WriteString(text(maxKept+n+1, "sync.Mutex.Lock", in(mutex, "a.(*A).Get(0xc000195000)")...))
	}
	s, err := Read(strings.NewReader(dump.String()))
	within(t, s)
	if err != nil || len(s.Locks) != 1 || s.Locks[0].Waiters != 2 || s.Groups[len(s.Groups)-1].State != "sync.Mutex.Lock" {
		t.Errorf("%d goroutines, locks %+v, %v", s.Total, s.Locks, err)
	}
}
