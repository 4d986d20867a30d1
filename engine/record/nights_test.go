package record_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/record"
)

var update = flag.Bool("update", false, "record the nights anew")

// A night is what a made-up runtime goes through. The tests of rewind and replay read its recording.
type night struct {
	name    string
	pods    int // of two containers each
	lasts   time.Duration
	changes time.Duration // between two changes of containers
	release pleg.Release
	hangs   []hang
}

// A hang is a call that has no answer between two moments of the night.
type hang struct {
	op       call.Operation
	object   string // empty for a list of all pods
	from, to time.Duration
}

var nights = []night{
	{"bad", 8, 12 * time.Minute, 20 * time.Second, 37, []hang{
		{call.ContainerStatus, "web-004-app", 3 * time.Minute, 4 * time.Minute},
		{call.ListContainers, "", 7 * time.Minute, 11 * time.Minute},
	}},
	{"hung", 3, 22 * time.Minute, time.Minute, 28, []hang{
		{call.ContainerStatus, "web-000-app", 7 * time.Minute, 20 * time.Minute},
	}},
}

// A madeUp runtime has one container after the other exit, and later a new one take its place. It
// answers in 1 to 2 ms.
type madeUp struct {
	night
	began time.Time

	mu         sync.Mutex
	sandboxes  []*pleg.ListedSandbox
	containers []*pleg.ListedContainer // that of each slot
	ended      map[string]time.Time    // when containers exited
	calls      int
}

func newMadeUp(n night) *madeUp {
	r := &madeUp{night: n, began: time.Now(), ended: map[string]time.Time{}}
	for i := range n.pods {
		name := fmt.Sprintf("web-%03d", i)
		ref := pleg.PodRef{Namespace: "shop", Name: name, UID: pleg.UID("uid-" + name)}
		s := pleg.Sandbox{ID: "sandbox-" + name, State: pleg.Running, CreatedAt: r.began.Add(-time.Hour)}
		r.sandboxes = append(r.sandboxes, &pleg.ListedSandbox{Pod: ref, Sandbox: s})
		for _, c := range []string{"app", "proxy"} {
			r.containers = append(r.containers, &pleg.ListedContainer{Pod: ref, Container: pleg.Container{
				ID: name + "-" + c, Name: c, State: pleg.Running, CreatedAt: s.CreatedAt, Image: "registry.corp/" + c + ":1", SandboxID: s.ID,
			}})
		}
	}
	return r
}

// change has the container of a slot exit, or a new one take the place of one that has.
func (r *madeUp) change(slot int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := *r.containers[slot]
	if c.State == pleg.Running {
		c.State, r.ended[c.ID] = pleg.Exited, time.Now()
	} else {
		c.ID, c.Attempt, c.State, c.CreatedAt = fmt.Sprintf("%s-%s-%d", c.Pod.Name, c.Name, c.Attempt+1), c.Attempt+1, pleg.Running, time.Now()
	}
	r.containers = slices.Clone(r.containers)
	r.containers[slot] = &c
}

// call waits for as long as a call of that object hangs. Later containers of a slot hang like the first.
func (r *madeUp) call(ctx context.Context, op call.Operation, object string) error {
	r.mu.Lock()
	r.calls++
	wait := time.Millisecond + time.Duration(r.calls%100)*10*time.Microsecond
	r.mu.Unlock()
	at := time.Since(r.began)
	for _, h := range r.hangs {
		if h.op == op && (object == h.object || h.object != "" && strings.HasPrefix(object, h.object+"-")) && at >= h.from && at < h.to {
			wait += h.to - at
		}
	}
	if trace := call.TraceOf(ctx); trace != nil {
		trace.RequestBytes, trace.ResponseBytes = 20, 1000
	}
	select {
	case <-time.After(wait):
		return nil
	case <-ctx.Done():
	}
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		return &call.Error{Op: op, Kind: call.ErrCanceled, Code: "Canceled", Text: err.Error()}
	}
	return call.NoAnswer(op, call.Expired, ctx.Err().Error())
}

func (r *madeUp) Version(ctx context.Context) (pleg.Version, error) {
	return pleg.Version{RuntimeName: "containerd", RuntimeVersion: "2.1.0", APIVersion: "v1"}, r.call(ctx, call.Version, "-")
}

func (r *madeUp) Status(ctx context.Context) ([]pleg.Condition, error) {
	return []pleg.Condition{{Type: "RuntimeReady", Status: true}, {Type: "NetworkReady", Status: true}}, r.call(ctx, call.Status, "-")
}

func (r *madeUp) ListPodSandbox(ctx context.Context, uid pleg.UID) ([]*pleg.ListedSandbox, error) {
	if err := r.call(ctx, call.ListPodSandbox, string(uid)); err != nil {
		return nil, err
	}
	return of(r.sandboxes, func(s *pleg.ListedSandbox) bool { return uid == "" || s.Pod.UID == uid }), nil
}

func (r *madeUp) ListContainers(ctx context.Context, uid pleg.UID) ([]*pleg.ListedContainer, error) {
	if err := r.call(ctx, call.ListContainers, string(uid)); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return of(r.containers, func(c *pleg.ListedContainer) bool { return uid == "" || c.Pod.UID == uid }), nil
}

func of[T any](all []T, such func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), func(v T) bool { return !such(v) })
}

func (r *madeUp) PodSandboxStatus(ctx context.Context, id string) (pleg.SandboxStatus, error) {
	if err := r.call(ctx, call.PodSandboxStatus, id); err != nil {
		return pleg.SandboxStatus{}, err
	}
	for i, s := range r.sandboxes {
		if s.ID == id {
			return pleg.SandboxStatus{ID: id, Pod: s.Pod, State: s.State, CreatedAt: s.CreatedAt, IPs: []string{fmt.Sprintf("10.0.0.%d", 10+i)}}, nil
		}
	}
	return pleg.SandboxStatus{}, &call.Error{Op: call.PodSandboxStatus, Kind: call.ErrNotFound, Code: "NotFound", Text: "no such sandbox"}
}

func (r *madeUp) ContainerStatus(ctx context.Context, id string) (pleg.ContainerStatus, error) {
	if err := r.call(ctx, call.ContainerStatus, id); err != nil {
		return pleg.ContainerStatus{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.containers {
		if c.ID == id {
			st := pleg.ContainerStatus{ID: id, Name: c.Name, State: c.State, Attempt: c.Attempt, Image: c.Image, CreatedAt: c.CreatedAt, StartedAt: c.CreatedAt, FinishedAt: r.ended[id]}
			if c.State == pleg.Exited {
				st.ExitCode, st.Reason = 1, "Error"
			}
			return st, nil
		}
	}
	return pleg.ContainerStatus{}, &call.Error{Op: call.ContainerStatus, Kind: call.ErrNotFound, Code: "NotFound", Text: "no such container"}
}

// Raw is asked of a screen alone.
func (r *madeUp) Raw(context.Context, call.Operation, string) ([]byte, error) {
	return nil, errors.ErrUnsupported
}

// A sight is what one update shows.
type sight struct {
	Headline        string
	Findings, Ended []string
	Events          []uint64
}

// sights are what the updates of a feed show, by their number.
func sights(t *testing.T, feed diagnose.Feed) map[uint64]sight {
	live, all := diagnose.NewLive(feed, "unix:///run/containerd/containerd.sock"), map[uint64]sight{}
	for {
		u, err := live.Next(t.Context())
		if errors.Is(err, engine.ErrStopped) || errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Error(err)
			return all
		}
		s := sight{Headline: u.Headline.Word + ": " + u.Headline.Text}
		for _, f := range u.Findings {
			s.Findings = append(s.Findings, fmt.Sprintf("%v %s %s %s", f.Severity, f.ID, f.Since.UTC().Format(time.StampMilli), f.Summary))
		}
		for _, f := range u.Ended {
			s.Ended = append(s.Ended, string(f.ID))
		}
		for _, e := range u.Events {
			s.Events = append(s.Events, e.Seq)
		}
		all[u.Snapshot.Seq] = s
	}
}

// live has an engine record a night to a file, and returns what was seen live.
func (n night) live(t *testing.T, file string) (seen map[uint64]sight) {
	synctest.Test(t, func(t *testing.T) {
		r := newMadeUp(n)
		recorder := record.NewRecorder(record.Options{Ring: -1, Head: record.Head{
			Plegtop: "test", Node: "worker-17", Source: "cri", Endpoint: "unix:///run/containerd/containerd.sock", Kubelet: n.release.String(),
		}})
		if err := recorder.WriteTo(file, 0); err != nil {
			t.Fatal(err)
		}
		e, err := engine.New(engine.Config{Runtime: r, Release: n.release, Tape: recorder})
		if err != nil {
			t.Fatal(err)
		}
		feed, ctx := e.Feed(), t.Context()
		ctx, cancel := context.WithTimeout(ctx, n.lasts)
		defer cancel()
		go func() {
			for slot := 0; ; slot = (slot + 1) % len(r.containers) {
				select {
				case <-ctx.Done():
					return
				case <-time.After(n.changes):
					r.change(slot)
				}
			}
		}()
		ran := make(chan error, 1)
		go func() { ran <- e.Run(ctx) }()
		seen = sights(t, feed)
		if err := <-ran; err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if err := recorder.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	return seen
}

// A played recording is a feed.
type played struct{ *record.Player }

func (p played) Next(context.Context) (engine.Update, error) { return p.Player.Next() }

// A recording of a night shows what was seen live: the same headlines, findings and events at the same times.
func TestNightsAreAsTheyWere(t *testing.T) {
	for _, n := range nights {
		t.Run(n.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "night.plegrec")
			live := n.live(t, file)
			recording, err := record.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer recording.Close()
			replay := sights(t, played{recording.Play(time.Time{})})
			if len(live) < int(n.lasts/time.Second) || len(live) > len(replay) {
				t.Errorf("%d moments were seen live, %d are recorded", len(live), len(replay))
			}
			for seq, want := range live {
				got := replay[seq]
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("moment %d (-live +replayed):\n%s", seq, diff)
				}
			}
			if *update {
				b, err := os.ReadFile(file)
				if err == nil {
					err = os.WriteFile(filepath.Join("testdata/nights", n.name+".plegrec"), b, 0o644)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
