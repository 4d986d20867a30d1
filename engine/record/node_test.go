package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A node is a runtime whose lists have no order, as containerd's. Safe for concurrent use.
type node struct {
	mu         sync.Mutex
	chance     *rand.Rand
	kept       bool // lists have their rows in the same order, as the client of CRI gives those that have not changed
	sandboxes  []pleg.ListedSandbox
	containers []pleg.ListedContainer
	restarted  int
	asked      func(call.Operation) // when a list begins; nil for nothing
	fails      error                // what a status of a container comes to; nil for the answer
}

// newNode returns a node of so many pods with so many containers each, which run since now.
func newNode(pods, each int) *node {
	n := &node{chance: rand.New(rand.NewPCG(1, 2))}
	id := func() string {
		return fmt.Sprintf("%016x%016x%016x%016x", n.chance.Uint64(), n.chance.Uint64(), n.chance.Uint64(), n.chance.Uint64())
	}
	for p := range pods {
		ref := pleg.PodRef{UID: pleg.UID(id()[:36]), Namespace: "payments", Name: fmt.Sprintf("api-%d", p)}
		n.sandboxes = append(n.sandboxes, pleg.ListedSandbox{Pod: ref, Sandbox: pleg.Sandbox{ID: id(), State: pleg.Running, CreatedAt: time.Now()}})
		for c := range each {
			n.containers = append(n.containers, pleg.ListedContainer{Pod: ref, Container: pleg.Container{
				ID: id(), SandboxID: n.sandboxes[p].ID, Name: fmt.Sprintf("app-%d", c), Image: "registry.corp/api:1", State: pleg.Running, CreatedAt: time.Now(),
			}})
		}
	}
	return n
}

// restart ends a container and has a new one in its place.
func (n *node) restart() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.restarted++
	at := n.chance.IntN(len(n.containers))
	n.containers = slices.Clone(n.containers)
	c := &n.containers[at]
	c.ID, c.CreatedAt = fmt.Sprintf("%048x%016x", n.restarted, n.chance.Uint64()), time.Now()
}

func (n *node) fail(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fails = err
}

func (n *node) Version(context.Context) (pleg.Version, error) {
	return pleg.Version{RuntimeName: "containerd", RuntimeVersion: "v2.1.4", APIVersion: "v1"}, nil
}

func (n *node) Status(context.Context) ([]pleg.Condition, error) {
	return []pleg.Condition{{Type: "RuntimeReady", Status: true}, {Type: "NetworkReady", Status: true}}, nil
}

func (n *node) ListPodSandbox(_ context.Context, uid pleg.UID) ([]pleg.ListedSandbox, error) {
	return listed(n, call.ListPodSandbox, &n.sandboxes, func(s pleg.ListedSandbox) bool { return uid != "" && s.Pod.UID != uid }), nil
}

func (n *node) ListContainers(_ context.Context, uid pleg.UID) ([]pleg.ListedContainer, error) {
	return listed(n, call.ListContainers, &n.containers, func(c pleg.ListedContainer) bool { return uid != "" && c.Pod.UID != uid }), nil
}

func listed[T any](n *node, op call.Operation, all *[]T, without func(T) bool) []T {
	if n.asked != nil {
		n.asked(op)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	rows := slices.DeleteFunc(slices.Clone(*all), without)
	if n.kept {
		return rows
	}
	n.chance.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return rows
}

func (n *node) PodSandboxStatus(_ context.Context, id string) (pleg.SandboxStatus, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, s := range n.sandboxes {
		if s.ID == id {
			return pleg.SandboxStatus{Pod: s.Pod, ID: id, State: s.State, CreatedAt: s.CreatedAt, IPs: []string{"10.0.0.7"}}, nil
		}
	}
	return pleg.SandboxStatus{}, fmt.Errorf("%s: %w", id, call.ErrNotFound)
}

func (n *node) ContainerStatus(_ context.Context, id string) (pleg.ContainerStatus, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.fails != nil {
		return pleg.ContainerStatus{}, n.fails
	}
	for _, c := range n.containers {
		if c.ID == id {
			return pleg.ContainerStatus{ID: id, Name: c.Name, State: c.State, Image: c.Image, CreatedAt: c.CreatedAt, StartedAt: c.CreatedAt}, nil
		}
	}
	return pleg.ContainerStatus{}, fmt.Errorf("%s: %w", id, call.ErrNotFound)
}

func (n *node) Raw(context.Context, call.Operation, string) ([]byte, error) {
	return nil, errors.New("no answers in full")
}

// A run is an engine that is recorded.
type run struct {
	node    *node
	tape    *Recorder
	look    func(deep bool) *evidence.Report // nil for nobody
	changes int                              // a second
	period  time.Duration                    // of relists; 0 for the usual
}

// lasts runs the engine for so long, in a bubble's time.
func (r run) lasts(t testing.TB, d time.Duration) {
	t.Helper()
	config := engine.Config{Runtime: r.node, Tape: r.tape, Period: r.period}
	if r.look != nil {
		config.Look = func(_ context.Context, ask engine.Looking) (*evidence.Report, error) { return r.look(ask.Deep), nil }
	}
	eng, err := engine.New(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	var changing sync.WaitGroup
	defer changing.Wait()
	if r.changes > 0 {
		changing.Go(func() {
			for ctx.Err() == nil {
				time.Sleep(time.Second / time.Duration(r.changes))
				r.node.restart()
			}
		})
	}
	if err := eng.Run(ctx); err != nil {
		t.Fatal(err)
	}
}

// recorded is the file of a small node that was watched for so long, and its path.
func recorded(t *testing.T, d time.Duration) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "night.plegrec")
	synctest.Test(t, func(t *testing.T) { recordTo(t, path, newNode(3, 2), d) })
	return path
}

// recordTo adds to a file what happens on a node. It must be called in a bubble.
func recordTo(t *testing.T, path string, n *node, d time.Duration) {
	t.Helper()
	r := NewRecorder(Options{Head: Head{Node: "n1"}, Segments: 10 * time.Second})
	if err := r.WriteTo(path, 0); err != nil {
		t.Fatal(err)
	}
	run{node: n, tape: r, changes: 2}.lasts(t, d)
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// play returns all that a recording shows, and what is wrong with the rest; nil for nothing.
func play(r *Recording) (all []Shown, err error) {
	p := r.Play(time.Time{})
	defer p.Close()
	for {
		s, err := p.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, s)
	}
}

// playFile is play of a file.
func playFile(t *testing.T, path string) []Shown {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	all, err := play(r)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
