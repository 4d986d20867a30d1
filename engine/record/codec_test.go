package record

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// through writes observations and reads them again, and returns the moments, too.
func through(t *testing.T, all ...engine.Observation) (at []time.Time, read []engine.Observation) {
	t.Helper()
	writer, reader := newCodec(clock{start: noon}), newCodec(clock{start: noon})
	for i, o := range all {
		b, err := writer.write(entry{At: time.Duration(i) * time.Second}, o)
		var e entry
		if err == nil {
			err = unmarshal(cbor.RawMessage(b), &e)
		}
		if err != nil {
			t.Fatal(err)
		}
		moment, o, err := reader.read(&e)
		if err != nil {
			t.Fatal(err)
		}
		at, read = append(at, moment), append(read, o)
	}
	return at, read
}

// Every field of every observation is what it was after it was written and read.
func TestObservationsSurvive(t *testing.T) {
	var all []engine.Observation
	for name, kind := range kinds {
		v := reflect.New(kind).Elem()
		filled(v, "text", noon.Add(90*time.Second))
		switch o := v.Interface().(type) {
		case engine.Mark:
			all = append(all, engine.Marked{Mark: o})
		case engine.Observation:
			all = append(all, o)
		case callEnded:
			all = append(all, engine.CallEnded{ID: 1, Trace: o.Trace, Err: o.Err})
		default:
			t.Errorf("%s is no observation", name)
		}
		if zero := reflect.New(kind).Elem(); name != "CallEnded" && !strings.Contains(name, "Relist") {
			if o, is := zero.Interface().(engine.Observation); is {
				all = append(all, o)
			}
		}
	}
	at, read := through(t, all...)
	for i := range all {
		if d := diff(all[i], read[i]); d != "" {
			t.Errorf("%T (-want +got):\n%s", all[i], d)
		}
		if want := noon.Add(time.Duration(i) * time.Second); diff(want, at[i]) != "" {
			t.Errorf("%T was at %v, want %v", all[i], at[i], want)
		}
	}
}

// Whatever implements Observation or Mark in package engine is known here.
func TestAllKindsAreKnown(t *testing.T) {
	for _, kind := range []string{"CallBegan", "CallEnded", "Looked", "Streamed", "StreamEnded", "Requested", "Ticked", "Halted",
		"RelistBegan", "Listed", "RelistFailed", "Inspected", "RelistEnded", "LookBegan", "StreamOpened", "Closed"} {
		if kinds[kind] == nil {
			t.Errorf("%s is unknown", kind)
		}
	}
}

func TestAnswersSurvive(t *testing.T) {
	ref := pleg.PodRef{Namespace: "shop", Name: "web", UID: "uid"}
	created := time.Unix(1_700_000_000, 7)
	answers := []engine.Answer{
		{},
		{Version: &pleg.Version{RuntimeName: "containerd", RuntimeVersion: "2.1.0", APIVersion: "v1"}},
		{Conditions: []pleg.Condition{}},
		{Conditions: []pleg.Condition{{Type: "RuntimeReady", Status: true}, {Type: "NetworkReady", Reason: "NoCNI", Message: "cni plugin not initialized"}}},
		{Sandboxes: []*pleg.ListedSandbox{}},
		{Containers: []*pleg.ListedContainer{}},
		{Sandbox: &pleg.SandboxStatus{ID: "s", Pod: ref, State: pleg.Exited, Attempt: 2, CreatedAt: created, HostNetwork: true, Handler: "kata"}},
		{Sandbox: &pleg.SandboxStatus{ID: "s", Pod: ref, State: pleg.Unknown, IPs: []string{"10.0.0.1", "fd00::1"}}},
		{Container: &pleg.ContainerStatus{ID: "c", Name: "web", State: pleg.Exited, Attempt: 1, Image: "web:1", ExitCode: -1, Reason: "Error", Message: "out", CreatedAt: created, StartedAt: created, FinishedAt: created}},
		{Container: &pleg.ContainerStatus{ID: "c"}},
	}
	for state := pleg.Absent; state <= pleg.Unknown; state++ {
		answers = append(answers, engine.Answer{Container: &pleg.ContainerStatus{ID: "c", State: state}})
	}
	var all []engine.Observation
	for i, a := range answers {
		all = append(all, engine.CallEnded{ID: uint64(i), Answer: a})
	}
	_, read := through(t, all...)
	for i, want := range answers {
		got := read[i].(engine.CallEnded).Answer
		if want.Container != nil && want.Container.State == pleg.Absent {
			want.Container.State = pleg.Unknown // no runtime has such a state
		}
		if d := diff(want, got); d != "" {
			t.Errorf("answer %d (-want +got):\n%s", i, d)
		}
	}
}

// A list is the difference to the one before, and an entry that stays is the same pointer when it
// is played, whatever the order of the list, also in the next segment.
func TestListsKeepEntries(t *testing.T) {
	n := newNode(3)
	was := n.containers
	one := []*pleg.ListedContainer{{Pod: was[0].Pod, Container: was[0].Container}}
	turned := slices.Clone(was)
	slices.Reverse(turned)
	without := turned[1:]
	n.containers = without
	n.ends(0)
	lists := [][]*pleg.ListedContainer{was, was, turned, without, n.containers, one, n.containers, {}, was, append(slices.Clone(was), was[0])}
	writer, reader := newContainers(newCodec(clock{}).clock.writing(ages{}).copy), newContainers(newCodec(clock{}).clock.writing(ages{}).copy)
	reader.begin()
	pointers := map[*pleg.ListedContainer]*pleg.ListedContainer{}
	for i, want := range lists {
		if i == 4 { // a segment begins
			writer.begin()
			reader.begin()
		}
		l, err := writer.write(want)
		if err != nil {
			t.Fatal(err)
		}
		if i == 1 && !l.Same || i == 2 && len(l.New) > 0 || i == 6 && !l.Same {
			t.Errorf("list %d is %+v", i, l)
		}
		got, err := reader.read(l)
		if err != nil || got == nil || len(got) != len(want) {
			t.Fatalf("list %d: %v, %v", i, got, err)
		}
		for k := range got {
			if d := diff(want[k], got[k]); d != "" {
				t.Errorf("list %d (-want +got):\n%s", i, d)
			}
			if p := pointers[want[k]]; p != nil && p != got[k] && i < 7 {
				t.Errorf("list %d: entry %d is another pointer", i, k)
			}
			pointers[want[k]] = got[k]
		}
	}
	for _, l := range []*list{{Rows: []int{0}}, {Rows: []int{isNew}}, {Rows: []int{-2}}, {Rows: []int{isNew}, New: [][]byte{{0xff}}}} {
		if _, err := newContainers(newCodec(clock{}).clock.writing(ages{}).copy).read(l); err == nil {
			t.Errorf("%+v is taken for a list", l)
		}
	}
}

// The clock on the wall was set forward, and back: durations stay, and the wall clock shows what
// it showed.
func TestClockSteps(t *testing.T) {
	live, written := clock{start: noon}, 0
	read := clock{start: noon.Round(0)}
	wall := noon.Round(0)
	var moments, replayed []time.Time
	for i, set := range []time.Duration{0, time.Millisecond, time.Hour, 0, -2 * time.Hour, time.Hour, 0} {
		wall = wall.Add(set + time.Second)
		at := withReading(wall, int64(time.Duration(i+1)*time.Second))
		d, ahead := live.since(at)
		if ahead != nil {
			written++
			read.steps = append(read.steps, step{d, *ahead})
		}
		moments, replayed = append(moments, at), append(replayed, read.at(d))
	}
	for i := range moments {
		if off := moments[i].Round(0).Sub(replayed[i].Round(0)).Abs(); off > engine.LeastStep {
			t.Errorf("moment %d shows %v, want %v", i, replayed[i], moments[i])
		}
		if got, want := replayed[i].Sub(replayed[0]), moments[i].Sub(moments[0]); got != want {
			t.Errorf("moment %d is %v later, want %v", i, got, want)
		}
		if got := read.read(live.written(moments[i])); !got.Equal(replayed[i]) || !got.Round(0).Equal(replayed[i].Round(0)) {
			t.Errorf("moment %d as a field of an observation is %v", i, got)
		}
	}
	if written != 3 {
		t.Errorf("%d steps", written)
	}
	theirs := time.Unix(1_700_000_000, 1)
	if got := read.read(live.written(theirs)); got != theirs {
		t.Errorf("a runtime's time is %v, want %v", got, theirs)
	}
	for _, none := range []time.Time{{}, time.Date(12_000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC)} {
		if got := live.written(none); !got.IsZero() {
			t.Errorf("%v is written as %v", none, got)
		}
	}
}

// Go keeps times as withReading takes for granted.
func TestReadingsAreGos(t *testing.T) {
	now := time.Now()
	later := now.Add(1500 * time.Millisecond)
	ours := withReading(now.Add(time.Hour), 5)
	if got := withReading(now.Add(2*time.Hour), 5+int64(time.Second)).Sub(ours); got != time.Second {
		t.Errorf("a second is %v", got)
	}
	if !ours.Round(0).Equal(now.Add(time.Hour).Round(0)) || !measured(ours) || measured(ours.Round(0)) || later.Sub(now) != 1500*time.Millisecond {
		t.Errorf("%v is %v", now.Add(time.Hour), ours)
	}
	if far := time.Date(2500, 1, 1, 0, 0, 0, 0, time.UTC); withReading(far, 5) != far {
		t.Error("a time that Go keeps without a reading has one")
	}
}

func TestElements(t *testing.T) {
	for _, tt := range []struct {
		v    any
		want uint64
	}{
		{[]int{1, 2, 3}, 3}, {map[string][]string{"a": {"b", "c"}, "d": nil}, 2}, {[][]byte{make([]byte, 300), {}}, 2}, {make([]bool, 70_000), 70_000}, {strings.Repeat("x", 70_000), 0},
		{entry{Of: cbor.RawMessage{0x82, 0x01, 0x18, 0xff}}, 2}, {2.5, 0},
	} {
		b, err := encodes.Marshal(tt.v)
		if err != nil {
			t.Fatal(err)
		}
		if got := elements(b); got != tt.want {
			t.Errorf("%T has %d elements, want %d", tt.v, got, tt.want)
		}
	}
	half := make([]int, mostElements/2+1)
	many, err := encodes.Marshal([][]int{half, half}) // each array alone would be read
	if err != nil {
		t.Fatal(err)
	}
	var read [][]int
	if err := unmarshal(many, &read); err == nil {
		t.Error("an item of too many elements is read")
	}
}

// An answer without an error and an error are told apart, and nothing is lost of an error.
func TestErrorsSurvive(t *testing.T) {
	want := engine.CallEnded{ID: 3, Err: &call.Error{Op: call.Status, Kind: call.ErrDeadline, Code: "DeadlineExceeded", Text: "late", Why: 2}}
	_, read := through(t, want, engine.Looked{Report: &evidence.Report{Deep: &evidence.Deep{}}})
	if d := diff(want, read[0]); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if read[1].(engine.Looked).Report.Deep == nil {
		t.Error("a deep look that found nothing is none")
	}
}

// What a checkpoint may have beside plain values: errors, and types that write themselves.
func TestStatesSurvive(t *testing.T) {
	type state struct {
		Failure *answers.Failure
		Sums    answers.SumsState
	}
	var want state
	filled(reflect.ValueOf(&want).Elem(), "text", noon.Add(time.Second))
	want.Failure.Err = fmt.Errorf("list: %w", &call.Error{Op: call.Status, Kind: call.ErrTooLarge, Code: "ResourceExhausted", Text: "--token hunter2"})
	want.Sums.ByOp[0].Took.Add(time.Minute)
	c := clock{start: noon}
	b, err := encodes.Marshal(c.writing(ages{}).copy(want))
	var read state
	if err == nil {
		err = unmarshal(b, &read)
	}
	if err != nil {
		t.Fatal(err)
	}
	got := c.reading(ages{}).copy(read).(state)
	want.Failure.Err = &call.Error{Op: call.Status, Kind: call.ErrTooLarge, Code: "ResourceExhausted", Text: "--token ***"}
	if d := diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
