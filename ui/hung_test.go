package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
)

// rowOf returns the line of the frame that holds text, without its look.
func (s *stage) rowOf(text string) string {
	for line := range strings.SplitSeq(withoutStyles(s.m.frame()), "\n") {
		if strings.Contains(line, text) {
			return line
		}
	}
	return ""
}

func TestHungCallMarksItsPod(t *testing.T) {
	s := newStage(t, 80, 24).show(hungNode())
	if row := s.rowOf("▸ nfs-client"); !strings.Contains(row, "✖ hung 47s") {
		t.Errorf("the row of the pod: %q", row)
	}
	if s.m.pods.troubled != 2 {
		t.Errorf("%d pods with a problem, want the hung one and payments", s.m.pods.troubled)
	}
	if got := s.press("]").name(); got != "nfs-client" {
		t.Errorf("] goes to %q", got)
	}
	s.press("space")
	for what, want := range map[string]string{"├ app": "✖ hung 47s", "└ sidecar": "● running", "└ sandbox": "● ready"} {
		if row := s.rowOf(what); !strings.Contains(row, want) {
			t.Errorf("the row of %q: %q, want %q", what, row, want)
		}
	}
	if got := s.press("]").name(); got != "payments-6c8f9d7b5-t8wfx" {
		t.Errorf("a second ] goes to %q", got)
	}
	if got := s.press("]").name(); got != "nfs-client" {
		t.Errorf("a third ] goes to %q", got)
	}
}

func TestHungPodComesFirstByState(t *testing.T) {
	for _, column := range []string{"state", "inspect"} {
		s := newStage(t, 200, 50, func(c *Config) { c.Sort = column }).show(hungNode())
		if got := s.m.pods.rows[0].info.pod.Name; got != "nfs-client" {
			t.Errorf("sorted by %s, %q is first", column, got)
		}
	}
}

func TestHungPodIsAProblemWhileItHangs(t *testing.T) {
	for _, keys := range []string{"W", "/ h a s : p r o b l e m enter"} {
		s := newStage(t, 80, 24).show(hungNode()).press(strings.Fields(keys)...)
		if got := names(&s.m.pods); got != "nfs-client payments-6c8f9d7b5-t8wfx" {
			t.Errorf("%s shows %q", keys, got)
		}
		back := hungNode()
		back.InFlight = nil
		if got := names(&s.show(back).m.pods); got != "payments-6c8f9d7b5-t8wfx" {
			t.Errorf("%s shows %q once the call is back", keys, got)
		}
	}
}

func TestHungPodThatDidNotChange(t *testing.T) {
	snap := healthyNode()
	s := newStage(t, 80, 24).show(snap)
	later := *snap
	later.InFlight = []engine.Flight{{Pod: find(snap, "nfs-client").PodRef, Since: ago(stuck - 1)}}
	if s.show(&later); s.m.pods.hung != 0 {
		t.Error("a call that is out for less than the threshold counts as hung")
	}
	last := later
	last.At = noon.Add(2 * time.Second)
	if s.show(&last); s.m.pods.hung != 1 || !strings.Contains(s.rowOf("▸ nfs-client"), "hung 2s") {
		t.Errorf("%d hung, row %q", s.m.pods.hung, s.rowOf("▸ nfs-client"))
	}
	if got := s.press("j", "j", "j", "j", "j", "]").name(); got != "nfs-client" {
		t.Errorf("] from between the hung pod and the next problem goes to %q", got)
	}
	over := last
	over.InFlight = nil
	if s.show(&over); s.m.pods.hung != 0 || strings.Contains(s.rowOf("▸ nfs-client"), "hung") {
		t.Errorf("once the call is back: %d hung, row %q", s.m.pods.hung, s.rowOf("▸ nfs-client"))
	}
}

func TestHungWordFits(t *testing.T) {
	for out, want := range map[time.Duration]string{
		stuck: "hung 1s", 119 * time.Second: "hung 119s", 999 * time.Second: "hung 999s", time.Hour - 1: "hung 1h", 7*time.Hour + 59*time.Minute: "hung 7h59m",
	} {
		f := podInfo{state: hung, out: &engine.Flight{Since: noon.Add(-out)}}
		if got := f.word(noon); got != want {
			t.Errorf("%v: %q, want %q", out, got, want)
		}
	}
}

func TestFooterNamesOnlyKeysThatWork(t *testing.T) {
	s := newStage(t, 80, 24).show(healthyNode())
	for keys, want := range map[string]string{"?": "esc back", "y": "/ search"} {
		s.press("esc").press(keys)
		if keys == "y" {
			s.run()
		}
		lines := strings.Split(withoutStyles(s.m.frame()), "\n")
		footer := lines[len(lines)-1]
		if !strings.Contains(footer, want) || strings.Contains(footer, "filter") || keys == "?" && strings.Contains(footer, "search") {
			t.Errorf("%s: footer %q", keys, footer)
		}
	}
}
