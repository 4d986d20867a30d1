package e2e

import (
	"bufio"
	"cmp"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine"
)

// Where a real kubelet and its API server are; README.md says what must be there.
var (
	besideKubelet = os.Getenv("PLEGTOP_KUBELET") != ""
	kubeletDir    = cmp.Or(os.Getenv("PLEGTOP_KUBELET_DIR"), filepath.Join(os.TempDir(), "plegtop-kubelet"))
	runtimeDir    = cmp.Or(os.Getenv("PLEGTOP_KUBELET_RUNTIME"), filepath.Join(os.TempDir(), "plegtop-rig"))
	nodeURL       = cmp.Or(os.Getenv("PLEGTOP_KUBELET_NODE"), "https://127.0.0.1:16443/api/v1/nodes/klnode")
	nodeToken     = cmp.Or(os.Getenv("PLEGTOP_KUBELET_TOKEN"), "adm")
)

// agreeWithin is how far what plegtop says of a node may be from what is so.
const agreeWithin = 5 * time.Second

// The moments of a fault, each as the time since it began; 0 for one that did not come.
type moments struct {
	loop, unhealthy, posted, again time.Duration
}

// What plegtop says of a node, beside what its kubelet logs and posts.
func TestNodeBesideItsKubelet(t *testing.T) {
	if !besideKubelet {
		t.Skip("set PLEGTOP_KUBELET=1 to hold plegtop against a real kubelet; see README.md")
	}
	hang := func(rules ...string) func(*realNode) func() {
		return func(n *realNode) func() { return n.rig(rules...) }
	}
	for _, p := range []struct {
		name    string
		lasts   time.Duration
		watched time.Duration // after its end
		begin   func(n *realNode) (end func())
	}{
		{"no network", 25 * time.Second, 25 * time.Second, (*realNode).takeNetwork},
		{"killed 15s", 15 * time.Second, 30 * time.Second, (*realNode).kill},
		{"stopped 75s", 75 * time.Second, 25 * time.Second, (*realNode).stop},
		{"killed 75s", 75 * time.Second, 25 * time.Second, (*realNode).kill},
		{"Status hangs", 60 * time.Second, 25 * time.Second, hang("hang Status")},
		{"one ContainerStatus hangs", 190 * time.Second, 20 * time.Second, func(n *realNode) func() { return n.hangContainers("p1") }},
		{"two ContainerStatus hang", 215 * time.Second, 25 * time.Second, func(n *realNode) func() { return n.hangContainers("p1", "p2") }},
		{"stopped 434s", 434 * time.Second, 30 * time.Second, (*realNode).stop},
	} {
		t.Run(p.name, func(t *testing.T) {
			n := newRealNode(t)
			began := time.Now()
			end := n.follow(began, p.lasts, p.watched, func() func() { return p.begin(n) })
			n.report(end)
		})
	}
}

// A realNode is a node with a real kubelet, and plegtop's engine beside it.
type realNode struct {
	t      *testing.T
	w      *witness
	rt     criv1.RuntimeServiceClient
	client *http.Client

	began  time.Time
	log    *bufio.Reader // of the kubelet, from the start of the fault on
	line   string        // read so far
	posted bool          // Ready, as the API server has it
	theirs moments
	ours   moments

	forecasts []forecast
}

type forecast struct {
	at time.Time
	engine.Posting
}

func newRealNode(t *testing.T) *realNode {
	t.Helper()
	socket := filepath.Join(kubeletDir, "proxy.sock") // the kubelet's own
	k, err := Connect(socket, t.TempDir())
	must(t, err)
	t.Cleanup(func() { k.Close() })
	n := &realNode{
		t: t, rt: k.rt, w: watchAs(t, socket, engine.Config{}),
		client: &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}},
	}
	eventually(t, "the node is ready, for the kubelet and for plegtop", func() bool {
		s, _ := n.w.seen()
		return n.isPosted() && s.Node.Ready && s.Node.Known && s.At.Sub(s.Started) > 20*time.Second
	})
	return n
}

// follow makes the fault, ends it, and takes down both sides until it has watched.
func (n *realNode) follow(began time.Time, lasts, watched time.Duration, begin func() func()) (ended time.Duration) {
	f, err := os.Open(filepath.Join(kubeletDir, "log", "kubelet.log"))
	must(n.t, err)
	defer f.Close()
	_, err = f.Seek(0, io.SeekEnd)
	must(n.t, err)
	n.log, n.began, n.posted = bufio.NewReader(f), began, true
	end := begin()
	defer func() { end() }()
	for now := time.Duration(0); now < lasts+watched; {
		<-time.After(200 * time.Millisecond)
		now = time.Since(began)
		if ended == 0 && now >= lasts {
			end()
			end, ended = func() {}, now
		}
		n.readLog()
		n.askAPI()
		n.look()
	}
	return ended
}

var logTime = regexp.MustCompile(`^[IEW]\d{4} (\d\d:\d\d:\d\d\.\d{6})`)

// readLog reads what the kubelet has logged since.
func (n *realNode) readLog() {
	for {
		part, err := n.log.ReadString('\n')
		n.line += part
		if err != nil {
			return
		}
		line := n.line
		n.line = ""
		if !strings.Contains(line, "Skipping pod synchronization") {
			continue
		}
		m := logTime.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		at, err := time.ParseInLocation("2006-01-02 15:04:05.000000", n.began.Format(time.DateOnly)+" "+m[1], time.Local)
		must(n.t, err)
		first(&n.theirs.loop, at.Sub(n.began))
		if strings.Contains(line, "PLEG is not healthy") {
			first(&n.theirs.unhealthy, at.Sub(n.began))
		}
	}
}

func first(to *time.Duration, at time.Duration) {
	if *to == 0 {
		*to = at
	}
}

// askAPI looks at what is posted.
func (n *realNode) askAPI() {
	ready := n.isPosted()
	if ready == n.posted {
		return
	}
	n.posted = ready
	if !ready {
		first(&n.theirs.posted, time.Since(n.began))
	} else {
		n.theirs.again = time.Since(n.began)
	}
}

func (n *realNode) isPosted() bool {
	q, err := http.NewRequest(http.MethodGet, nodeURL, nil)
	must(n.t, err)
	q.Header.Set("Authorization", "Bearer "+nodeToken)
	r, err := n.client.Do(q)
	if err != nil {
		return n.posted
	}
	defer r.Body.Close()
	var node struct {
		Status struct {
			Conditions []struct{ Type, Status string }
		}
	}
	must(n.t, json.NewDecoder(r.Body).Decode(&node))
	for _, c := range node.Status.Conditions {
		if c.Type == "Ready" {
			return c.Status == "True"
		}
	}
	n.t.Fatal("the node has no Ready condition: ", nodeURL)
	return false
}

// look takes down what plegtop says.
func (n *realNode) look() {
	s, _ := n.w.seen()
	node := s.Node
	if !node.LoopStopped.IsZero() {
		first(&n.ours.loop, node.LoopStopped.Sub(n.began))
	}
	if !s.Health.Healthy {
		first(&n.ours.unhealthy, s.Health.Since.Sub(n.began))
	}
	switch {
	case !node.Ready:
		first(&n.ours.posted, node.Since.Sub(n.began))
	case n.ours.posted > 0:
		n.ours.again = node.Since.Sub(n.began)
	}
	if next := node.Next; !next.From.IsZero() && (len(n.forecasts) == 0 || n.forecasts[len(n.forecasts)-1].Posting != next) {
		n.forecasts = append(n.forecasts, forecast{s.At, next})
	}
}

// report prints both sides, and fails where they differ.
func (n *realNode) report(ended time.Duration) {
	n.t.Helper()
	seconds := func(d time.Duration) string {
		if d == 0 {
			return "never"
		}
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64)
	}
	n.t.Logf("%-34s %9s %9s   (the fault ended at %s)", "seconds after the fault", "kubelet", "plegtop", seconds(ended))
	for _, row := range []struct {
		what         string
		theirs, ours time.Duration
	}{
		{"sync loop stopped", n.theirs.loop, n.ours.loop},
		{"PLEG unhealthy", n.theirs.unhealthy, n.ours.unhealthy},
		{"NotReady posted", n.theirs.posted, n.ours.posted},
		{"Ready again", n.theirs.again, n.ours.again},
	} {
		n.t.Logf("%-34s %9s %9s", row.what, seconds(row.theirs), seconds(row.ours))
		if (row.theirs == 0) != (row.ours == 0) || (row.theirs-row.ours).Abs() > agreeWithin {
			n.t.Errorf("%s: the kubelet at %s, plegtop at %s", row.what, seconds(row.theirs), seconds(row.ours))
		}
	}
	for _, row := range []struct {
		what  string
		ready bool
		at    time.Duration
	}{{"NotReady foretold", false, n.theirs.posted}, {"Ready foretold", true, n.theirs.again}} {
		for _, f := range n.forecasts {
			if f.Ready != row.ready {
				continue
			}
			from, to := f.From.Sub(n.began), f.To.Sub(n.began)
			off := max(from-row.at, row.at-to, 0)
			n.t.Logf("%-34s %9s %s to %s, off by %s", fmt.Sprintf("%s at %s", row.what, seconds(f.at.Sub(n.began))), seconds(row.at), seconds(from), seconds(to), seconds(off))
			if off > agreeWithin && (ended == 0 || f.at.Sub(n.began) > ended || to < ended) {
				n.t.Errorf("%s: off by %s", row.what, seconds(off))
			}
		}
	}
}

// runtime returns the runtime's process, after a look at what it is.
func (n *realNode) runtime() int {
	text, err := os.ReadFile(filepath.Join(runtimeDir, "pid"))
	must(n.t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	must(n.t, err)
	n.isA(pid, "containerd")
	return pid
}

func (n *realNode) isA(pid int, command string) {
	comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil || strings.TrimSpace(string(comm)) != command {
		n.t.Fatalf("process %d is %q, not %s: %v", pid, comm, command, err)
	}
}

// stop stops the runtime, and has it go on.
func (n *realNode) stop() func() {
	pid := n.runtime()
	must(n.t, syscall.Kill(pid, syscall.SIGSTOP))
	return func() { must(n.t, syscall.Kill(pid, syscall.SIGCONT)) }
}

// kill kills the runtime, and starts it again.
func (n *realNode) kill() func() {
	must(n.t, syscall.Kill(n.runtime(), syscall.SIGKILL))
	return func() {
		log, err := os.OpenFile(filepath.Join(runtimeDir, "log"), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
		must(n.t, err)
		defer log.Close()
		bin := filepath.Join(runtimeDir, "bin")
		c := exec.Command(filepath.Join(bin, "containerd"), "-c", filepath.Join(runtimeDir, "config.toml"))
		c.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
		c.Stdout, c.Stderr, c.SysProcAttr = log, log, &syscall.SysProcAttr{Setsid: true}
		must(n.t, c.Start())
		must(n.t, os.WriteFile(filepath.Join(runtimeDir, "pid"), fmt.Appendln(nil, c.Process.Pid), 0o644))
		must(n.t, c.Process.Release())
	}
}

// rig gives the proxy its rules, and takes them away.
func (n *realNode) rig(rules ...string) func() {
	control := filepath.Join(kubeletDir, "ctl")
	must(n.t, os.WriteFile(control, []byte(strings.Join(rules, "\n")), 0o644))
	return func() { must(n.t, os.WriteFile(control, nil, 0o644)) }
}

// takeNetwork takes the configuration of the network away, and puts it back.
func (n *realNode) takeNetwork() func() {
	at := filepath.Join(runtimeDir, "cni", "10-rig.conflist")
	must(n.t, os.Rename(at, at+".away"))
	return func() { must(n.t, os.Rename(at+".away", at)) }
}

// hangContainers lets the status of the first container of each pod hang, and ends the
// second one, so that the pod is inspected.
func (n *realNode) hangContainers(pods ...string) func() {
	list, err := n.rt.ListContainers(n.t.Context(), &criv1.ListContainersRequest{
		Filter: &criv1.ContainerFilter{State: &criv1.ContainerStateValue{State: criv1.ContainerState_CONTAINER_RUNNING}},
	})
	must(n.t, err)
	var rules []string
	var ends []int
	for _, c := range list.Containers {
		switch pod := c.Labels["io.kubernetes.pod.name"]; {
		case !slices.Contains(pods, strings.TrimSuffix(pod, "-klnode")):
		case c.Metadata.Name == "c1":
			rules = append(rules, "hang ContainerStatus "+c.Id)
		default:
			ends = append(ends, n.workloadOf(c.Id))
		}
	}
	if len(rules) != len(pods) || len(ends) != len(pods) {
		n.t.Fatalf("%v: %d containers c1 and %d others run, want one each", pods, len(rules), len(ends))
	}
	end := n.rig(rules...)
	for _, pid := range ends {
		must(n.t, syscall.Kill(pid, syscall.SIGKILL))
	}
	return end
}

// workloadOf finds the process of a container by its cgroup.
func (n *realNode) workloadOf(id string) int {
	files, err := filepath.Glob("/proc/[0-9]*/cgroup")
	must(n.t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ESRCH) {
			n.t.Fatal(err)
		}
		if strings.Contains(string(text), id) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			must(n.t, err)
			n.isA(pid, "wl")
			return pid
		}
	}
	n.t.Fatal("no process in the cgroup of container ", id)
	return 0
}
