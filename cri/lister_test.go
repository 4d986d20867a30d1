package cri

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A shelf is a client with the lists of its runtime.
type shelf struct {
	*Client
	sandboxes  []*runtimev1.PodSandbox
	containers []*runtimev1.Container
	err        error
}

func newShelf(t *testing.T) *shelf {
	s, stub := new(shelf), healthy()
	stub.answers[listSandboxes] = func(context.Context, any) (proto.Message, error) {
		return &runtimev1.ListPodSandboxResponse{Items: s.sandboxes}, s.err
	}
	stub.answers[listContainers] = func(context.Context, any) (proto.Message, error) {
		return &runtimev1.ListContainersResponse{Containers: s.containers}, s.err
	}
	s.Client = start(t, stub)
	return s
}

// list puts one sandbox and one container for each word on the shelf, and lists them.
func (s *shelf) list(t *testing.T, uid pleg.UID, words string) ([]*pleg.ListedSandbox, []*pleg.ListedContainer, error) {
	t.Helper()
	s.sandboxes, s.containers = nil, nil
	for word := range strings.SplitSeq(words, ", ") {
		if word != "" {
			s.sandboxes, s.containers = append(s.sandboxes, sandboxOf(word)), append(s.containers, containerOf(word))
		}
	}
	sandboxes, err := s.ListPodSandbox(within(t, testLimit), uid)
	containers, err2 := s.ListContainers(within(t, testLimit), uid)
	return sandboxes, containers, errors.Join(err, err2)
}

// A word is the id, and then what is special in the entry.

func sandboxOf(word string) *runtimev1.PodSandbox {
	s := goodSandbox()
	id, more, _ := strings.Cut(word, " ")
	s.Id, s.Labels = id, map[string]string{"a": id, "b": id, "c": id, "d": id}
	switch more {
	case "ended":
		s.State = runtimev1.PodSandboxState_SANDBOX_NOTREADY
	case "odd":
		s.State = 99
	case "left out":
		s.Metadata.Uid = ""
	case "strange": // a number field as a text, which protobuf passes over
		wired(s, []byte{3<<3 | 2, 1, 'x'})
	}
	return s
}

func containerOf(word string) *runtimev1.Container {
	c := goodContainer()
	id, more, _ := strings.Cut(word, " ")
	c.Id = id
	switch more {
	case "ended":
		c.State = runtimev1.ContainerState_CONTAINER_EXITED
	case "odd":
		c.State = 99
	case "left out":
		delete(c.Labels, uidLabel)
	case "strange":
		wired(c, []byte{6<<3 | 2, 1, 'x'})
	}
	return c
}

// An entry of the last list is the same row, an unchanged list is the same slice, and whatever a
// list has is what the generated code makes of it. Rows that were returned once stay as they are.
func TestUnchangedEntriesAreTheSameRows(t *testing.T) {
	s := newShelf(t)
	var lastS []*pleg.ListedSandbox
	var lastC []*pleg.ListedContainer
	var stay []func()
	for i, step := range []struct {
		list string
		same bool   // as the list before
		new  string // ids whose rows are new
	}{
		{"a, b, c", false, "abc"},
		{"a, b, c", true, ""},
		{"c, a, b", true, ""},
		{"c, a ended, b", false, "a"},
		{"b, c, a ended", true, ""},
		{"b, d, c, a ended", false, "d"},
		{"c, d, b", false, ""},
		{"c, e, b", false, "e"},
		{"c, e, b, c", false, ""}, // twice
		{"c, b, e, c", true, ""},
		{"c, e, c", false, ""},
		{"c, e, b", false, "b"},
		{"b, e ended, e, c", false, "e"},
		{"e, c, b", false, ""},
		{"b, c odd, e", false, "c"},
		{"e, b, c odd", true, ""},
		{"e, x left out, b", false, ""},
		{"b, x left out, e", true, ""},
		{"e, b", false, ""},
		{"e, x strange, b", false, "x"},
		{"b, x strange, e", true, ""},
		{"a, b ended", false, "ab"},
		{"a ended, b", false, "ab"}, // two exchange a field: the fields of the whole list are the same
		{"", false, ""},
		{"b", false, "b"},
	} {
		name := fmt.Sprintf("list %d: %s", i, step.list)
		ss, cs, err := s.list(t, "", step.list)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		wantRows(t, name, step.same, step.new, lastS, ss, generated(s.sandboxes, (*converter).listedSandbox), func(r *pleg.ListedSandbox) string { return r.ID })
		wantRows(t, name, step.same, step.new, lastC, cs, generated(s.containers, (*converter).listedContainer), func(r *pleg.ListedContainer) string { return r.ID })
		lastS, lastC = ss, cs
		stay = append(stay, stays(t, name, ss), stays(t, name, cs))
	}
	for _, check := range stay {
		check()
	}
}

// generated is what the generated code makes of entries.
func generated[M proto.Message, T any](entries []M, read func(*converter, []byte) (*T, error)) (rows []T) {
	for _, one := range entries {
		wire, _ := proto.Marshal(one)
		if row, err := read(new(converter), wire); err == nil && row != nil {
			rows = append(rows, *row)
		}
	}
	return rows
}

func wantRows[T any](t *testing.T, name string, same bool, fresh string, last, got []*T, want []T, id func(*T) string) {
	t.Helper()
	if isSame := len(got) > 0 && len(last) == len(got) && &last[0] == &got[0]; isSame != same {
		t.Errorf("%s: the same %T: %t", name, got, isSame)
	}
	if cap(got) != len(got) {
		t.Errorf("%s: an append writes behind the %d rows", name, len(got))
	}
	all, _ := values(got, nil)
	byID := func(a, b T) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }
	if same { // it has the order of the last one
		slices.SortFunc(all, byID)
		slices.SortFunc(want, byID)
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("%s: want -, got +:\n%s", name, diff)
	}
	var made []string
	for _, row := range got {
		if !slices.Contains(last, row) {
			made = append(made, id(row))
		}
	}
	if strings.Join(made, "") != fresh {
		t.Errorf("%s: new rows of %T are %v, want %s", name, got, made, fresh)
	}
}

// stays returns what checks that the rows are as they are now.
func stays[T any](t *testing.T, name string, rows []*T) func() {
	were, values := slices.Clone(rows), make([]T, len(rows))
	for i, row := range rows {
		values[i] = *row
	}
	return func() {
		t.Helper()
		for i := range were {
			if rows[i] != were[i] || !cmp.Equal(*rows[i], values[i]) {
				t.Errorf("%s: row %d has changed since, from %+v to %+v", name, i, values[i], *rows[i])
			}
		}
	}
}

// A list of one pod, and one that fails, leave the rows of the last list of all pods. A list of one
// pod has those rows, too.
func TestListOfOnePodKeepsTheRest(t *testing.T) {
	s := newShelf(t)
	all, allC, err := s.list(t, "", "a, b, c")
	one, oneC, err2 := s.list(t, "uid-1", "b, d")
	s.err = errors.New("broken")
	none, noneC, failed := s.list(t, "", "a")
	s.err = nil
	after, afterC, err3 := s.list(t, "", "c, a, b")
	if err := errors.Join(err, err2, err3); err != nil || failed == nil || none != nil || noneC != nil {
		t.Fatalf("%v; %v with %d and %d rows", err, failed, len(none), len(noneC))
	}
	if one[0] != all[1] || oneC[0] != allC[1] || len(one) != 2 || one[1].ID != "d" {
		t.Errorf("the list of one pod has %v", one)
	}
	if &after[0] != &all[0] || &afterC[0] != &allC[0] {
		t.Error("an unchanged list is another slice")
	}
}

// What had to be left out or changed is counted in each list, also in an unchanged one.
func TestAnomaliesOfUnchangedLists(t *testing.T) {
	c := newLister((*converter).listedContainer)
	for _, words := range []string{"a odd, b, x left out", "x left out, a odd, b", "a odd, y left out, x left out"} {
		var found converter
		if _, err := c.reader(true)(&found, wireOf(t, strings.Split(words, ", ")...)); err != nil {
			t.Fatal(err)
		}
		want(t, words, pleg.Anomalies{BadState: 1, NoPodUID: strings.Count(words, "left")}, found.Anomalies, nil)
	}
}

func wireOf(t testing.TB, words ...string) []byte {
	t.Helper()
	var m runtimev1.ListContainersResponse
	for _, word := range words {
		m.Containers = append(m.Containers, containerOf(word))
	}
	return onWire(t, &m)
}

func TestManyListsAtOnce(t *testing.T) {
	l := newLister((*converter).listedContainer)
	var lists sync.WaitGroup
	for range 4 {
		lists.Go(func() {
			for range 200 {
				words := make([]string, 40)
				for i, id := range rand.Perm(len(words)) {
					words[i] = fmt.Sprint(id)
				}
				if rand.IntN(2) == 0 {
					words[0] += " ended"
				}
				rows, err := l.reader(rand.IntN(2) == 0)(new(converter), wireOf(t, words...))
				got := make([]string, len(rows))
				for i, row := range rows {
					got[i] = strings.TrimSuffix(row.ID+" "+strings.Replace(row.State.String(), "exited", "ended", 1), " running")
				}
				slices.Sort(words)
				slices.Sort(got)
				want(t, "rows", words, got, err)
			}
		})
	}
	lists.Wait()
}

// FuzzLists compares with the generated code, for a whole list: same rows, same counters, same
// refusals. What is kept is clean, and every entry is kept or counted.
func FuzzLists(f *testing.F) {
	odd := containerOf("odd odd")
	odd.CreatedAt = -1
	for _, list := range []proto.Message{
		&runtimev1.ListPodSandboxResponse{Items: []*runtimev1.PodSandbox{goodSandbox(), {}, goodSandbox(), sandboxOf("x strange")}},
		&runtimev1.ListContainersResponse{Containers: []*runtimev1.Container{goodContainer(), {}, odd, goodContainer()}},
	} {
		wire := onWire(f, list)
		f.Add(wire)
		f.Add(wire[:len(wire)-1])
		f.Add(append(wire, 1<<3, 1))                                                      // an entry as a number
		f.Add(append(wire, 99<<3&0x7F|0x80|5, 99>>4, 1, 2, 3, 4))                         // a field that no list has
		f.Add(append(wire, 1<<3|2, 12, 0x80, 0xFF, 0xFF, 0xFF, '0', 0, 0, 0, 0, 0, 0, 0)) // a field number too large
		f.Add(append(wire, 1<<3|2, 3, 1<<3|2, 1, 0xFF))                                   // an id that is not UTF-8
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		if len(wire) > entriesLimit { // an entry takes a byte at least
			return
		}
		var sandboxes runtimev1.ListPodSandboxResponse
		err := proto.Unmarshal(wire, &sandboxes)
		agree(t, wire, (*converter).listedSandbox, sandboxes.Items, err, func(r *pleg.ListedSandbox) {
			clean(t, r.State, []time.Time{r.CreatedAt}, r.ID, r.Pod.Name, r.Pod.Namespace, string(r.Pod.UID))
		})
		var containers runtimev1.ListContainersResponse
		err = proto.Unmarshal(wire, &containers)
		agree(t, wire, (*converter).listedContainer, containers.Containers, err, func(r *pleg.ListedContainer) {
			clean(t, r.State, []time.Time{r.CreatedAt}, r.ID, r.Name, r.Image, r.SandboxID, r.Pod.Name, r.Pod.Namespace, string(r.Pod.UID))
		})
	})
}

func agree[M proto.Message, T comparable](t *testing.T, wire []byte, read func(*converter, []byte) (*T, error), decoded []M, wantErr error, clean func(*T)) {
	t.Helper()
	l := newLister(read)
	var found, wantFound converter
	rows, err := l.reader(true)(&found, wire)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("error = %v, want %v", err, wantErr)
	}
	if err != nil {
		return
	}
	var want []T
	for _, one := range decoded {
		if row, err := read(&wantFound, onWire(t, one)); err != nil {
			t.Fatal(err)
		} else if row != nil {
			want = append(want, *row)
			clean(row)
		}
	}
	if got, _ := values(rows, nil); !slices.Equal(got, want) || found != wantFound {
		t.Errorf("%+v, %+v\nwant %+v, %+v", got, found, want, wantFound)
	}
	left := found.NoMetadata + found.NoID + found.NoImage + found.NoPodUID
	if len(rows)+left != len(decoded) {
		t.Errorf("%d rows, and %d left out, of %d", len(rows), left, len(decoded))
	}
	if again, err := l.reader(true)(new(converter), wire); err != nil || len(again) != len(rows) || len(rows) > 0 && &again[0] != &rows[0] {
		t.Errorf("the same list has other rows, %v", err)
	}
}

// clean checks what the rest of plegtop relies on.
func clean(t *testing.T, s pleg.State, times []time.Time, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !utf8.ValidString(text) || len(text) > textLimit {
			t.Errorf("text %q of %d bytes", text, len(text))
		}
	}
	for _, at := range times {
		if !at.IsZero() && at.UnixNano() <= 0 {
			t.Errorf("time = %v", at)
		}
	}
	if s < pleg.Created || s > pleg.Unknown {
		t.Errorf("state = %d", s)
	}
}

// An unchanged list takes no memory: 3,000 containers in another order, with their labels in
// another order.
func TestUnchangedListAllocatesNothing(t *testing.T) {
	l, wires := newLister((*converter).listedContainer), shuffled(t)
	read := func(wire []byte) {
		if rows, err := l.reader(true)(new(converter), wire); err != nil || len(rows) != 3000 {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
	}
	read(wires[0])
	if n := testing.AllocsPerRun(10, func() { read(wires[1]) }); n > 2 {
		t.Errorf("%v allocations", n)
	}
}

// shuffled returns the answer of 3,000 containers in four orders.
func shuffled(t testing.TB) (wires [4][]byte) {
	for i := range wires {
		var list runtimev1.ListContainersResponse
		for _, id := range rand.Perm(3000) {
			c := containerOf(fmt.Sprintf("%064d", id))
			c.Annotations = map[string]string{"io.kubernetes.container.hash": fmt.Sprint(id), "io.kubernetes.container.restartCount": "0", "io.kubernetes.container.terminationMessagePath": "/dev/termination-log"}
			list.Containers = append(list.Containers, c)
		}
		wires[i] = onWire(t, &list)
	}
	return wires
}

// BenchmarkUnchangedList reads 3,000 containers that have not changed, each time in another order.
// "faster" is the ratio to the generated code in the same run.
func BenchmarkUnchangedList(b *testing.B) {
	l, wires := newLister((*converter).listedContainer), shuffled(b)
	read := func(wire []byte) {
		if _, err := l.reader(true)(new(converter), wire); err != nil {
			b.Fatal(err)
		}
	}
	read(wires[0])
	runtime.GC()
	began := time.Now()
	const times = 20
	for i := range times {
		if err := proto.Unmarshal(wires[i%4], new(runtimev1.ListContainersResponse)); err != nil {
			b.Fatal(err)
		}
	}
	decoding := time.Since(began) / times
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		read(wires[i%4])
	}
	b.ReportMetric(float64(decoding)*float64(b.N)/float64(b.Elapsed()), "faster")
}
