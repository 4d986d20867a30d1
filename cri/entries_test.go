package cri

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// An entry is read again only if it has changed, wherever it stands and in whatever order
// its labels are, and what a list does not have any more is forgotten.
func TestOnlyChangedEntriesAreReadAgain(t *testing.T) {
	k := newKnown(readContainer)
	names := func(all ...*runtimev1.Container) (names []string) {
		t.Helper()
		rows, _, err := k.list(onWire(t, &runtimev1.ListContainersResponse{Containers: all}))
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range rows {
			names = append(names, row.ID+" "+row.Name+" "+row.State.String())
			rows[i].Name = "known" // what is read again has its own name
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
	if n := len(k.places); n != 2 {
		t.Errorf("%d entries are remembered, want the 2 of the last list", n)
	}
}
