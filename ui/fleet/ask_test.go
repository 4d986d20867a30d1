package fleet

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/lines"
)

// many is a cluster that nobody should have.
const many = 5000

// hangs and slow are 1 % of its nodes each.
func hangs(i int) bool { return i%100 == 42 }
func slow(i int) bool  { return i%100 == 7 }

// givesUp ends a request as its deadline would, once the API has told that it hangs.
type givesUp struct {
	http.RoundTripper
	hung *sync.Map // of paths: a channel that is closed
}

func (g givesUp) of(path string) chan struct{} {
	c, _ := g.hung.LoadOrStore(path, make(chan struct{}))
	return c.(chan struct{})
}

func (g givesUp) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	go func() {
		select {
		case <-g.of(r.URL.Path):
			cancel(context.DeadlineExceeded)
		case <-ctx.Done():
		}
	}()
	resp, err := g.RoundTripper.RoundTrip(r.WithContext(ctx))
	if err != nil {
		cancel(nil)
	}
	return resp, err
}

// TestEveryNodeHasItsRow holds that the table of a big cluster is complete by real HTTP over a
// socket, whatever hangs, that each node was asked once, and no more than so many at once.
func TestEveryNodeHasItsRow(t *testing.T) {
	g := givesUp{hung: new(sync.Map)}
	good, sick, late := said(t, "quiet"), said(t, "hung-update"), make(chan struct{})
	var answered atomic.Int32
	s := &standIn{pods: named(many), nodes: append(named(many), "without-1", "without-2")}
	s.check = func(i int) reply {
		if answered.Add(1) == many*4/5 {
			close(late)
		}
		switch {
		case hangs(i):
			close(g.of("/api/v1/namespaces/kube-system/pods/plegtop-" + s.pods[i][5:] + ":9469/proxy/check"))
			return reply{hang: true}
		case slow(i):
			return reply{body: sick, wait: func() { <-late }}
		}
		return reply{body: good}
	}
	f := s.serve(t, func(rt http.RoundTripper) http.RoundTripper { g.RoundTripper = rt; return g })
	r, err := f.look(t.Context(), func(Round) {})
	if err != nil {
		t.Fatal(err)
	}
	if c, want := r.counts(), (Counts{Nodes: many + 2, Critical: many / 100, Sound: many / 100 * 98, Unanswered: many / 100, NoPod: 2}); c != want || !r.Done {
		t.Errorf("%+v, want %+v", c, want)
	}
	rows := map[string]bool{}
	for _, n := range r.Nodes {
		rows[n.Name] = true
	}
	if len(rows) != many+2 || slices.ContainsFunc(s.asked, func(n int) bool { return n != 1 }) {
		t.Errorf("%d rows; asked more or less than once", len(rows))
	}
	if s.atOnce > width || s.atOnce < 2 {
		t.Errorf("%d were asked at once, want up to %d", s.atOnce, width)
	}
	if n := len(s.lists); n != 2*(many/page)+1 {
		t.Errorf("%d lists, want pages of %d: %v", n, page, s.lists)
	}
	if got := strings.Count(string(appendTable(nil, r, look().Theme.Symbols)), "\n"); got != many+2+2 {
		t.Errorf("the table has %d lines", got)
	}
}

// TestRoundEndsInTime holds what a round may take where 1 % of the nodes hang, and 1 % answer at
// the last moment; and that it says how far it is meanwhile.
func TestRoundEndsInTime(t *testing.T) {
	good := said(t, "quiet")
	synctest.Test(t, func(t *testing.T) {
		s := &standIn{pods: named(many), check: func(i int) reply {
			switch {
			case hangs(i):
				return reply{hang: true}
			case slow(i):
				return reply{body: good, wait: func() { time.Sleep(within - time.Millisecond) }}
			}
			return reply{body: good, wait: func() { time.Sleep(20 * time.Millisecond) }}
		}}
		f := &fleet{api: api{&http.Client{Transport: inBubble{s}}}}
		began, shown := time.Now(), 0
		last := many
		r, err := f.look(t.Context(), func(r Round) {
			shown++
			c := r.counts()
			if r.Done || c.Nodes != many || c.asking > last {
				t.Errorf("shown: %+v", c)
			}
			last = c.asking
		})
		if took := time.Since(began); err != nil || took > 10*time.Second {
			t.Errorf("it took %v, %v", took, err)
		}
		if c := r.counts(); c.Unanswered != many/100 || c.Sound != many-many/100 || s.atOnce != width || shown < 10 {
			t.Errorf("%+v, %d at once, shown %d times", c, s.atOnce, shown)
		}
	})
}

// TestFollow holds that a round begins every 10 s, and not before the last has ended.
func TestFollow(t *testing.T) {
	good := said(t, "quiet")
	synctest.Test(t, func(t *testing.T) {
		var gone atomic.Bool
		s := &standIn{pods: named(1), check: func(int) reply { return reply{body: good, wait: func() { time.Sleep(time.Second) }} }}
		api := api{&http.Client{Transport: inBubble{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if gone.Load() {
				refuse(w, http.StatusBadGateway, "")
			} else {
				s.ServeHTTP(w, r)
			}
		})}}}
		ctx, cancel := context.WithCancel(t.Context())
		to := make(chan news, 1)
		p := &proxy{ended: make(chan struct{})}
		go p.follow(ctx, &fleet{api: api}, to)
		var began []time.Time
		for len(began) < 3 {
			if n := <-to; n.err != nil {
				t.Fatal(n.err)
			} else if n.Done {
				began = append(began, n.At)
			}
		}
		if a, b := began[1].Sub(began[0]), began[2].Sub(began[1]); a != every || b != every {
			t.Errorf("rounds began %v and %v after each other", a, b)
		}
		close(p.ended)
		gone.Store(true)
		for n := range to {
			if n.err != nil {
				if !strings.Contains(n.err.Error(), "kubectl proxy ended") {
					t.Error(n.err)
				}
				break
			}
		}
		cancel()
		synctest.Wait()
	})
}

// TestWhatComesOfANode holds that nodes that did not answer are told apart, and what they say.
func TestWhatComesOfANode(t *testing.T) {
	for name, tt := range map[string]struct {
		is    reply
		code  int // of the pod
		phase string
		state State
		why   string
		code2 int // the exit code
	}{
		"sound":            {is: reply{body: said(t, "quiet")}, state: Answered, code2: lines.ExitOK},
		"a warning":        {is: reply{body: said(t, "crashloop")}, state: Answered, code2: lines.ExitWarning},
		"critical":         {is: reply{body: said(t, "hung-update")}, state: Answered, code2: lines.ExitCritical},
		"critical, by 503": {is: reply{body: said(t, "hung-update")}, code: 503, state: Refused, why: "HTTP 503: {", code2: lines.ExitCannotTell},
		"not healthy":      {is: reply{body: `{"schema":"plegtop/check/1","headline":{"word":"STARTING","severity":"info"}}`}, state: Answered, code2: lines.ExitWarning},
		"hangs":            {is: reply{hang: true}, state: NoAnswer, why: "in 3s", code2: lines.ExitCannotTell},
		"refuses":          {is: reply{code: 503, body: "error trying to reach service: dial tcp 10.0.0.5:9469: connect: connection refused"}, state: Refused, why: "connection refused", code2: lines.ExitCannotTell},
		"gone":             {is: reply{code: 404, body: `pods "plegtop-0" not found`}, state: Refused, why: "not found", code2: lines.ExitCannotTell},
		"another program":  {is: reply{body: "<html>"}, state: NotPlegtop, why: "unreadable answer: invalid character", code2: lines.ExitCannotTell},
		"another's 404":    {is: reply{body: "404 page\x1b[2J not found\n"}, code: 404, state: NotPlegtop, why: "HTTP 404: 404 page^[[2J not found", code2: lines.ExitCannotTell},
		"another schema":   {is: reply{body: `{"schema":"other/1"}`}, state: NotPlegtop, why: "no schema plegtop/check/", code2: lines.ExitCannotTell},
		"an endless one":   {is: reply{body: `{"schema":"` + strings.Repeat("x", checkMost)}, state: NotPlegtop, why: "longer than 2.0M", code2: lines.ExitCannotTell},
		"pending":          {phase: "Pending", state: NotRunning, why: "Pending", code2: lines.ExitCannotTell},
		"crashed":          {phase: "Crashed", state: NotRunning, why: "Error", code2: lines.ExitCannotTell},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &standIn{pods: named(1), check: func(int) reply { return tt.is }, phase: map[int]string{0: tt.phase}}
				if tt.code != 0 {
					s.status = func(int) int { return tt.code }
				}
				r, err := (&fleet{api: api{&http.Client{Transport: inBubble{s}}}}).look(t.Context(), func(Round) {})
				if err != nil {
					t.Fatal(err)
				}
				n := r.Nodes[0]
				if n.State != tt.state || !strings.Contains(n.Why, tt.why) || tt.why == "" && n.Why != "" || r.code() != tt.code2 {
					t.Errorf("%+v, exit code %d", *n, r.code())
				}
				if tt.state == Answered && (n.Headline == nil || n.Headline.Word == "") {
					t.Errorf("no headline: %+v", *n)
				}
			})
		})
	}
}

// TestWhatIsDoneAboutErrors holds that who may not see anything, or sees nothing, is told what to do.
func TestWhatIsDoneAboutErrors(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*standIn) http.Handler
		want   string
	}{
		"no DaemonSet": {func(s *standIn) http.Handler { s.pods = nil; return s }, "no pod in any namespace has the label app.kubernetes.io/name=plegtop: apply docs/deploy/daemonset.yaml"},
		"no pods": {func(*standIn) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { refuse(w, 403, "pods is forbidden") })
		}, "list pods: pods is forbidden; docs/deploy/rbac.yaml has the rights"},
		"not logged in": {func(*standIn) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { refuse(w, 401, "Unauthorized") })
		}, "list pods: Unauthorized; log in"},
		"no API server": {func(*standIn) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				http.Error(w, "dial tcp 10.0.0.1:6443: connect: connection refused", http.StatusBadGateway)
			})
		}, "list pods: kubectl proxy: HTTP 502: dial tcp 10.0.0.1:6443: connect: connection refused"},
		"no proxy to pods": {func(s *standIn) http.Handler {
			s.check = func(int) reply {
				return reply{code: 403, body: "pods \"plegtop-0\" is forbidden: cannot get resource \"pods/proxy\""}
			}
			return s
		}, "ask the pods: pods \"plegtop-0\" is forbidden: cannot get resource \"pods/proxy\"; docs/deploy/rbac.yaml"},
	} {
		s := &standIn{pods: named(3), nodes: named(5)}
		f := &fleet{api: api{&http.Client{Transport: inBubble{tt.change(s)}}}}
		if _, err := f.look(t.Context(), func(Round) {}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
}

// TestBigClustersAreListedSeldom holds that a list of several pages is taken every sixth round.
func TestBigClustersAreListedSeldom(t *testing.T) {
	good := said(t, "quiet")
	for n, want := range map[int]int{page: 7 * 2, page + 1: 2 * 3} { // of pods, and of nodes, which nobody may list
		s := &standIn{pods: named(n), check: func(int) reply { return reply{body: good} }}
		f := &fleet{api: api{&http.Client{Transport: inBubble{s}}}}
		for range 7 {
			if _, err := f.look(t.Context(), func(Round) {}); err != nil {
				t.Fatal(err)
			}
		}
		if len(s.lists) != want {
			t.Errorf("%d pods: %d lists in 7 rounds, want %d", n, len(s.lists), want)
		}
	}
}

// TestHostilePods holds that a pod leads nobody anywhere, and ends nothing for the others.
func TestHostilePods(t *testing.T) {
	good := said(t, "quiet")
	s := &standIn{pods: named(3)}
	s.check = func(i int) reply {
		return []reply{{body: good}, {code: 403, body: "you may not"}, {body: good, to: "/api/v1/namespaces/kube-system/secrets"}}[i]
	}
	r, err := s.serve(t, nil).look(t.Context(), func(Round) {})
	if err != nil || r.counts().Sound != 1 || r.counts().Unanswered != 2 {
		t.Errorf("%v, %+v", err, r.counts())
	}
	if len(s.lists) != 2 {
		t.Errorf("the API was asked for %v", s.lists)
	}
}

// TestNamespace holds that in a namespace that is named no right on others is needed.
func TestNamespace(t *testing.T) {
	s := &standIn{pods: named(2), check: func(int) reply { return reply{body: said(t, "quiet")} }}
	f := &fleet{api: api{&http.Client{Transport: inBubble{s}}}, namespace: "kube-system"}
	if r, err := f.look(t.Context(), func(Round) {}); err != nil || r.code() != lines.ExitOK {
		t.Errorf("%v", err)
	}
	if !strings.HasPrefix(s.lists[0], "/api/v1/namespaces/kube-system/pods?") {
		t.Errorf("listed %v", s.lists)
	}
}

// TestOn holds how the pod on a node is found, and what is said where there is none.
func TestOn(t *testing.T) {
	s := &standIn{pods: []string{"worker-17", "worker-18"}, phase: map[int]string{1: "Pending"}}
	f := &fleet{api: api{&http.Client{Transport: inBubble{s}}}}
	for node, want := range map[string]string{
		"worker-17": "", "worker-18": "does not run: Pending", "worker-71": `no pod of plegtop is on a node called "worker-71"; did you mean worker-17`,
	} {
		p, err := f.on(t.Context(), node)
		if want == "" && (err != nil || p.Metadata.Name != "plegtop-0") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %+v, %v", node, p, err)
		}
	}
}

// TestOfTwoPodsOneIsAsked holds that while a DaemonSet is rolled out a node is one row.
func TestOfTwoPodsOneIsAsked(t *testing.T) {
	s := &standIn{pods: []string{"a", "a", "b", "b"}, phase: map[int]string{0: "Failed", 3: "Failed"}, check: func(int) reply { return reply{body: said(t, "quiet")} }}
	r, err := (&fleet{api: api{&http.Client{Transport: inBubble{s}}}}).look(t.Context(), func(Round) {})
	if err != nil || len(r.Nodes) != 2 || r.counts().Sound != 2 {
		t.Errorf("%v: %+v", err, r.counts())
	}
}

// TestCulprit holds who is named, of answers that plegtop gave.
func TestCulprit(t *testing.T) {
	for name, want := range map[string]string{
		"hung-update": "runc update (5m) of payments/api-", "status-lock": "default/nfs-client-", "crashloop": "staging/mailer-", "quiet": "",
	} {
		s := &standIn{pods: named(1), check: func(int) reply { return reply{body: said(t, name)} }}
		r, err := (&fleet{api: api{&http.Client{Transport: inBubble{s}}}}).look(t.Context(), func(Round) {})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Nodes[0].Culprit; !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestOrder holds that the worst is first.
func TestOrder(t *testing.T) {
	head := func(name string, s diagnose.Severity, h diagnose.Headline) *Node {
		h.Severity = s
		return &Node{Name: name, State: Answered, Severity: s, Headline: &h}
	}
	missed := func(name string, is State) *Node {
		n := &Node{Name: name}
		n.miss(is, "")
		return n
	}
	soon := func(d time.Duration) diagnose.Headline {
		return diagnose.Headline{Clock: diagnose.Clock{What: "NotReady", In: d}}
	}
	r := Round{Nodes: []*Node{
		head("sound", diagnose.Info, diagnose.Headline{}), missed("bare", NoPod), head("warned", diagnose.Warning, diagnose.Headline{}),
		missed("silent-b", NoAnswer), missed("silent-a", NoAnswer), missed("down", NotRunning), head("critical", diagnose.Critical, diagnose.Headline{}),
		head("in-2m", diagnose.Critical, soon(2*time.Minute)), head("in-1m", diagnose.Critical, soon(time.Minute)),
		head("notready", diagnose.Critical, diagnose.Headline{Node: diagnose.NodeNotReady}),
	}}
	r.sort()
	var got []string
	for _, n := range r.Nodes {
		got = append(got, n.Name)
	}
	want := strings.Fields("notready in-1m in-2m critical silent-a silent-b down warned bare sound")
	if !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	if r.code() != lines.ExitCritical {
		t.Errorf("exit code %d", r.code())
	}
}
