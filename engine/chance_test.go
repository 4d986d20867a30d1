package engine_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A chance makes up a transcript. Pods come, go and crash. Calls are quick or slow, fail, hang, or ignore their
// context. Streams deliver true and false events, and break. People press keys.
type chance struct {
	*rand.Rand
	*transcript
	lines []string
	pods  []string // that are there
	made  int
}

func newChance(t *testing.T, seed uint64) *chance {
	x := &transcript{t: t, r: newScripted(t), streams: map[string]*scriptedStream{}, readers: map[string]*engine.Feed{}}
	x.r.looking = &scriptedLook{takes: 300 * time.Millisecond, folder: []evidence.Object{{ObjectRef: pleg.ObjectRef{ID: "foreign"}}}}
	w := &chance{Rand: rand.New(rand.NewPCG(seed, 1)), transcript: x}
	for range 1 + w.IntN(5) {
		w.addPod()
	}
	return w
}

// obey runs a line of the transcript and keeps it.
func (w *chance) obey(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	w.lines = append(w.lines, line)
	name, words, err := datadriven.ParseLine(line)
	if err != nil {
		w.t.Fatalf("%s: %v", line, err)
	}
	w.do(&datadriven.TestData{Pos: line}, name, words)
}

func (w *chance) addPod() {
	w.made++
	name := fmt.Sprintf("n%d", w.made)
	w.pods = append(w.pods, name)
	w.obey("pod %s c0%s", name, []string{"", " c1"}[w.IntN(2)])
}

// object returns a sandbox or container that exists, or existed before, or never did.
func (w *chance) object() string {
	var ids []string
	w.r.change(func() {
		for _, c := range w.r.containers {
			ids = append(ids, c.ID)
		}
		for _, s := range w.r.sandboxes {
			ids = append(ids, s.ID)
		}
	})
	return append(ids, fmt.Sprint("foreign-", w.IntN(1000)))[w.IntN(len(ids)+1)]
}

func (w *chance) pod() string { return append(w.pods, "nobody")[w.IntN(len(w.pods)+1)] }

// happen lets something happen on the node.
func (w *chance) happen() {
	switch n := w.IntN(12); {
	case n == 0 && len(w.pods) < 8:
		w.addPod()
	case n == 1 && len(w.pods) > 0:
		i := w.IntN(len(w.pods))
		w.obey("remove %s", w.pods[i])
		w.pods = append(w.pods[:i:i], w.pods[i+1:]...)
	case n == 2 && len(w.pods) > 0:
		w.obey("restart %s/c0", w.pods[w.IntN(len(w.pods))])
	case n == 3:
		w.obey("order reversed")
	case n == 4:
		w.obey("condition %s %v reason=why", []string{"RuntimeReady", "NetworkReady"}[w.IntN(2)], w.IntN(3) > 0)
	case n == 5:
		w.obey("remove %s", w.object())
	case n == 6:
		w.obey("state %s %s", w.object(), []string{"created", "running", "exited", "unknown"}[w.IntN(4)])
	default:
		w.obey("exit %s code=%d reason=Error", w.object(), w.IntN(3))
	}
}

// turn changes how the runtime behaves.
func (w *chance) turn() {
	op := append(asks, "all", "ListContainers all-pods", "ContainerStatus "+w.object(), "PodSandboxStatus "+w.pod())[w.IntN(len(asks)+4)]
	switch w.IntN(10) {
	case 0, 1:
		w.obey("hang %s", op)
	case 2:
		w.obey("deaf %s", op)
	case 3:
		w.obey("slow %s %dms", op, w.IntN(5000))
	case 4:
		w.obey("fail %s code=%s text=why", op, []string{"Unavailable", "ResourceExhausted", "Unknown", "Silent", "DeadlineExceeded", "NotFound"}[w.IntN(6)])
	default:
		w.obey("answer all")
	}
}

// press presses a key.
func (w *chance) press() {
	keys := []string{"pause", "resume", "resume", "relist", "reinspect " + w.pod(), "check all", "cancel", fmt.Sprintf("period %ds", 1+w.IntN(60)), "sources cri", "sources cri cgroup", "sources", "raw " + w.pod() + " deadline=1m"}
	w.obey("%s", keys[w.IntN(len(keys))])
}

// tell makes an event source deliver something, if its stream is open, or makes it end.
func (w *chance) tell() {
	name := []string{"cri", "cgroup"}[w.IntN(2)]
	s := w.source(name)
	s.mu.Lock()
	open := s.deliver != nil
	s.mu.Unlock()
	switch n := w.IntN(16); {
	case n == 0:
		w.obey("stream %s refuses code=%s text=why", name, []string{"Unavailable", "Unimplemented"}[w.IntN(2)])
	case n == 1:
		w.obey("stream %s opens", name)
	case n == 2 && open:
		w.obey("stream %s ends text=EOF", name)
	case open:
		w.obey("stream %s %s %s at=-%dms times=%d", name, []string{"created", "started", "stopped", "deleted"}[w.IntN(4)], w.object(), w.IntN(3000), 1+w.IntN(3))
	}
}

// play lets this much time pass.
func (w *chance) play(d time.Duration) {
	release := pleg.Newest - pleg.Release(w.IntN(int(pleg.Newest-pleg.Oldest)+1))
	mode := "generic"
	if release == pleg.Newest && w.IntN(2) == 0 {
		mode = "evented"
	}
	w.obey("start release=%v period=15s streams=(cri,cgroup) mode=%s", release, mode)
	for time.Since(w.began) < d && !w.t.Failed() {
		for _, do := range []func(){w.happen, w.happen, w.turn, w.press, w.tell, w.tell} {
			if w.IntN(3) == 0 {
				do()
			}
		}
		w.obey("run %dms", 1+int(w.ExpFloat64()*15_000))
	}
}

// However the runtime behaves and whatever people press, hour after hour, the engine keeps its
// promises (see referee), and its observations show the same when they are played.
func TestEngineKeepsItsPromises(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newChance(t, seed)
				w.play(40 * time.Minute)
				w.obey("answer all")
				w.r.change(func() { w.r.open(nil) }) // Raw does not return before its calls do
				w.end()
				live := without(must(w.Feed().Next(t.Context())).Snapshot)
				r := newReferee(t, w.tape.start)
				for _, o := range w.tape.observations {
					if s := r.watch(o); s.Seq == live.Seq && isTick(o) {
						if diff := cmp.Diff(live, without(s), plain); diff != "" {
							t.Errorf("to look at every moment changes what there is to see (- live, + replay):\n%s", diff)
						}
					}
					if t.Failed() {
						t.Fatalf("at %v, in this transcript:\n%s", o.At.Sub(w.began), strings.Join(w.lines, "\n"))
					}
				}
				if r.seq < 10 || len(w.tape.observations) < 1000 {
					t.Errorf("only %d events and %d observations", r.seq, len(w.tape.observations))
				}
			})
		})
	}
}

func isTick(o observation) bool {
	_, is := o.Observation.(engine.Ticked)
	return is
}

// An examination ends in time, whatever happens, and its observations lead to what it returns.
func TestExaminationKeepsItsPromises(t *testing.T) {
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			w := newChance(t, seed)
			for range w.IntN(3) {
				w.turn()
			}
			w.tape = &memoryTape{t: t}
			began := time.Now()
			for range w.IntN(4) {
				time.AfterFunc(time.Duration(w.ExpFloat64()*float64(3*time.Second)), func() { w.r.behave([]string{"all"}, nil, false) })
			}
			s := must(engine.Examine(t.Context(), engine.Config{Runtime: w.r, Look: w.r.Look, Tape: w.tape}, engine.Examination{}))
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("seed %d took %v", seed, took)
			}
			r := newReferee(t, w.tape.start)
			for _, o := range w.tape.observations {
				now := r.watch(o)
				if mark, is := o.Observation.(engine.Marked); is && mark.Mark == (engine.Closed{}) {
					if diff := cmp.Diff(without(s), without(now), plain); diff != "" {
						t.Errorf("seed %d: the replay shows something else (- live, + replay):\n%s", seed, diff)
					}
				}
			}
			if t.Failed() {
				t.Fatal(strings.Join(w.lines, "\n"))
			}
			w.r.change(func() { w.r.open(nil) })
		})
	}
}
