package source

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/ui/options"
	"github.com/plegtop/plegtop/ui/pane"
)

// A demo that is directed from one scenario to another shows a whole node or none:
// half of one would tell of containers without a process.
func TestDemoIsDirected(t *testing.T) {
	src, err := Open(t.Context(), options.Options{Demo: "tour", DemoSpeed: 2}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	d := src.Director
	d.Freeze(true)
	if s := d.State(); s.Scenario != "tour" || !s.Frozen || s.Speed != 2 || s.Acts == 0 {
		t.Errorf("at the start: %+v", s)
	}
	if all := d.Faults(); len(all) == 0 || all[0].On {
		t.Errorf("faults %+v", all)
	} else {
		d.SetFault(all[0].Name, true)
		if s := d.State(); s.Faults != 1 {
			t.Errorf("with a fault: %+v", s)
		}
	}
	look := src.Look()
	shows := func(want bool) *evidence.Report {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		for {
			r, err := look(ctx, engine.Looking{})
			if err != nil || ctx.Err() != nil {
				t.Fatalf("%s: processes are seen: %v, want %v; %v", d.State().Scenario, !want, want, err)
			}
			if (r.Processes.Missing == "") == want {
				return r
			}
		}
	}
	shows(true)
	d.Next(1)
	if s := d.State(); s.Scenario != "quiet" || s.Faults != 0 {
		t.Errorf("the next one: %+v", s)
	}
	if r := shows(false); len(r.Processes.Containers) > 0 {
		t.Errorf("%d containers have processes on a node that shows none", len(r.Processes.Containers))
	}
	d.Next(-1)
	shows(true)
}

// A demo has all event sources, and opens those that are named.
func TestStreamsOfADemo(t *testing.T) {
	src, err := Open(t.Context(), options.Options{Demo: "tour", DemoSpeed: 1}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if !src.Workers().Expecting {
		t.Error("its kubelet expects nothing")
	}
	all := src.Streams([]sources.Source{sources.FromCgroup}, true)
	if len(all) != 2 || !all[0].Forced || all[0].On || !all[1].On {
		t.Errorf("streams %+v", all)
	}
	for i, s := range all {
		if s.Run == nil || s.Refuse != "" || s.Source != sources.Source(i+1) {
			t.Errorf("%v is refused: %q", s.Source, s.Refuse)
		}
	}
}

func TestDemoThatExpectsNothing(t *testing.T) {
	src, err := Open(t.Context(), options.Options{Demo: "tour", DemoSpeed: 1, NoExpect: true}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if w := src.Workers(); w.Expecting || !w.Acting {
		t.Errorf("workers that expect: %v, that act: %v", w.Expecting, w.Acting)
	}
}

// A pod has a name of its own; what it looks at is the node.
func TestNameOfTheNode(t *testing.T) {
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if got := nodeName(root); got != own {
		t.Errorf("of a node that says none: %q, want our own, %q", got, own)
	}
	if err := os.Mkdir(filepath.Join(root, "etc"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "etc/hostname"), []byte("worker-17\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := nodeName(root); got != "worker-17" {
		t.Errorf("%q, want worker-17", got)
	}
}

// Where there is no node to look at, the error says what can be done there.
func TestOnLinux(t *testing.T) {
	t.Setenv("CONTAINER_RUNTIME_ENDPOINT", "")
	for _, tt := range []struct {
		system, endpoint string
		want             bool
	}{{"linux", "", true}, {"darwin", "", false}, {"darwin", "unix:///tmp/forwarded.sock", true}} {
		err := onLinux(tt.system, tt.endpoint)
		if (err == nil) != tt.want || err != nil && !strings.Contains(err.Error(), "--replay") {
			t.Errorf("%s, %q: %v", tt.system, tt.endpoint, err)
		}
	}
}

// A kubelet that has no such mode is an error, before anything is asked.
func TestConfigHasTheMode(t *testing.T) {
	o := options.Options{Release: 36, ReleaseGiven: true, Mode: pleg.Evented, Period: time.Second}
	if _, err := (Source{}).Config(t.Context(), o); err == nil || !strings.Contains(err.Error(), "not of 1.36") {
		t.Errorf("evented of 1.36: %v", err)
	}
	o.Release = 37
	if c, err := (Source{Other: "unix:///b"}).Config(t.Context(), o); err != nil || c.Mode != pleg.Evented || c.Follow || c.Look != nil || c.Other != "unix:///b" {
		t.Errorf("%+v, %v", c, err)
	}
}

// A check that could open nothing says what it was to look at.
func TestWanted(t *testing.T) {
	t.Setenv("NODE_NAME", "n")
	for want, o := range map[pane.Source]options.Options{
		{Kind: "cri", Node: "n", Endpoint: "unix:///a"}: {Endpoint: "unix:///a"},
		{Kind: "demo", Node: "n"}:                       {Demo: "quiet", Replay: "refused beside it"},
		{Kind: "replay"}:                                {Replay: "file", Endpoint: "unix:///a"},
	} {
		if got := Wanted(o); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}
