package cri

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

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
func (s *shelf) list(t *testing.T, words ...string) ([]pleg.ListedSandbox, []pleg.ListedContainer, error) {
	t.Helper()
	s.sandboxes, s.containers = nil, nil
	for _, word := range words {
		s.sandboxes = append(s.sandboxes, sandboxOf(word))
		s.containers = append(s.containers, containerOf(word))
	}
	sandboxes, err := s.ListPodSandbox(within(t, testLimit), "")
	containers, err2 := s.ListContainers(within(t, testLimit), "")
	return sandboxes, containers, errors.Join(err, err2)
}

// A word is the id, and beside it what there is to the entry.

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
	case "strange":
		wired(s, strange(3))
	}
	return s
}

func containerOf(word string) *runtimev1.Container {
	c := goodContainer()
	c.Id, _, _ = strings.Cut(word, " ")
	switch _, more, _ := strings.Cut(word, " "); more {
	case "ended":
		c.State = runtimev1.ContainerState_CONTAINER_EXITED
	case "odd":
		c.State = 99
	case "left out":
		delete(c.Labels, uidLabel)
	case "strange":
		wired(c, strange(6))
	}
	return c
}

// strange is a number field as a text, which protobuf passes over.
func strange(num byte) []byte { return []byte{num<<3 | 2, 1, 'x'} }

// A list has the rows that were returned last where nothing has changed, and else, in the
// runtime's order, those that the generated code makes of it. Rows once returned stay.
func TestUnchangedListIsTheOneBefore(t *testing.T) {
	s := newShelf(t)
	var sandboxes []pleg.ListedSandbox
	var containers []pleg.ListedContainer
	var stay []func()
	for i, step := range []struct {
		same bool
		list string
	}{
		{false, "a, b, c"},
		{true, "a, b, c"},
		{true, "c, a, b"},
		{false, "c, a ended, b"}, // changed
		{true, "b, c, a ended"},
		{false, "b, d, c, a ended"}, // came
		{true, "a ended, b, d, c"},
		{false, "c, d, b"},    // went
		{false, "c, e, b"},    // went and came
		{false, "c, e, b, c"}, // stands twice
		{false, "c, e, b, c"},
		{false, "c, e, c"}, // stands twice, instead of another
		{false, "c, e, b"},
		{true, "b, c, e"},
		{false, "b, e ended, e, c"}, // stands twice, once changed
		{false, "e, c, b"},
		{false, "b, c odd, e"},
		{false, "e, c odd, b"},
		{false, "e, x left out, b"},
		{false, "b, x left out, e"},
		{true, "e, b"}, // what was left out is gone
		{false, "e, x strange, b"},
		{true, "b, x strange, e"},
		{false, "b"},
		{true, "b"},
		{false, ""},
		{false, "b"},
		{true, "b"},
	} {
		name := fmt.Sprintf("list %d: %s", i, step.list)
		words := strings.Split(step.list, ", ")
		if step.list == "" {
			words = nil
		}
		ss, cs, err := s.list(t, words...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		wantS, _ := sandboxRows(s.sandboxes...)
		wantC, _ := containerRows(s.containers...)
		wantList(t, name, step.same, sandboxes, ss, wantS)
		wantList(t, name, step.same, containers, cs, wantC)
		sandboxes, containers = ss, cs
		stay = append(stay, stays(t, name, ss), stays(t, name, cs))
	}
	for _, check := range stay {
		check()
	}
}

func wantList[T any](t *testing.T, name string, same bool, before, got, want []T) {
	t.Helper()
	if sameRows(before, got) != same {
		t.Errorf("%s: the same %T: %t, want %t", name, got, !same, same)
	}
	if cap(got) != len(got) {
		t.Errorf("%s: an append writes behind the %d rows", name, len(got))
	}
	if same {
		want = before
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: want -, got +:\n%s", name, diff)
	}
}

func sameRows[T any](a, b []T) bool { return len(a) > 0 && len(a) == len(b) && &a[0] == &b[0] }

// stays returns what checks that the rows are as they are now.
func stays[T any](t *testing.T, name string, rows []T) func() {
	were := slices.Clone(rows)
	return func() {
		t.Helper()
		if diff := cmp.Diff(were, rows); diff != "" {
			t.Errorf("%s: rows changed since, from -, to +:\n%s", name, diff)
		}
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

func onWire(t testing.TB, m proto.Message) []byte {
	t.Helper()
	wire, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return wire
}

// Many lists at once, of which some have changed, have the right rows each.
func TestManyListsAtOnce(t *testing.T) {
	k := newKnown(readContainer)
	ids := strings.Split(strings.Repeat("x", 40), "")
	for i := range ids {
		ids[i] += fmt.Sprint(i)
	}
	var lists sync.WaitGroup
	for range 4 {
		lists.Go(func() {
			for range 200 {
				words := slices.Clone(ids)
				rand.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
				if rand.IntN(2) == 0 {
					words[0] += " ended"
				}
				rows, _, err := k.list(wireOf(t, words...))
				got := make([]string, len(rows))
				for i, row := range rows {
					got[i] = strings.TrimSuffix(row.ID+" "+strings.Replace(row.State.String(), "exited", "ended", 1), " running")
				}
				slices.Sort(words)
				slices.Sort(got)
				if diff := cmp.Diff(words, got); diff != "" || err != nil {
					t.Errorf("%v, want -, got +:\n%s", err, diff)
				}
			}
		})
	}
	lists.Wait()
}

// A list that is unchanged costs no memory for its rows.
func TestUnchangedListMakesNoRows(t *testing.T) {
	k := newKnown(readContainer)
	words := make([]string, 1000)
	for i := range words {
		words[i] = fmt.Sprint(i)
	}
	once := func(wire []byte) {
		rows, _, err := k.list(wire)
		if err != nil || len(rows) != len(words) {
			t.Fatalf("%d rows, error = %v", len(rows), err)
		}
	}
	once(wireOf(t, words...))
	slices.Reverse(words)
	wire := wireOf(t, words...)
	once(wire)
	if used, most := allocated(func() { once(wire) }), uint64(16*len(words)); used > most {
		t.Errorf("it took %d bytes, want %d at most", used, most)
	}
}
