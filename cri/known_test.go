package cri

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/pleg"
)

// An entry is read again only if it has changed, wherever it stands and in whatever order
// its labels are, and what a list does not have any more is forgotten.
func TestOnlyChangedEntriesAreReadAgain(t *testing.T) {
	var kept knownBy[pleg.ListedContainer]
	names := func(all ...*runtimev1.Container) (names []string) {
		t.Helper()
		wire, err := proto.Marshal(&runtimev1.ListContainersResponse{Containers: all})
		if err != nil {
			t.Fatal(err)
		}
		l := containerList{list[pleg.ListedContainer]{known: kept.take()}}
		if err := l.decode(inPieces(wire)); err != nil {
			t.Fatal(err)
		}
		for _, row := range l.rows {
			names = append(names, row.ID+" "+row.Name+" "+row.State.String())
		}
		kept.give(l.known, l.rows)
		for i := range l.rows {
			l.rows[i].Name = "known" // what is read again has its own name
		}
		return names
	}
	container := func(id string, state runtimev1.ContainerState) *runtimev1.Container {
		c := goodContainer()
		c.Id, c.State, c.Labels[containerLabel] = id, state, "read"
		for i := range 8 {
			c.Labels[string(rune('a'+i))] = id
		}
		return c
	}
	const running, exited = runtimev1.ContainerState_CONTAINER_RUNNING, runtimev1.ContainerState_CONTAINER_EXITED
	a, b := container("a", running), container("b", running)
	ended := container("a", exited)
	odd := container("odd", 99)
	for _, step := range []struct {
		list []*runtimev1.Container
		want []string
	}{
		{[]*runtimev1.Container{a, b}, []string{"a read running", "b read running"}},
		{[]*runtimev1.Container{b, a}, []string{"a known running", "b known running"}},
		{[]*runtimev1.Container{b, ended}, []string{"b known running", "a read exited"}},
		{[]*runtimev1.Container{ended, odd}, []string{"a known exited", "odd read unknown"}},
		{[]*runtimev1.Container{odd, ended}, []string{"odd read unknown", "a known exited"}},
		{[]*runtimev1.Container{ended}, []string{"a known exited"}},
		{[]*runtimev1.Container{ended, b}, []string{"a known exited", "b read running"}},
	} {
		if diff := cmp.Diff(step.want, names(step.list...)); diff != "" {
			t.Errorf("want -, got +:\n%s", diff)
		}
	}
	k := kept.take()
	if n := len(k.rows); n != 2 {
		t.Errorf("%d entries are remembered, want the 2 of the last list", n)
	}
	kept.give(k, nil)
	if n := len(kept.take().rows); n != 0 {
		t.Errorf("%d entries are remembered after a list that failed, want none", n)
	}
}

// The collector passes over what is known of each entry, of which there may be tens of thousands.
func TestKnownHoldsNoPointers(t *testing.T) {
	held := reflect.VisibleFields(reflect.TypeFor[knownRow]())
	at, _ := reflect.TypeFor[known[int]]().FieldByName("at")
	held = append(held, reflect.StructField{Name: "a key", Type: at.Type.Key()}, reflect.StructField{Name: "an element", Type: at.Type.Elem()})
	for _, f := range held {
		if k := f.Type.Kind(); k < reflect.Bool || k > reflect.Float64 {
			t.Errorf("%s is a %v", f.Name, f.Type)
		}
	}
}
