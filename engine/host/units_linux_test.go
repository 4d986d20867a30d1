package host

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/evidence"
)

// A fakeBus is a system bus with a systemd, as far as it is asked in these tests. It notes each call.
type fakeBus struct {
	units  map[string]map[string]any // properties by name
	refuse dbus.Error                // if it has a name, of each call but Hello
	mu     sync.Mutex
	calls  []string
}

// serve listens at the bus's path below root.
func (f *fakeBus) serve(t *testing.T, root string) {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(root, busPath))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go f.talk(c)
		}
	}()
}

func (f *fakeBus) talk(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		switch line, err := in.ReadString('\n'); {
		case err != nil:
			return
		case strings.HasSuffix(line, "AUTH\r\n"):
			fmt.Fprint(c, "REJECTED EXTERNAL\r\n")
		case strings.HasPrefix(line, "AUTH EXTERNAL"):
			fmt.Fprint(c, "DATA\r\n")
		case strings.HasPrefix(line, "DATA"):
			fmt.Fprint(c, "OK 0123456789abcdef0123456789abcdef\r\n")
		case line == "BEGIN\r\n":
			for f.answer(c, in) == nil {
			}
			return
		}
	}
}

func (f *fakeBus) answer(c net.Conn, in *bufio.Reader) error {
	call, err := dbus.DecodeMessage(in)
	if err != nil {
		return err
	}
	header := func(h dbus.HeaderField) string { return strings.Trim(call.Headers[h].String(), `"`) }
	f.mu.Lock()
	f.calls = append(f.calls, strings.TrimSuffix(fmt.Sprint(header(dbus.FieldInterface), ".", header(dbus.FieldMember), call.Body), "[]"))
	f.mu.Unlock()
	path, _ := call.Headers[dbus.FieldPath].Value().(dbus.ObjectPath)
	body, failed := f.reply(header(dbus.FieldMember), filepath.Base(string(path)), call)
	reply := &dbus.Message{Type: dbus.TypeMethodReply, Headers: map[dbus.HeaderField]dbus.Variant{
		dbus.FieldReplySerial: dbus.MakeVariant(call.Serial()), dbus.FieldSender: dbus.MakeVariant("org.freedesktop.DBus"),
	}}
	if failed != "" {
		reply.Type, body = dbus.TypeError, failed
		reply.Headers[dbus.FieldErrorName] = dbus.MakeVariant(failed)
	}
	reply.Body = []any{body}
	reply.Headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(body))
	return reply.EncodeTo(c, binary.LittleEndian)
}

func (f *fakeBus) reply(method, path string, call *dbus.Message) (body any, failed string) {
	switch {
	case method == "Hello":
		return ":1.7", ""
	case f.refuse.Name != "":
		return nil, f.refuse.Name
	case call.Flags&dbus.FlagNoAutoStart == 0:
		return nil, "test.MayStartSomething"
	case method == "GetUnit":
		name := call.Body[0].(string)
		if f.units[name] == nil {
			return nil, "org.freedesktop.systemd1.NoSuchUnit"
		}
		return dbus.ObjectPath("/org/freedesktop/systemd1/unit/" + strings.ReplaceAll(name, ".", "_2e")), ""
	case method == "Get":
		value, known := f.units[strings.ReplaceAll(path, "_2e", ".")][call.Body[1].(string)]
		if !known {
			return nil, "org.freedesktop.DBus.Error.UnknownProperty"
		}
		return dbus.MakeVariant(value), ""
	}
	return nil, "org.freedesktop.DBus.Error.UnknownMethod"
}

// deepUnits looks deep at a node with these processes.
func deepUnits(t *testing.T, f *fakeBus, endpoint string, looks ...[]fakeProcess) evidence.Units {
	t.Helper()
	root := tree(t, map[string]string{"run/dbus/x": "", "proc/uptime": "1 1\n"})
	if f != nil {
		f.serve(t, root)
	}
	n := &Node{Config: Config{Root: root, Endpoint: endpoint}, parts: []part{{"units", deepOrNew, units, nil}}}
	w := newFixtureWalker(root)
	for i, processes := range looks {
		for _, p := range processes {
			writeProcess(t, root, p)
		}
		found := w.look(t.Context(), firstLook.Add(time.Duration(i)*time.Second)).Processes
		n.daemons.look(found.Daemons)
	}
	u := n.Look(t.Context(), true).Deep.Units
	u.Took = 0
	return u
}

func TestUnitsBySystemd(t *testing.T) {
	f := &fakeBus{units: map[string]map[string]any{
		"containerd.service": {"ActiveState": "activating", "SubState": "auto-restart", "NRestarts": uint32(12), "ExecMainStartTimestampMonotonic": uint64(5)},
		"kubelet.service":    {"ActiveState": "active", "SubState": "running", "ExecMainStartTimestampMonotonic": uint64((sinceBoot("", false) - time.Minute).Microseconds())},
		"other.service":      {"ActiveState": "failed"},
	}}
	got := deepUnits(t, f, "", []fakeProcess{{PID: 10, Comm: "containerd", Cgroup: "/system.slice/containerd.service"}})
	if len(got.All) != 2 || got.Missing != "" || got.Partial != "" || !strings.HasPrefix(got.From, "systemd at /") {
		t.Fatalf("units %+v", got)
	}
	up := got.All[1].Up
	if up < time.Minute || up > 2*time.Minute {
		t.Errorf("kubelet is up for %v", up)
	}
	want := []evidence.Unit{{Name: "containerd.service", State: "activating (auto-restart)", Restarts: 12}, {Name: "kubelet.service", State: "active", Up: up}}
	if diff := cmp.Diff(want, got.All); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	calls := []string{"org.freedesktop.DBus.Hello"}
	for _, unit := range []string{"containerd.service", "kubelet.service"} {
		calls = append(calls, "org.freedesktop.systemd1.Manager.GetUnit["+unit+"]")
		for _, p := range []string{"Unit ActiveState", "Unit SubState", "Service NRestarts", "Service ExecMainStartTimestampMonotonic"} {
			calls = append(calls, "org.freedesktop.DBus.Properties.Get[org.freedesktop.systemd1."+p+"]")
		}
	}
	if diff := cmp.Diff(calls, f.calls); diff != "" {
		t.Errorf("it was asked (-want +got):\n%s", diff)
	}
}

// If systemd does not answer, what looks have seen takes its place.
func TestUnitsByTheirProcesses(t *testing.T) {
	first := fakeProcess{PID: 10, Comm: "containerd", Cgroup: "/system.slice/containerd.service"}
	second := first
	second.PID, second.Started = 11, 2*time.Hour
	gone := fakeProcess{PID: 10, Comm: "sleep"}
	seen := func(restarts int, up time.Duration) []evidence.Unit {
		return []evidence.Unit{{Name: "containerd.service", Restarts: restarts, Up: up}}
	}
	up := testUptime - time.Hour
	for _, tt := range []struct {
		name  string
		bus   *fakeBus
		looks [][]fakeProcess
		want  []evidence.Unit
		says  string
	}{
		{"no bus", nil, [][]fakeProcess{{first}}, seen(0, up), "no such file or directory"},
		{"no systemd at the bus", &fakeBus{refuse: dbus.Error{Name: "org.freedesktop.DBus.Error.NameHasNoOwner"}}, [][]fakeProcess{{first}}, seen(0, up), "NameHasNoOwner"},
		{"restarted", nil, [][]fakeProcess{{first}, {gone, second}}, seen(1, up-time.Hour), "no such file"},
		{"two at once", nil, [][]fakeProcess{{first}, {first, second}}, seen(0, up), "no such file"},
		{"nothing at all", nil, nil, nil, "no such file"},
		{"a unit that systemd does not know", &fakeBus{units: map[string]map[string]any{}}, [][]fakeProcess{{first}}, seen(0, up), ""},
	} {
		got := deepUnits(t, tt.bus, "", tt.looks...)
		if diff := cmp.Diff(tt.want, got.All); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if said := got.Missing + got.Partial; !strings.Contains(said, tt.says) || tt.says == "" && said != "" || (got.Missing != "") != (tt.want == nil) {
			t.Errorf("%s: %+v, want %q", tt.name, got.Source, tt.says)
		}
	}
}

// If a bus takes the connection and does not answer, that costs a second, and no more.
func TestUnitsOfABusThatIsSilent(t *testing.T) {
	root := tree(t, map[string]string{"run/dbus/x": ""})
	l, err := net.Listen("unix", filepath.Join(root, busPath))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r := evidence.Report{Deep: new(evidence.Deep)}
	put, _ := units(t.Context(), &Look{Node: &Node{Config: Config{Root: root}}})
	put(&r)
	if !strings.Contains(r.Deep.Units.Missing, "no answer in time") {
		t.Errorf("%+v", r.Deep.Units)
	}
}

func TestServicesToAskFor(t *testing.T) {
	for _, tt := range []struct {
		endpoint string
		daemons  []evidence.Process
		want     string
	}{
		{"unix:///run/crio/crio.sock", nil, "crio.service kubelet.service"},
		{"", nil, "containerd.service kubelet.service"},
		{"unix:///run/cri-dockerd.sock", nil, "cri-docker.service kubelet.service"},
		{"unix:///run/k3s/containerd/containerd.sock", nil, "k3s.service k3s-agent.service rke2-server.service rke2-agent.service"},
		{"unix:///run/k0s/containerd.sock", nil, "k0scontroller.service k0sworker.service"},
		{"unix:///run/k0s/containerd.sock", []evidence.Process{{PID: 1, Command: "containerd", Unit: "k0sworker.service"}}, "k0sworker.service"},
		{"unix:///run/k0s/containerd.sock", []evidence.Process{{PID: 1, Command: "kubelet", Unit: "k0sworker.service"}}, "k0sworker.service k0scontroller.service"},
		{"unix:///var/snap/microk8s/common/run/containerd.sock", nil, "snap.microk8s.daemon-containerd.service snap.microk8s.daemon-kubelite.service"},
		{"", []evidence.Process{{PID: 1, Command: "containerd", Unit: "docker.service"}, {PID: 2, Command: "kubelet", Unit: "kubelet.service"}}, "docker.service kubelet.service"},
		{"", []evidence.Process{{PID: 1, Command: "k3s-server", Unit: "k3s.service"}, {PID: 2, Command: "containerd", Unit: "k3s.service"}}, "k3s.service"},
		{"", []evidence.Process{{PID: 1, Command: "containerd", Unit: "containerd"}, {PID: 2, Command: "kubelet"}}, "containerd.service kubelet.service"},
	} {
		w := new(daemonWatch)
		w.look(tt.daemons)
		if got := strings.Join(w.services(tt.endpoint), " "); got != tt.want {
			t.Errorf("%s %v: %s, want %s", tt.endpoint, tt.daemons, got, tt.want)
		}
	}
	w := new(daemonWatch)
	for i := range 100 {
		w.look([]evidence.Process{{PID: i, Command: "containerd", Unit: fmt.Sprint(i, ".service")}})
	}
	if got := w.services(""); len(got) != mostUnits+1 {
		t.Errorf("%d services are asked for", len(got))
	}
}

// For a runtime that was started a moment ago the init system is asked even if nothing hangs. For other
// runtimes it is not.
func TestServicesOfANewRuntime(t *testing.T) {
	const endpoint = "/run/containerd/containerd.sock"
	for age, want := range map[time.Duration]int{20 * time.Second: 12, time.Hour: 0} {
		f := &fakeBus{units: map[string]map[string]any{
			"containerd.service": {"ActiveState": "active", "SubState": "running", "NRestarts": uint32(12)},
		}}
		root := tree(t, map[string]string{
			"run/dbus/x": "", "run/containerd/x": "",
			"proc/10/net/unix": "Num RefCount Protocol Flags Type St Inode Path\n0: 00000002 00000000 00010000 0001 01 4711 " + endpoint + "\n",
			"proc/10/fd/x":     "",
		})
		f.serve(t, root)
		if err := os.Symlink("socket:[4711]", filepath.Join(root, "proc/10/fd/7")); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(root, "proc/10/fd/x")); err != nil {
			t.Fatal(err)
		}
		writeProcess(t, root, fakeProcess{PID: 10, Comm: "containerd", Cgroup: "/system.slice/containerd.service", Started: testUptime - age})
		n := &Node{Config: Config{Root: root, Endpoint: endpoint}, parts: []part{
			{"processes", always, newWalker(root, endpoint, time.Hour).read, nil}, {"units", deepOrNew, units, nil},
		}}
		got := 0
		for _, u := range n.Look(t.Context(), false).Services {
			got += u.Restarts
		}
		if got != want || (len(f.calls) > 0) != (want > 0) {
			t.Errorf("begun %v ago: %d restarts, want %d; asked %v", age, got, want, f.calls)
		}
	}
}
