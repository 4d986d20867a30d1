package kubelet

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what the transcripts show")

// A transcript is some plays: what happens to the runtime, then, after "----", what the kubelet
// does and shows. Times are in seconds after the start. Each play ends at an empty line.
//
//	start [threshold=10s] [starting]   begins to look
//	run 5s                             lets time pass, and shows what the kubelet does
//	node                               shows what it says
//	hang, stop, fail, mute OP... | all calls hang until their deadline, or until the runtime is well; fail at once; fail after 5 s on a mute socket
//	well                               all calls are answered
//	ready, not ready, no network, no conditions: what Status says
//	hangers 2                          pods whose inspection hangs
//	pause, resume
//	relist                             somebody asks for a relist, which is made in a pause, too
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 6 {
		t.Fatalf("files %q, %v", files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for play := range strings.SplitSeq(strings.TrimRight(string(text), "\n"), "\n\n") {
				script, _, _ := strings.Cut(play, "----\n")
				script = strings.TrimSuffix(script, "----")
				got += script + "----\n" + perform(t, script) + "\n"
			}
			got = strings.TrimSuffix(got, "\n")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(text), got); diff != "" && !*update {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// perform plays a script and returns what it shows.
func perform(t *testing.T, script string) string {
	s := newScene(Config{})
	for line := range strings.Lines(script) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		if words[0] == "start" {
			var c Config
			for _, word := range words[1:] {
				c.Starting = c.Starting || word == "starting"
				if threshold, ok := strings.CutPrefix(word, "threshold="); ok {
					c.Threshold = duration(t, threshold)
				}
			}
			s = newScene(c)
			continue
		}
		s.do(t, words)
	}
	return s.trace.String()
}

func duration(t *testing.T, text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (s *scene) do(t *testing.T, words []string) {
	ops := slices.Clone(words[1:])
	if slices.Equal(ops, []string{"all"}) {
		ops = all
	}
	switch words[0] {
	case "run":
		s.run(duration(t, words[1]))
	case "node":
		for line := range strings.Lines(s.describe()) {
			fmt.Fprintf(&s.trace, "%9.1f | %s", s.at.Sub(s.start).Seconds(), line)
		}
	case "hang":
		s.behave(behaviour{hangs: true}, ops...)
	case "stop":
		s.behave(behaviour{hangs: true, goesOn: true}, ops...)
	case "fail":
		s.behave(behaviour{fails: true}, ops...)
	case "mute":
		s.behave(behaviour{after: 5 * time.Second, fails: true, mute: true}, ops...)
	case "well":
		s.behave(behaviour{})
	case "hangers":
		if _, err := fmt.Sscan(words[1], &s.hangers); err != nil {
			t.Fatal(err)
		}
	case "ready":
		s.conditions[0].Status = true
	case "not":
		s.conditions[0].Status = false
	case "no":
		if s.conditions[1].Status = false; words[1] == "conditions" {
			s.conditions = nil
		}
	case "pause", "resume":
		at, paused := s.at, words[0] == "pause"
		s.tell(func(k *Kubelet) { k.SetPaused(at, paused) })
	case "relist":
		s.begin("ListPodSandbox")
	default:
		t.Fatalf("what is %q?", words)
	}
}
