package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/podworker"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/workers"
)

func workersStage(s *engine.Snapshot, w, h int) *Stage {
	return NewStage(workers.New(pane.Settings{}), View(s), w, h)
}

func TestWorkersGolden(t *testing.T) {
	workersStage(Working(Healthy()), 118, 35).Golden(t, "workers")
	workersStage(Working(Hostile()), 78, 19).EverySize(t)
	if s := workersStage(Healthy(), 78, 19); s.Row("no worker yet: the first event of a pod makes it one") == "" {
		t.Errorf("nothing says why there is none:\n%s", s.Text())
	}
}

func rows(s *Stage) []*podworker.Worker {
	return s.Pane.(interface{ Rows() []*podworker.Worker }).Rows()
}

// order returns the pods of the rows by name.
func order(s *Stage) (names []string) {
	for _, w := range rows(s) {
		names = append(names, w.Pod.Name[:6])
	}
	return names
}

func workersAbout(s *Stage) string {
	var all []string
	for _, a := range s.Info().About {
		all = append(all, a.Text)
	}
	return strings.Join(all, " | ")
}

// TestWorkersTitle holds what the title sums up, and that a real node's workers are not taken for
// such that act.
func TestWorkersTitle(t *testing.T) {
	snap := Working(Healthy())
	sum := func(skipped string) string {
		return fmt.Sprintf("%d woken%s, 1 expired", snap.Workers.WakeUps, skipped)
	}
	skipped := fmt.Sprintf(", %d skipped", snap.Workers.Saved)
	for _, tt := range []struct {
		acting, expecting bool
		want              string
	}{
		{true, true, "11 pods | ▲2 blocked | " + sum(skipped) + " | (expected events on)"},
		{true, false, "11 pods | ▲2 blocked | " + sum("") + " | (expected events off)"},
		{false, false, "11 pods | ▲2 blocked | " + sum("") + " | (they would be; plegtop acts on nothing)"},
	} {
		snap.Workers.Acting, snap.Workers.Expecting = tt.acting, tt.expecting
		if got := workersAbout(workersStage(snap, 118, 20)); got != tt.want {
			t.Errorf("about %q, want %q", got, tt.want)
		}
	}
	s := workersStage(snap, 118, 0)
	if mark := s.Info().Mark; len(mark) != 1 || mark[0].Text != "▲2 blocked" {
		t.Errorf("unseen: mark %v", mark)
	}
}

// TestFilter holds that filter and namespaces hold for the workers of pods that are listed, of
// such as have gone, and of such as nothing is known of.
func TestFilter(t *testing.T) {
	snap := Working(Healthy())
	v := View(snap)
	later := *snap
	gone := snap.Pods[0]
	later.Pods = snap.Pods[1:]
	later.Workers.All = append(slices.Clone(snap.Workers.All), &podworker.Worker{Pod: pleg.PodRef{UID: "new", Namespace: "shop", Name: "brand-new"}, Since: Ago(time.Second)})
	v.Journal.Observe(engine.Update{Snapshot: &later})
	v.Snapshot = &later
	v.Pods.Observe(&later, Standings(&later, nil))
	s := NewStage(workers.New(pane.Settings{}), v, 118, 20)
	for _, tt := range []struct {
		filter     string
		namespaces []string
		want       int
		gone, new  bool
	}{
		{"", nil, 12, true, true},
		{"ns:shop", nil, 3, false, false},
		{gone.Name, nil, 1, true, false},
		{"", []string{"shop"}, 4, false, true},
		{"nothing-at-all", nil, 0, false, false},
	} {
		by, err := model.ParseFilter(tt.filter)
		if err != nil {
			t.Fatal(err)
		}
		v.Filter = pane.Filter{Text: tt.filter, By: by, Namespaces: tt.namespaces}
		f := v.Filter
		v.Pods.Filter(func(p *model.Pod, at time.Time) bool { return f.Namespace(p.Pod.Namespace) && f.By.Pod(p, at) }, false)
		s.Refresh()
		names := strings.Join(order(s), " ")
		if len(order(s)) != tt.want || strings.Contains(names, gone.Name[:6]) != tt.gone || strings.Contains(names, "brand-") != tt.new {
			t.Errorf("%q %v: %s", tt.filter, tt.namespaces, names)
		}
	}
	if s.Row("no worker's pod matches the filter") == "" {
		t.Errorf("nothing is said of none:\n%s", s.Text())
	}
}

// TestWorkersSheet holds that enter opens the sheet of the worker's pod, and that what the columns
// have no room for is said below.
func TestWorkersSheet(t *testing.T) {
	s := workersStage(Working(Healthy()), 118, 20)
	row := rows(s)[0]
	if got := s.Subject(); got.Pod != row.Pod {
		t.Errorf("subject %v, want %v", got, row.Pod)
	}
	if want := "waits for a status newer than " + row.After.Local().Format(time.TimeOnly) + " for 47s; woken "; !strings.HasPrefix(s.Row("waits for a status newer"), want) {
		t.Errorf("below: %q, want %q", s.Row("waits for a status newer"), want)
	}
	if s.Press("j"); !strings.Contains(s.Row("waits for expected events for 4s"), "expects Started payments within 26s, Started sandbox within 29s; woken") {
		t.Errorf("no line tells what is expected:\n%s", s.Text())
	}
}

func TestWorkersEverySize(t *testing.T) {
	workersStage(Working(Healthy()), 1, 1).EverySize(t)
	workersStage(Working(Hostile()), 1, 1).EverySize(t)
}
