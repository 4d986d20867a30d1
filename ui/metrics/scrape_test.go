package metrics

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A counted runtime has one pod, and takes a while for each answer.
type counted struct {
	engine.Runtime
	calls atomic.Int64
}

func (r *counted) answer() error {
	r.calls.Add(1)
	time.Sleep(20 * time.Millisecond)
	return nil
}

var pod = pleg.PodRef{UID: "1", Namespace: "shop", Name: "web"}

func (r *counted) Version(context.Context) (pleg.Version, error) {
	return pleg.Version{RuntimeName: "containerd", RuntimeVersion: "v2.4.2", APIVersion: "v1"}, r.answer()
}

func (r *counted) Status(context.Context) ([]pleg.Condition, error) {
	return []pleg.Condition{{Type: "RuntimeReady", Status: true}, {Type: "NetworkReady", Status: true}}, r.answer()
}

func (r *counted) ListPodSandbox(context.Context, pleg.UID) ([]*pleg.ListedSandbox, error) {
	return []*pleg.ListedSandbox{{Pod: pod, Sandbox: pleg.Sandbox{ID: "a", State: pleg.Running}}}, r.answer()
}

func (r *counted) ListContainers(context.Context, pleg.UID) ([]*pleg.ListedContainer, error) {
	return nil, r.answer()
}

func (r *counted) PodSandboxStatus(context.Context, string) (pleg.SandboxStatus, error) {
	return pleg.SandboxStatus{ID: "a", Pod: pod, State: pleg.Running, IPs: []string{"10.0.0.1"}}, r.answer()
}

// seen is what an engine has done in half a minute.
type seen struct {
	calls   int64
	relists uint64
	last    time.Duration // from the beginning to the start of the last good list
	took    time.Duration // all relists together
}

// However often metrics and check are asked for, no call more is made of the runtime, and no relist
// comes later or takes longer.
func TestScrapesAskTheRuntimeNothing(t *testing.T) {
	const every, lasts = 20 * time.Millisecond, 30 * time.Second
	watch := func(scrapes bool) (s seen, answered int) {
		synctest.Test(t, func(t *testing.T) {
			began, runtime := time.Now(), new(counted)
			eng, err := engine.New(engine.Config{Runtime: runtime})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), lasts)
			defer cancel()
			server, feed := new(Server), eng.Feed()
			ran, followed := make(chan error, 1), make(chan error, 1)
			go func() { ran <- eng.Run(ctx) }()
			go func() { followed <- server.follow(ctx, diagnose.NewLive(eng.Feed(), "")) }()
			handler := server.handler(asCheck)
			for n := 0; ctx.Err() == nil; n++ {
				if time.Sleep(every); !scrapes {
					continue
				}
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, []string{"/metrics", "/check"}[n%2], nil))
				if w.Code == http.StatusOK {
					answered++
				}
			}
			if err := <-ran; err != nil {
				t.Error(err)
			}
			if err := <-followed; err != nil {
				t.Error(err)
			}
			end, err := feed.Next(t.Context()) // the last of all, which the server may not have had
			if err != nil {
				t.Fatal(err)
			}
			last := end.Snapshot
			s = seen{runtime.calls.Load(), last.Relists.Count, last.Health.ListedAt.Sub(began), last.Relists.Histogram.Sum}
		})
		return s, answered
	}
	alone, _ := watch(false)
	scraped, answered := watch(true)
	if alone != scraped {
		t.Errorf("alone %+v, scraped %+v", alone, scraped)
	}
	if answered < 1400 || alone.relists < 25 {
		t.Errorf("%d scrapes were answered, %d relists made", answered, alone.relists)
	}
}
