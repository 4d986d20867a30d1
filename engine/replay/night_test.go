package replay

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/record"
)

// A night is what happens on a node whose pods have two containers each.
type night struct {
	Pods     int
	For      time.Duration
	Segments time.Duration // of the recording
	Changes  time.Duration // from one end or start of a container to the next; 0 for none
	Troubles []trouble
	Events   int          // that the engine remembers for its reader; 0 for the usual
	Release  pleg.Release // whose relist is made; 0 for the newest
}

// A trouble is a call that hangs until its deadline, whatever it asks for.
type trouble struct {
	Op       call.Operation
	ID       string        // of the only object of which it hangs; empty for all
	From, To time.Duration // from the beginning of the night
}

// recordNight returns the recording of a night, and what a reader of the engine's feed saw of it.
// An engine watches a runtime that nobody else sees, in the time of [testing/synctest], which takes none.
func recordNight(t *testing.T, n night) (*record.Recorder, []engine.Update) {
	recorder := record.NewRecorder(record.Options{
		Ring: 1000 * time.Hour, Bytes: 1 << 30, Segments: n.Segments,
		Head: record.Head{Plegtop: "test", Node: "worker-17", Source: "cri", Endpoint: "unix:///run/containerd/containerd.sock"},
	})
	var seen []engine.Update
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), n.For)
		defer cancel()
		eng, err := engine.New(engine.Config{Runtime: newRuntime(n), Tape: recorder, Clock: utc{}, Events: n.Events, Release: n.Release})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- eng.Run(ctx) }()
		for feed := eng.Feed(); ; {
			u, err := feed.Next(context.WithoutCancel(ctx))
			if err != nil {
				break
			}
			seen = append(seen, u)
		}
		if err := <-ended; err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	})
	return recorder, seen
}

// utc is the time of the test, which is to look the same in all time zones.
type utc struct{}

func (utc) Now() time.Time                     { return time.Now().UTC() }
func (utc) Real(d time.Duration) time.Duration { return d }

// A runtime is that of a night.
type runtime struct {
	night
	began      time.Time
	sandboxes  []pleg.ListedSandbox
	containers []pleg.ListedContainer
	place      map[string]int
}

func newRuntime(n night) *runtime {
	r := &runtime{night: n, began: time.Now().UTC(), place: map[string]int{}}
	for i := range n.Pods {
		ref := pleg.PodRef{Namespace: "shop", Name: fmt.Sprintf("web-%03d", i), UID: pleg.UID(fmt.Sprintf("uid-%03d", i))}
		r.sandboxes = append(r.sandboxes, pleg.ListedSandbox{Pod: ref, Sandbox: pleg.Sandbox{ID: fmt.Sprintf("sandbox-%03d", i), State: pleg.Running, CreatedAt: r.began}})
		for _, name := range []string{"app", "proxy"} {
			id := fmt.Sprintf("%s-%03d", name, i)
			r.place[id] = len(r.containers)
			r.containers = append(r.containers, pleg.ListedContainer{Pod: ref, Container: pleg.Container{ID: id, Name: name, State: pleg.Running, CreatedAt: r.began}})
		}
	}
	return r
}

// state returns how container i stands now, and since when: one after the other ends and starts.
func (r *runtime) state(i int) (pleg.State, time.Time) {
	if r.Changes == 0 {
		return pleg.Running, r.began
	}
	n := int(time.Since(r.began) / r.Changes)
	turns := (n + len(r.containers) - 1 - i) / len(r.containers)
	if turns == 0 {
		return pleg.Running, r.began
	}
	since := r.began.Add(time.Duration((turns-1)*len(r.containers)+i+1) * r.Changes)
	if turns%2 == 1 {
		return pleg.Exited, since
	}
	return pleg.Running, since
}

// answer takes the time of a call, or hangs. No two calls end at one moment, so that each night is
// the same.
func (r *runtime) answer(ctx context.Context, op call.Operation, id string) error {
	time.Sleep(time.Millisecond)
	defer time.Sleep(time.Duration(crc32.ChecksumIEEE([]byte(op.String()+id)) % 1e6))
	for _, trouble := range r.Troubles {
		rest := time.Until(r.began.Add(trouble.To))
		if trouble.Op != op || trouble.ID != "" && trouble.ID != id || rest <= 0 || time.Since(r.began) < trouble.From {
			continue
		}
		select {
		case <-ctx.Done():
			return &call.Error{Kind: call.ErrDeadline, Op: op, Code: "DeadlineExceeded", Text: "context deadline exceeded"}
		case <-time.After(rest):
		}
	}
	return ctx.Err()
}

func (r *runtime) Version(ctx context.Context) (pleg.Version, error) {
	return pleg.Version{RuntimeName: "containerd", RuntimeVersion: "2.1.0", APIVersion: "v1"}, r.answer(ctx, call.Version, "")
}

func (r *runtime) Status(ctx context.Context) ([]pleg.Condition, error) {
	return []pleg.Condition{{Type: "RuntimeReady", Status: true}, {Type: "NetworkReady", Status: true}}, r.answer(ctx, call.Status, "")
}

func (r *runtime) ListPodSandbox(ctx context.Context, uid pleg.UID) (all []pleg.ListedSandbox, err error) {
	err = r.answer(ctx, call.ListPodSandbox, string(uid))
	for _, s := range r.sandboxes {
		if uid == "" || s.Pod.UID == uid {
			all = append(all, s)
		}
	}
	return all, err
}

func (r *runtime) ListContainers(ctx context.Context, uid pleg.UID) (all []pleg.ListedContainer, err error) {
	err = r.answer(ctx, call.ListContainers, string(uid))
	for i, c := range r.containers {
		if c.State, _ = r.state(i); uid == "" || c.Pod.UID == uid {
			all = append(all, c)
		}
	}
	return all, err
}

func (r *runtime) PodSandboxStatus(ctx context.Context, id string) (pleg.SandboxStatus, error) {
	for i, s := range r.sandboxes {
		if s.ID == id {
			return pleg.SandboxStatus{ID: id, Pod: s.Pod, State: pleg.Running, CreatedAt: r.began, IPs: []string{fmt.Sprintf("10.0.0.%d", i)}}, r.answer(ctx, call.PodSandboxStatus, id)
		}
	}
	return pleg.SandboxStatus{}, &call.Error{Kind: call.ErrNotFound, Op: call.PodSandboxStatus, Code: "NotFound", Text: "not found"}
}

func (r *runtime) ContainerStatus(ctx context.Context, id string) (pleg.ContainerStatus, error) {
	err := r.answer(ctx, call.ContainerStatus, id)
	i := r.place[id]
	state, since := r.state(i)
	s := pleg.ContainerStatus{ID: id, Name: r.containers[i].Name, State: state, CreatedAt: r.began, StartedAt: since}
	if state == pleg.Exited {
		s.ExitCode, s.Reason, s.StartedAt, s.FinishedAt = 1, "Error", r.began, since
	}
	return s, err
}

func (r *runtime) Raw(context.Context, call.Operation, string) ([]byte, error) {
	return nil, errors.New("there is none")
}

var update = flag.Bool("update", false, "write the recordings and goldens again")

// kept are the nights in testdata/nights, which tests of other packages read.
var kept = map[string]night{
	// An inspection hangs from the third minute on, and lists do from the seventh.
	"bad": {
		Pods: 8, For: 12 * time.Minute, Changes: 20 * time.Second, Segments: 2 * time.Minute,
		Troubles: []trouble{
			{Op: call.ContainerStatus, From: 3 * time.Minute, To: 4 * time.Minute},
			{Op: call.ListContainers, From: 7 * time.Minute, To: 11 * time.Minute},
		},
	},
	// The status of one container, which ends in the seventh minute, hangs from the sixth minute to the twentieth.
	"hung": {
		Pods: 3, For: 30 * time.Minute, Segments: 4 * time.Minute, Changes: 7 * time.Minute, Release: 28,
		Troubles: []trouble{{Op: call.ContainerStatus, ID: "app-000", From: 6 * time.Minute, To: 20 * time.Minute}},
	},
}

// Each night that is kept plays as one that is recorded now. The recordings are written by
// `go test ./engine/replay -run TestKeptNights -update`.
func TestKeptNights(t *testing.T) {
	for name, n := range kept {
		path := filepath.Join("testdata/nights", name+".plegrec")
		recorder, seen := recordNight(t, n)
		if *update {
			var b bytes.Buffer
			if _, err := recorder.Recording().WriteTo(&b); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		r, err := record.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		all := played(t, r)
		if last := all[len(all)-1].Snapshot; len(all) != len(seen) || last.Calls[call.ContainerStatus].Count != seen[len(seen)-1].Snapshot.Calls[call.ContainerStatus].Count {
			t.Errorf("%s: %d moments, want %d", name, len(all), len(seen))
		}
	}
}
