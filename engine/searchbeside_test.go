package engine

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// listsByPod lets the list of all containers do that, while those of single pods are
// answered, but for these.
func (r *fakeRuntime) listsByPod(n int, all behaviour, hang ...string) {
	r.script("ListContainers", all)
	for i := range n {
		name := fmt.Sprintf("p%03d", i)
		r.script("ListContainers uid-"+name, behaviour{hang: slices.Contains(hang, name)})
	}
}

// What a list that is out lacks is not held against it once it has come.
func TestSlowSandboxesHideNotThatContainersAreTooLarge(t *testing.T) {
	tooLarge := behaviour{err: &call.Error{Op: call.ListContainers, Kind: call.ErrTooLarge, Code: "ResourceExhausted"}}
	for _, took := range []time.Duration{500 * time.Millisecond, 1200 * time.Millisecond, 2500 * time.Millisecond} {
		sick := func(r *fakeRuntime) {
			pairs(3)(r)
			r.script("ListPodSandbox", behaviour{delay: took})
			r.listsByPod(3, tooLarge)
		}
		bubble(t, Config{}, sick, func(b *bench) {
			s := b.after(time.Minute)
			if want := "the list of all containers was too large, so they were listed pod by pod: 3 of 3 pods"; s.Partial != want || s.Counts.Containers != 6 {
				t.Errorf("%v: partial %q, counts %+v", took, s.Partial, s.Counts)
			}
		})
		bubble(t, Config{}, pairs(3), func(b *bench) {
			b.after(500 * time.Millisecond)
			b.fake.pod("p003", "app")
			b.fake.script("ListPodSandbox", behaviour{delay: 2 * took})
			b.fake.listsByPod(4, tooLarge)
			if s := b.after(time.Minute); len(s.Beside) != 4 || s.Partial != "" {
				t.Errorf("%v, running: beside %v, partial %q", took, s.Beside, s.Partial)
			}
		})
	}
}

// A list of all that hangs is asked for its pods beside it, once it hangs for sure, and the
// pod whose list hangs as well is named; again with the next one that hangs.
func TestRunningEngineNamesThePodWhoseListHangs(t *testing.T) {
	for _, running := range []bool{false, true} {
		prepare := func(r *fakeRuntime) {
			if pairs(4)(r); !running {
				r.listsByPod(4, behaviour{hang: true}, "p002")
			}
		}
		bubble(t, Config{}, prepare, func(b *bench) {
			b.after(500 * time.Millisecond)
			if running {
				b.fake.listsByPod(4, behaviour{hang: true}, "p002")
			}
			b.fake.made()
			if b.after(9 * time.Second); slices.Contains(b.fake.made(), "ListContainers uid-p000") {
				t.Error("pods are listed beside a list that may only be slow")
			}
			s := b.after(6 * time.Second)
			if want := []pleg.PodRef{ref("p002")}; !slices.Equal(s.Holders, want) {
				t.Fatalf("running %v: holders %v, partial %q", running, s.Holders, s.Partial)
			}
			if shown := s.Counts.Containers; shown != 6 && !running || len(s.Beside) != 4 && running {
				t.Errorf("running %v: %+v, beside %v", running, s.Counts, s.Beside)
			}
			made := b.fake.made()
			if s := b.after(100 * time.Second); len(s.Holders) != 1 || countOf(b.fake.made(), "ListContainers uid-p002") > 0 || countOf(made, "ListContainers uid-p002") != 1 {
				t.Errorf("running %v: asked more than once for one hung list: %q; holders %v", running, made, s.Holders)
			}
			b.fake.listsByPod(4, behaviour{hang: true}, "p001")
			if s := b.after(30 * time.Second); !slices.Equal(s.Holders, []pleg.PodRef{ref("p001")}) {
				t.Errorf("running %v: beside the next list that hangs: holders %v", running, s.Holders)
			}
			b.fake.behave()
			if s := b.after(2 * time.Minute); s.Holders != nil || s.Partial != "" || s.Beside != nil || s.Failure != nil {
				t.Errorf("running %v: after it: holders %v, partial %q, failure %+v", running, s.Holders, s.Partial, s.Failure)
			}
		})
	}
}

// Where lists by pod hang as well, two of them are asked for and no more.
func TestListsByPodThatHangAreLeftAlone(t *testing.T) {
	hang := func(r *fakeRuntime) {
		pairs(6)(r)
		r.script("ListContainers", behaviour{hang: true})
	}
	bubble(t, Config{}, hang, func(b *bench) {
		s := b.after(119 * time.Second)
		byPod := slices.DeleteFunc(b.fake.made(), func(c string) bool { return len(c) <= len("ListContainers ") || c[:15] != "ListContainers " })
		if len(byPod) != 2 || s.Holders != nil || s.Partial != "the sandboxes only: ListContainers gave no answer" {
			t.Errorf("lists by pod %q, holders %v, partial %q", byPod, s.Holders, s.Partial)
		}
	})
}

// A list of one pod that was never made, since another was in its way, says nothing of
// that pod.
func TestListByPodThatYieldsBlamesNobody(t *testing.T) {
	bubble(t, Config{}, pairs(8), func(b *bench) {
		b.after(500 * time.Millisecond)
		b.fake.listsByPod(8, behaviour{err: &call.Error{Op: call.ListContainers, Kind: call.ErrTooLarge, Code: "ResourceExhausted"}})
		b.fake.script("ListContainers uid-p001", behaviour{delay: 1500 * time.Millisecond})
		b.after(700 * time.Millisecond)
		b.fake.script("ListPodSandbox", behaviour{hang: true})
		for range 30 {
			if s := b.after(500 * time.Millisecond); s.Holders != nil {
				t.Fatalf("holders %v", s.Holders)
			}
		}
		b.fake.script("ListPodSandbox", behaviour{})
	})
}
