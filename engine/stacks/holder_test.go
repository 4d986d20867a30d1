package stacks

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/evidence"
)

// text returns a goroutine as Go writes it; its functions are the innermost first.
func text(number int, state string, functions ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "goroutine %d [%s]:\n", number, state)
	for _, f := range functions {
		fmt.Fprintf(&b, "%s\n\t/src/file.go:10 +0x1d\n", f)
	}
	return b.String() + "created by google.golang.org/grpc.(*Server).serveStreams.func2 in goroutine 9\n\t/src/server.go:20 +0x11\n\n"
}

// startedBy returns the text of a goroutine that another goroutine has started.
func startedBy(number int, text string) string {
	return strings.Replace(text, "in goroutine 9\n", fmt.Sprintf("in goroutine %d\n", number), 1)
}

// The innermost frames of a goroutine that waits for a lock, in different releases of Go.
var (
	rlock119 = []string{"sync.runtime_SemacquireMutex(0x7f?, 0x1?, 0x0?)", "sync.(*RWMutex).RLock(...)"}
	rlock    = []string{"sync.runtime_SemacquireRWMutexR(0x217f?, 0x7f?, 0x18ea5ce4c72a3bad?)", "sync.(*RWMutex).RLock(...)"}
	mutex119 = []string{"sync.runtime_SemacquireMutex(0xc000200004?, 0x0?, 0xc0?)", "sync.(*Mutex).lockSlow(0xc000200000)", "sync.(*Mutex).Lock(...)"}
	mutex    = []string{"internal/sync.runtime_SemacquireMutex(0xc000200004?, 0x0?, 0xc0?)", "internal/sync.(*Mutex).lockSlow(0xc000200000)", "internal/sync.(*Mutex).Lock(...)", "sync.(*Mutex).Lock(...)"}
	wlock    = []string{"sync.runtime_SemacquireRWMutex(0xc0005d2190?, 0x0?, 0x0?)", "sync.(*RWMutex).Lock(0xc000200000)"}
	ttrpc    = []string{"github.com/containerd/ttrpc.(*Client).dispatch(0xc000900000, {0x1a, 0xc00}, 0x1)", "github.com/containerd/ttrpc.(*Client).Call(0xc000900000, {0x1a, 0xc00}, {0x19, 0x17})"}
	command  = []string{"syscall.Syscall6(0xf7, 0x1)", "os.(*Process).pidfdWait(0xc000a00000)", "os.(*Process).Wait(...)", "os/exec.(*Cmd).Wait(0xc000b00000)", "os/exec.(*Cmd).Run(0xc000b00000)"}
)

// Functions that the goroutines are in.
const (
	criStore = "github.com/containerd/containerd/v2/internal/cri/store/"
	criOld   = "github.com/containerd/containerd/pkg/cri/store/"
	get      = "container.(*statusStorage).Get(0xc000100000)"
	update   = "container.(*statusStorage).UpdateSync(0xc000100000, 0xc000500000)"
	crio     = "github.com/cri-o/cri-o/"
	state    = crio + "internal/oci.(*Container).State(0xc000100000)"
	oci      = crio + "internal/oci.(*runtimeOCI)."
	ofOCI    = "(0xc000300000, {0x1a, 0xc000400000}, 0xc000100000, 0xc000500000)"
	bolt     = "go.etcd.io/bbolt.(*DB)."
	meta     = "github.com/containerd/containerd/v2/core/metadata.(*DB)."
)

func handler(method string) string {
	return "k8s.io/cri-api/pkg/apis/runtime/v1._RuntimeService_" + method + "_Handler({0x1996f40, 0xc000800000}, {0x1a, 0xc0}, 0xc0, 0xc0)"
}

// in returns a stack: the inner functions, called from the outer ones.
func in(inner []string, outer ...string) []string {
	return append(slices.Clip(inner), outer...)
}

func TestHolder(t *testing.T) {
	const taskUpdate = "github.com/containerd/containerd/api/runtime/task/v3.(*ttrpctaskClient).Update(0xc000700000, {0x1a, 0xc0}, 0xc0)"
	type lock struct {
		of      string
		waiters int
		holder  int
		likely  bool
		doing   string
		waits   string
	}
	waits := func(number int, inner []string, outer ...string) string {
		return text(number, "semacquire, 5 minutes", in(inner, outer...)...)
	}
	list := func(number int) string { return waits(number, rlock, criStore+get, handler("ListContainers")) }
	for _, tt := range []struct {
		name string
		dump []string
		want []lock
	}{
		{"by a call of a shim", []string{list(2), list(3), text(4, "select, 7 minutes", in(ttrpc, taskUpdate, criStore+update)...)},
			[]lock{{evidence.OfContainer, 2, 4, false, "ttrpc Task.Update", ""}}},
		{"of containerd 1.7 by Go 1.19, held by one that comes first", []string{
			text(4, "select, 7 minutes", in(ttrpc, "github.com/containerd/containerd/api/runtime/task/v2.(*taskClient).Kill(0xc000700000)", criOld+update)...),
			waits(2, rlock119, criOld+get)},
			[]lock{{evidence.OfContainer, 1, 4, false, "ttrpc Task.Kill", ""}}},
		{"by gRPC", []string{list(2), text(4, "select", "google.golang.org/grpc.(*ClientConn).Invoke(0xc0)",
			"github.com/containerd/containerd/api/runtime/task/v3.(*grpctaskClient).Kill(0xc0)", criStore+update)},
			[]lock{{evidence.OfContainer, 1, 4, false, "grpc Task.Kill", ""}}},
		{"of another container", []string{list(2), text(4, "select", in(ttrpc, taskUpdate, strings.Replace(criStore+update, "0xc000100000", "0xc000110000", 1))...)},
			[]lock{{evidence.OfContainer, 1, 0, false, "", ""}}},
		{"of a sandbox with the address of a container", []string{list(2), text(4, "select", criStore+"sandbox.(*statusStorage).Update(0xc000100000, 0xc0)")},
			[]lock{{evidence.OfContainer, 1, 0, false, "", ""}}},
		{"by an address that is inexact", []string{list(2), text(4, "select", in(ttrpc, taskUpdate, strings.Replace(criStore+update, "0xc000100000", "0xc000100000?", 1))...)},
			[]lock{{evidence.OfContainer, 1, 4, true, "ttrpc Task.Update", ""}}},
		{"of an address that is inexact", []string{strings.Replace(list(2), "0xc000100000", "0xc000100000?", 1), text(4, "select", criStore+update)},
			[]lock{{evidence.OfContainer, 1, 4, true, "wait for a channel", ""}}},
		{"of an address that is inexact once", []string{strings.Replace(list(2), "0xc000100000", "0xc000100000?", 1), list(3), text(4, "select", criStore+update)},
			[]lock{{evidence.OfContainer, 2, 4, false, "wait for a channel", ""}}},
		{"that was inlined, and one may hold it", []string{
			waits(2, rlock, criStore+"container.(*statusStorage).Get(...)"), text(4, "select", criStore+update)},
			[]lock{{evidence.OfContainer, 1, 4, true, "wait for a channel", ""}}},
		{"that was inlined, and two may hold it", []string{
			waits(2, rlock, criStore+"container.(*statusStorage).Get(...)"), text(4, "select", criStore+update), text(5, "select", criStore+update)},
			[]lock{{evidence.OfContainer, 1, 0, false, "", ""}}},
		{"of two of whom one waits for it", []string{list(2), waits(3, wlock, criStore+update), text(4, "syscall", "syscall.Fsync(0x3)", "os.(*File).Sync(0xc0)", criStore+update)},
			[]lock{{evidence.OfContainer, 2, 4, false, "fsync", ""}}},
		{"of two who may hold it, the one that asks a shim", []string{list(2), text(3, "running, 9 minutes", criStore+get), text(4, "select", in(ttrpc, taskUpdate, criStore+update)...)},
			[]lock{{evidence.OfContainer, 1, 4, true, "ttrpc Task.Update", ""}}},
		{"by nobody", []string{list(2), list(3)}, []lock{{evidence.OfContainer, 2, 0, false, "", ""}}},
		{"none is waited for", []string{text(4, "select", in(ttrpc, taskUpdate, criStore+update)...),
			text(5, "semacquire", "sync.runtime_SemacquireWaitGroup(0x0?)", "sync.(*WaitGroup).Wait(0xc000100000)", criStore+get),
			text(6, "sync.Cond.Wait", "sync.runtime_notifyListWait(0xc0)", "sync.(*Cond).Wait(0xc0)", criStore+get),
			text(7, "running", "sync.(*RWMutex).Unlock(0xc000100000)", criStore+get)}, nil},

		{"of CRI-O by a runtime that is asked", []string{waits(2, rlock, state, handler("ListContainers")),
			text(4, "syscall, 6 minutes", in(command, oci+"runtimeCmd(0xc000300000, {0xc0, 0x2, 0x2})", oci+"UpdateContainerStatus"+ofOCI, crio+"internal/oci.(*Runtime).UpdateContainerStatus"+ofOCI)...)},
			[]lock{{evidence.OfContainer, 1, 4, false, "exec of a program", ""}}},
		{"of CRI-O, waited for by who was given the container", []string{waits(2, mutex, oci+"UpdateContainer"+ofOCI), waits(3, mutex119, oci+"DeleteContainer(0xc000300000, {0x1a, 0xc0}, 0xc000110000)"),
			text(4, "syscall", in(command, oci+"StopLoopForContainer"+ofOCI)...)},
			[]lock{{evidence.OfContainer, 1, 4, false, "exec of a program", ""}, {evidence.OfContainer, 1, 0, false, "", ""}}},
		{"of CRI-O, and the dump does not tell which container", []string{waits(2, mutex, oci+"UpdateContainer(_, {_, _}, _, 0xc000100000)"),
			text(4, "syscall", in(command, oci+"StopLoopForContainer"+ofOCI)...)},
			[]lock{{evidence.OfContainer, 1, 0, false, "", ""}}},
		{"of CRI-O by one who waits for the end of the stop without it", []string{waits(2, rlock, state),
			text(4, "select", crio+"internal/oci.(*Container).WaitOnStopTimeout(0xc000100000)", oci+"StopContainer"+ofOCI)},
			[]lock{{evidence.OfContainer, 1, 0, false, "", ""}}},
		{"of the stop of a sandbox, not of the server", []string{waits(2, wlock, crio+"server.(*Server).stopPodSandbox(0xc000600000, {0x1a, 0xc0}, 0xc000120000)"),
			text(3, "syscall", in(command, crio+"server.(*Server).stopPodSandbox(0xc000600000, {0x1a, 0xc0}, 0xc000130000)")...),
			text(4, "syscall", in(command, crio+"server.(*Server).stopPodSandbox(0xc000600000, {0x1a, 0xc0}, 0xc000120000)")...)},
			[]lock{{"stop of a sandbox", 1, 4, false, "exec of a program", ""}}},
		{"of a service that all calls go through", []string{waits(2, mutex, crio+"server.(*Server).RunPodSandbox(0xc000200000, {0x1a, 0xc0}, 0xc0)"),
			text(4, "syscall", crio+"server.(*Server).ListPods(0xc000200000)")},
			[]lock{{"server.(*Server).RunPodSandbox", 1, 0, false, "", ""}}},

		{"of the network plugin by one whose child runs it", []string{waits(2, rlock, "github.com/containerd/go-cni.(*libcni).Status(0xc000140000)", handler("Status")),
			text(4, "chan receive, 3 minutes", "github.com/containerd/go-cni.(*libcni).attachNetworks(0xc000140000)", "github.com/containerd/go-cni.(*libcni).Setup(0xc000140000)", handler("RunPodSandbox")),
			startedBy(4, text(5, "syscall, 3 minutes", in(command, "github.com/containernetworking/cni/libcni.(*CNIConfig).AddNetworkList(0xc0)")...))},
			[]lock{{"network plugin (CNI)", 1, 4, false, "CNI add", ""}}},
		{"of the metadata, waited for in the database below", []string{
			waits(2, mutex, bolt+"beginRWTx(0xc000150000)", bolt+"Begin(...)", bolt+"Update(0xc000150000, 0xc0)", meta+"Update(0xc000160000, 0xc0)"),
			text(3, "running", bolt+"View(0xc000150000)", meta+"View(0xc000160000)"),
			text(4, "syscall", "golang.org/x/sys/unix.Fdatasync(0x8)", bolt+"Update(0xc000150000, 0xc0)", meta+"Update(0xc000160000, 0xc0)")},
			[]lock{{"metadata database", 1, 4, false, "fsync", ""}}},
		{"of a database of its own", []string{waits(2, mutex, bolt+"beginRWTx(0xc000150000)", bolt+"Update(0xc000150000, 0xc0)", "main.f()"),
			text(3, "select", bolt+"View(0xc000150000)"), text(4, "select", bolt+"Update(0xc000150000, 0xc0)")},
			[]lock{{"database", 1, 4, false, "wait for a channel", ""}}},
		{"of one key of many", []string{
			waits(2, nil, "golang.org/x/sync/semaphore.(*Weighted).Acquire(0xc000170000, {0x1a, 0xc0}, 0x1)", "github.com/containerd/containerd/v2/internal/kmutex.(*keyMutex).Lock(0xc000180000, {0x1a, 0xc0})"),
			waits(3, nil, "golang.org/x/sync/semaphore.(*Weighted).Acquire(0xc000171000, {0x1a, 0xc0}, 0x1)", "github.com/containerd/containerd/v2/internal/kmutex.(*keyMutex).Lock(0xc000180000, {0x1a, 0xc0})"),
			text(4, "select", "golang.org/x/sync/semaphore.(*Weighted).Acquire(0xc000172000, {0x1a, 0xc0}, 0x1)", "main.limit()")},
			[]lock{{"one key of an image layer or a mount", 1, 0, false, "", ""}, {"one key of an image layer or a mount", 1, 0, false, "", ""}}},

		{"of a kind that is not known", []string{waits(2, mutex, "example.com/a/store.(*Store).Get(0xc000190000)"), text(4, "syscall", "syscall.Unmount({0xc0, 0x2}, 0x0)", "example.com/a/store.(*Store).Remove(0xc000190000)")},
			[]lock{{"store.(*Store).Get", 1, 4, true, "unmount", ""}}},
		{"of a kind that is not known, and too many may hold it", []string{waits(2, mutex, "example.com/a/store.(*Store).Get(0xc000190000)"),
			strings.Repeat(text(4, "syscall", "example.com/a/store.(*Store).Remove(0xc000190000)"), maxHolders+1)},
			[]lock{{"store.(*Store).Get", 1, 0, false, "", ""}}},
		{"of a kind that is not known, and one of two may hold it by many of its functions", []string{waits(2, mutex, "example.com/a/store.(*Store).Get(0xc000190000)"),
			text(3, "syscall, 9 minutes", "example.com/a/store.(*Store).Walk(0xc000190000)"),
			text(4, "syscall", slices.Repeat([]string{"example.com/a/store.(*Store).Remove(0xc000190000)"}, maxHolders+1)...)},
			[]lock{{"store.(*Store).Get", 1, 3, true, "system call", ""}}},
		{"through a wrapper", []string{waits(2, mutex, "a/lockfile.(*LockFile).lock(0xc000191000)", "a/lockfile.(*LockFile).Lock(...)", "a/storage.(*store).Layers(0xc000192000)"),
			text(4, "syscall", "os.RemoveAll({0xc0, 0x1})", "a/storage.(*store).DeleteContainer(0xc000192000)")},
			[]lock{{"storage.(*store).Layers", 1, 4, true, "removal of files", ""}}},
		{"that is done once", []string{waits(2, mutex, "sync.(*Once).doSlow(0xc000193000, 0x1)", "sync.(*Once).Do(...)", "main.f()"), text(4, "IO wait", "net.(*conn).Read(0xc0)", "main.f.func1()", "sync.(*Once).doSlow(0xc000193000, 0x1)")},
			[]lock{{"sync.(*Once).doSlow", 1, 4, true, "read of a socket", ""}}},

		{"taken again after a wait for a condition", []string{waits(2, mutex, "sync.(*Cond).Wait(0xc000200000)", criStore+get), text(4, "select", criStore+update)},
			[]lock{{evidence.OfContainer, 1, 4, false, "wait for a channel", ""}}},

		{"one behind the other", []string{list(2), list(3), waits(4, mutex, "github.com/containerd/containerd/v2/internal/nri.(*local).UpdateContainer(0xc000194000)", criStore+update),
			text(5, "select", in(ttrpc, "github.com/containerd/nri/pkg/api.(*pluginClient).UpdateContainer(0xc0)", "github.com/containerd/containerd/v2/internal/nri.(*local).StopContainer(0xc000194000)")...)},
			[]lock{{evidence.OfContainer, 2, 4, false, "another lock", "0xc000194000"}, {"NRI plugins", 1, 5, false, "ttrpc Plugin.UpdateContainer", ""}}},
		{"of two who wait for each other", []string{
			waits(2, mutex, "a.(*A).Get(0xc000195000)", "b.(*B).Put(0xc000196000)"), waits(3, mutex, "b.(*B).Get(0xc000196000)", "a.(*A).Put(0xc000195000)")},
			[]lock{{"a.(*A).Get", 1, 3, true, "another lock", "0xc000196000"}, {"b.(*B).Get", 1, 2, true, "another lock", "0xc000195000"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Read(strings.NewReader(strings.Join(tt.dump, "")))
			if err != nil {
				t.Fatal(err)
			}
			var got []lock
			for _, l := range s.Locks {
				got = append(got, lock{l.Of, l.Waiters, l.Holder.Number, l.Likely, l.Holder.Doing, l.Holder.Waits})
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(lock{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// For the waiters of a lock, the calls, how many there are, and how long they have waited.
func TestWaiters(t *testing.T) {
	dump := text(2, "sync.RWMutex.RLock, 3 minutes", in(rlock, criStore+get, handler("ListContainers"))...) +
		text(3, "sync.RWMutex.RLock, 12 minutes", in(rlock, criStore+get, handler("ContainerStatus"))...) +
		text(4, "sync.RWMutex.RLock", in(rlock, criStore+get, handler("ListContainers"))...) +
		text(5, "sync.RWMutex.RLock", in(rlock, criStore+get, "main.background()")...) +
		text(6, "sync.RWMutex.RLock", in(rlock, criStore+get, handler("StreamContainers"))...)
	s, err := Read(strings.NewReader(dump))
	want := []evidence.Lock{{
		Of: evidence.OfContainer, Address: "0xc000100000", Waiters: 5, Longest: 12 * time.Minute, Calls: []string{"ContainerStatus", "ListContainers"},
	}}
	if diff := cmp.Diff(want, s.Locks); diff != "" || err != nil || s.Open != nil {
		t.Errorf("%s, open %v, error %v", diff, s.Open, err)
	}
	if g := s.Groups[0]; g.Count != 2 || g.First != 2 || g.Longest != 3*time.Minute || g.State != "sync.RWMutex.RLock" {
		t.Errorf("the largest group is %+v", g)
	}
}

// The functions that show what a goroutine does: the rows of knowledge.Signs. A more important one comes before
// an inner one.
func TestDoing(t *testing.T) {
	const cni = "github.com/containernetworking/cni/libcni.(*CNIConfig)."
	for _, tt := range []struct{ state, functions, want string }{
		{"syscall", cni + "addNetwork", "CNI add"},
		{"syscall", "os/exec.(*Cmd).Wait " + cni + "DelNetworkList.func1", "CNI del"},
		{"syscall", cni + "CheckNetworkList", "CNI check"},
		{"syscall", cni + "GetStatusNetworkList", "CNI status"},
		{"syscall", cni + "GCNetworkList", "CNI gc"},
		{"syscall", "golang.org/x/sys/unix.Unmount", "unmount"},
		{"syscall", "syscall.Mount", "mount"},
		{"syscall", "syscall.Fsync os.(*File).Sync os.(*File).Write", "fsync"},
		{"syscall", "os.RemoveAll", "removal of files"},
		{"syscall", "os.OpenFile", "open of a file"},
		{"syscall", "os.Lstat", "stat of a file"},
		{"syscall", "os.(*Process).Wait", "exec of a program"},
		{"IO wait", "os.(*File).Read github.com/containerd/fifo.(*fifo).Read", "read of a pipe"},
		{"syscall", "os.(*File).Read", "read of a file"},
		{"IO wait", "os.(*File).Write", "write of a pipe"},
		{"IO wait", "net.(*conn).Read", "read of a socket"},
		{"IO wait", "net.(*conn).Write", "write to a socket"},
		{"sleep", "time.Sleep", "sleep"},
		{"chan receive", "main.f", "wait for a channel"},
		{"sync.WaitGroup.Wait", "main.f", "wait for other goroutines"},
		{"IO wait", "main.f", "input or output"},
		{"syscall", "main.os.RemoveAll", "system call"},
		{"running", "main.f", ""},
	} {
		functions := strings.Fields(tt.functions)
		for i := range functions {
			functions[i] += "(0xc000100000)"
		}
		s, err := Read(strings.NewReader(text(2, tt.state, append(functions, handler("Status"))...)))
		if err != nil || len(s.Open) != 1 || s.Open[0].Doing != tt.want {
			t.Errorf("%s in %s: %+v, %v, want %q", tt.functions, tt.state, s.Open, err, tt.want)
		}
	}
}

// What a goroutine does that answers a call or waits for another program: the longest first, and each once.
func TestOpen(t *testing.T) {
	const task = "github.com/containerd/containerd/api/runtime/task/v3.(*ttrpctaskClient)."
	dump := text(2, "select, 90 minutes", in(ttrpc, task+"Wait(0xc0)")...) + // of every container
		text(5, "select", in(ttrpc, task+"Kill(0xc0)", handler("StopContainer"))...) +
		text(4, "select, 2 minutes", in(ttrpc, task+"Delete(0xc0)")...) +
		text(3, "chan receive, 4 minutes", handler("RunPodSandbox")) +
		startedBy(3, text(6, "syscall, 4 minutes", in(command, "github.com/containernetworking/cni/libcni.(*CNIConfig).DelNetworkList(0xc0)")...)) +
		text(8, "chan receive", handler("StartContainer")) +
		startedBy(8, text(9, "select", in(ttrpc, task+"Wait(0xc0)")...)) +
		text(7, "IO wait, 90 minutes", "os.(*File).Read(0xc0)", "github.com/containerd/fifo.(*fifo).Read(0xc0)")
	s, err := Read(strings.NewReader(dump))
	var got []string
	for _, g := range s.Open {
		got = append(got, fmt.Sprintf("%d %s %q %s", g.Number, g.For, g.Call, g.Doing))
	}
	want := []string{`3 4m0s "RunPodSandbox" CNI del`, `4 2m0s "" ttrpc Task.Delete`, `5 0s "StopContainer" ttrpc Task.Kill`, `8 0s "StartContainer" wait for a channel`}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%s, error %v", diff, err)
	}
}
