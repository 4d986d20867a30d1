//go:build linux

package e2e

import (
	"bufio"
	"cmp"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/kubelet"
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
	kubelet.Posting
	withdrawn bool // before its time
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
	last := &forecast{}
	if len(n.forecasts) > 0 {
		last = &n.forecasts[len(n.forecasts)-1]
	}
	switch next := node.Next; {
	case next.From.IsZero():
		last.withdrawn = last.withdrawn || s.At.Before(last.From)
	case next != last.Posting:
		n.forecasts = append(n.forecasts, forecast{at: s.At, Posting: next})
	}
}

// foretold reports whether a posting came in a range that plegtop gave for it before.
func (n *realNode) foretold(ready bool, at time.Duration) bool {
	return slices.ContainsFunc(n.forecasts, func(f forecast) bool {
		from, to := f.From.Sub(n.began), f.To.Sub(n.began)
		return f.Ready == ready && f.at.Sub(n.began) <= at && from <= at && at <= to
	})
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
	// Status and Version that come back together race in the kubelet itself: whether it
	// posts what was before, for 10 s, is decided by less than a millisecond.
	race := n.theirs.posted == 0 && n.ours.posted > 0 && (n.ours.posted-ended).Abs() < time.Second
	for i, row := range []struct {
		what         string
		theirs, ours time.Duration
	}{
		{"sync loop stopped", n.theirs.loop, n.ours.loop},
		{"PLEG unhealthy", n.theirs.unhealthy, n.ours.unhealthy},
		{"NotReady posted", n.theirs.posted, n.ours.posted},
		{"Ready again", n.theirs.again, n.ours.again},
	} {
		n.t.Logf("%-34s %9s %9s", row.what, seconds(row.theirs), seconds(row.ours))
		switch {
		case race && i >= 2:
			n.t.Log("its Status was quicker than its Version: nothing to post")
		case i >= 2 && row.theirs > 0 && n.foretold(i == 3, row.theirs):
		case (row.theirs == 0) != (row.ours == 0) || (row.theirs-row.ours).Abs() > agreeWithin:
			n.t.Errorf("%s: the kubelet at %s, plegtop at %s", row.what, seconds(row.theirs), seconds(row.ours))
		}
	}
	for _, row := range []struct {
		what  string
		ready bool
		at    time.Duration
	}{{"NotReady foretold", false, n.theirs.posted}, {"Ready foretold", true, n.theirs.again}} {
		for _, f := range n.forecasts {
			from, to := f.From.Sub(n.began), f.To.Sub(n.began)
			if f.Ready != row.ready || row.at == 0 && (race || f.withdrawn || to > ended) {
				continue // it did not come, and was not to come
			}
			off := max(from-row.at, row.at-to, 0)
			n.t.Logf("%-34s %9s %s to %s, off by %s", fmt.Sprintf("%s at %s", row.what, seconds(f.at.Sub(n.began))), seconds(row.at), seconds(from), seconds(to), off.Round(100*time.Millisecond))
			if off > agreeWithin && (f.at.Sub(n.began) > ended || to < ended) {
				n.t.Errorf("%s: off by %s", row.what, seconds(off))
			}
		}
	}
}
