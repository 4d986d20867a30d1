package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/plegtop/plegtop/cri/sim"
	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/ui/options"
	"github.com/plegtop/plegtop/ui/source"
)

// A view is shown while the kubelet has not told its version yet, and the first relist is
// made as that version has it.
func TestViewDoesNotWaitForTheKubelet(t *testing.T) {
	shown := make(chan struct{})
	kubelet := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-shown:
			_, _ = io.WriteString(w, "kubernetes_build_info{git_version=\"v1.33.2\"} 1\n")
		case <-r.Context().Done():
		}
	}))
	defer kubelet.Close()
	runtime, err := sim.Start(t.Context(), sim.Config{Scenario: "quiet", Seed: 1, Speed: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.Close()
	o, err := options.Parse([]string{"--runtime-endpoint", runtime.Endpoint(), "--kubelet-metrics", kubelet.URL}, columns)
	if err != nil {
		t.Fatal(err)
	}
	src, err := source.Open(t.Context(), o, time.Now(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	v := running(o, func(ctx context.Context, eng *engine.Engine, _ source.Source) error {
		close(shown)
		u, err := eng.Feed().Next(ctx)
		if err == nil && u.Snapshot.Release != 33 {
			t.Errorf("the first relist is that of %v, want the kubelet's 1.33", u.Snapshot.Release)
		}
		return err
	}, func(any, []byte) {})
	if code := v(t.Context(), src); code != exitOK {
		t.Errorf("exit status %d", code)
	}
}
