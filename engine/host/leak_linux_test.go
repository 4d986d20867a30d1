package host

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/stacks"
)

// After any number of deep looks, no more files are open and no more goroutines are left than after the first
// one.
func TestDeepLooksLeaveNothingBehind(t *testing.T) {
	r := newRig(t, "containerd")
	listenUnix(t, filepath.Join(r.root, "run/debug.sock"), r.wrap("debug", says(oneGoroutine)))
	metrics := httptest.NewServer(r.wrap("metrics", says(callMetrics(map[string][2]int{"Version": {4, 3}}))))
	defer metrics.Close()
	writeFile(t, filepath.Join(r.root, "etc/containerd/config.toml"), "imports = ['conf.d/*']\n[debug]\naddress = '/run/debug.sock'\n[metrics]\naddress = '"+strings.TrimPrefix(metrics.URL, "http://")+"'\n")
	writeFile(t, filepath.Join(r.root, "dev/kmsg"), nfsRecord)
	writeFile(t, filepath.Join(r.root, fmt.Sprintf("tmp/containerd.%d.stacks.log", os.Getpid())), oneGoroutine)
	writeFile(t, filepath.Join(r.root, "etc/containerd/conf.d/x.toml"), "")
	for i := range 5 {
		fixtureBundle(t, filepath.Join(r.root, fixtureTasks, longID(fmt.Sprint(i))), "a", "b")
	}
	writeProcess(t, r.root, fakeShim(100, longID("1"), r.root+"/run/cri.sock"))
	writeFile(t, filepath.Join(r.root, "run/dbus/x"), "")
	(&fakeBus{units: map[string]map[string]any{"kubelet.service": {"ActiveState": "active"}}}).serve(t, r.root)
	n, err := New(r.config())
	if err != nil {
		t.Fatal(err)
	}
	l := &Look{Node: &Node{Config: r.config()}}
	look := func() (isAll bool) {
		look := n.Look(t.Context(), true)
		got := look.Deep
		return l.readDump(stacks.Read).Total == 1 && got.Objects.All != nil && got.Units.All != nil && look.Kernel.Missing == "" && got.Calls.Missing == "" && got.Stacks.Missing == ""
	}
	for good, until := 0, time.Now().Add(time.Minute); good < 2; { // sooner or later, for the machine may be busy
		good++
		if !look() {
			good = 0
		}
		if time.Now().After(until) {
			t.Fatalf("there is only %+v", n.Look(t.Context(), true).Deep)
		}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which closes files that nobody has closed
	files, goroutines := openFileCount(t), runtime.NumGoroutine()
	for range 100 {
		look()
	}
	const spare = 4 // of other tests' ends and of the servers here
	for until := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
		nowFiles, now := openFileCount(t), runtime.NumGoroutine()
		if nowFiles <= files+spare && now <= goroutines+spare {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("%d files are open, before it were %d; %d goroutines, before it were %d", nowFiles, files, now, goroutines)
		}
	}
}
