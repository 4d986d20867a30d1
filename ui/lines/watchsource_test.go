package lines

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
)

// sighted returns an event of that name with who saw it, and when after noon.
func sighted(container string, at map[sources.Source]time.Duration) engine.Event {
	e := died()
	e.Container, e.HasLag, e.Seen = container, false, new(sources.Sightings)
	for source, after := range at {
		e.Seen.At[source] = noon.Add(after)
	}
	_, e.SeenAt = e.Seen.First()
	return e
}

// streamed is what event sources bring about in a run of a bit more than two minutes.
func streamed() []diagnose.Update {
	early := sighted("early", map[sources.Source]time.Duration{sources.FromCRI: 100 * ms, sources.FromCgroup: 90 * ms, sources.FromRelist: 512 * ms})
	late := sighted("late", map[sources.Source]time.Duration{sources.FromCgroup: 600 * ms, sources.FromRelist: 512 * ms})
	short := sighted("", map[sources.Source]time.Duration{sources.FromCgroup: 700 * ms})
	short.Pod, short.Exited, short.Reason, short.Delivery = pleg.PodRef{}, false, "", pleg.Unseen
	short.Mode = pleg.Evented
	changes := []sources.SourceChange{
		{Seq: 1, At: noon.Add(-ms), Source: sources.FromCgroup, State: sources.StreamRefused, Reason: "no\x1b[2Jpe"},
		{Seq: 2, At: noon, Source: sources.FromCRI, State: sources.StreamConnected},
		{Seq: 5, At: noon.Add(70 * time.Second), Source: sources.FromCRI, State: sources.StreamFellBack, Reason: "5 failed attempts"},
	}
	at := func(n int, changes []sources.SourceChange, events ...engine.Event) diagnose.Update {
		u := second(n)
		u.Events, u.Snapshot.SourceChanges = events, changes
		u.Snapshot.Sources = []sources.SourceState{
			{Source: sources.FromCRI, State: sources.StreamFellBack, Received: uint64(n), Lost: 2},
			{Source: sources.FromCgroup, State: sources.StreamConnected},
		}
		u.Snapshot.Drift = []sources.Drift{
			{Source: sources.FromCRI, Transitions: 10, Both: 7, MissedByRelist: 1, MissedBySource: 2, Duplicates: 3, Late: 4, LeadP50: 400 * ms, LeadP99: -20 * ms},
			{Source: sources.FromCgroup, Transitions: 1, MissedByRelist: 1},
		}
		return u
	}
	return []diagnose.Update{
		at(0, changes[:2], early, late, short), at(1, changes[:2]), at(59, changes[:2]), at(60, changes[:2]), at(70, changes), at(130, changes),
	}
}

func TestWatchSourcesText(t *testing.T) {
	const drift = "drift cri: 7 of 10 transitions seen by both, 1 missed by the relist, 2 missed by cri, 4 late, 3 duplicates; lead: median +400ms, worst 1% -20ms; "
	const none = "drift cgroup: 0 of 1 transitions seen by both, 1 missed by the relist, 0 missed by cgroup, 0 late, 0 duplicates; 0 received, 0 lost\n"
	want := `12:00:00.000 headline: HEALTHY
11:59:59.999 source cgroup refused: no^[[2Jpe
12:00:00.000 source cri connected
12:00:00.090 ContainerDied    shop/cart-0 early exit 137 OOMKilled seen by cgroup 422ms before the relist
12:00:00.512 ContainerDied    shop/cart-0 late exit 137 OOMKilled
12:00:00.700 ContainerDied    - c1 seen by cgroup, by no relist (unseen)
12:00:00.000 PLEG is healthy
12:01:00.000 ` + drift + "60 received, 2 lost\n12:01:00.000 " + none + `12:01:10.000 source cri fell-back (after 2 changes that were too many for this reader): 5 failed attempts
12:02:10.000 ` + drift + "130 received, 2 lost\n12:02:10.000 " + none + `12:02:10.000 source cgroup ended: plegtop ends
12:02:10.000 ` + drift + "130 received, 2 lost\n12:02:10.000 " + none
	if diff := cmp.Diff(want, watch(t, Options{}, streamed()...)); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	if got := watch(t, Options{Namespaces: []string{"shop"}}, streamed()...); strings.Contains(got, "unseen") || !strings.Contains(got, "early") {
		t.Errorf("of one namespace there is\n%s", got)
	}
}

func TestWatchSourcesJSON(t *testing.T) {
	var got []string
	for line := range strings.Lines(watch(t, Options{JSON: true}, streamed()...)) {
		for _, kind := range []string{"event", "source", "drift"} {
			if _, rest, ok := strings.Cut(line, `"kind":"`+kind+`",`); ok && len(got) < 8 {
				_, rest, _ = strings.Cut(rest, `"mode"`)
				got = append(got, strings.TrimSpace(line[strings.Index(line, `"time"`):strings.Index(line, `"kind"`)]+kind+rest))
				if kind != "event" {
					got[len(got)-1] = strings.TrimSpace(line[strings.Index(line, `"kind"`):])
				}
			}
		}
	}
	utc := func(after time.Duration) string { return noon.Add(after).UTC().Format(time.RFC3339Nano) }
	want := []string{
		`"kind":"source","source":"cgroup","state":"refused","reason":"no\u001b[2Jpe"}`,
		`"kind":"source","source":"cri","state":"connected","reason":""}`,
		fmt.Sprintf(`"time":%q,event:"generic","seenBy":"cgroup","sightings":[{"source":"cgroup","time":%[1]q,"leadSeconds":0.422},{"source":"cri","time":%q,"leadSeconds":0.412},{"source":"relist","time":%q,"leadSeconds":0}]}`, utc(90*ms), utc(100*ms), utc(512*ms)),
		fmt.Sprintf(`"time":%q,event:"generic","seenBy":"relist","sightings":[{"source":"relist","time":%[1]q,"leadSeconds":0},{"source":"cgroup","time":%q,"leadSeconds":-0.088}]}`, utc(512*ms), utc(600*ms)),
		fmt.Sprintf(`"time":%q,event:"evented","seenBy":"cgroup","sightings":[{"source":"cgroup","time":%[1]q}]}`, utc(700*ms)),
		`"kind":"drift","source":"cri","transitions":10,"both":7,"missedByRelist":1,"missedBySource":2,"duplicates":3,"late":4,"leadP50Seconds":0.4,"leadP99Seconds":-0.02,"received":60,"lost":2}`,
		`"kind":"drift","source":"cgroup","transitions":1,"both":0,"missedByRelist":1,"missedBySource":0,"duplicates":0,"late":0,"leadP50Seconds":null,"leadP99Seconds":null,"received":0,"lost":0}`,
		`"kind":"source","source":"cri","state":"fell-back","reason":"5 failed attempts","lost":2}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// TestEventWithoutSources holds that an event has the same fields where no source is on.
func TestEventWithoutSources(t *testing.T) {
	_, got, _ := strings.Cut(string(appendEvent(nil, died())), `,"mode":`)
	if want := `"generic","seenBy":"relist","sightings":[{"source":"relist","time":"2026-11-20T12:00:00Z","leadSeconds":0}]}` + "\n"; got != want {
		t.Errorf("mode %s\nwant %s", got, want)
	}
}

// An ending is a feed that, once its context has ended, has one more update, and stops.
type ending struct {
	first, last diagnose.Update
	ctx         context.Context // of the engine
	told        int
}

func (e *ending) Next(ctx context.Context) (diagnose.Update, error) {
	e.told++
	switch e.told {
	case 1:
		return e.first, nil
	case 2:
		<-e.ctx.Done()
		return e.last, nil
	}
	return diagnose.Update{}, engine.ErrStopped
}

// TestWatchWritesTheEnd holds that what the engine says while it ends is written, and the
// drift, and that a reader who takes his time has it all within a second.
func TestWatchWritesTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		all := streamed()
		last := all[1]
		last.Snapshot.SourceChanges = append(last.Snapshot.SourceChanges, sources.SourceChange{Seq: 3, At: noon, Source: sources.FromCgroup, State: sources.StreamEnding})
		last.Snapshot.Sources[1].State = sources.StreamEnding
		r, w := io.Pipe()
		ended := make(chan error)
		go func() { ended <- Watch(ctx, w, &ending{first: all[0], last: last, ctx: ctx}, Options{}) }()
		synctest.Wait()
		cancel()
		began, got := time.Now(), ""
		time.AfterFunc(lastWrite*9/10, func() {
			b := make([]byte, 1<<16)
			for n, err := r.Read(b); err == nil; n, err = r.Read(b) {
				got += string(b[:n])
			}
		})
		if err := <-ended; err != nil || time.Since(began) > lastWrite {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		_ = w.Close()
		synctest.Wait()
		if !strings.Contains(got, "source cgroup ended\n") || strings.Count(got, "cgroup ended") != 1 || strings.Count(got, "drift cri") != 1 || !strings.HasSuffix(got, "0 lost\n") {
			t.Errorf("the end is\n%s", got)
		}
		time.Sleep(time.Hour)
	})
}
