package pleg

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// rows makes the rows of two lists of texts such as "uid/c1"; ids that begin with s are sandboxes.
func rows(texts ...string) (sandboxes []*ListedSandbox, containers []*ListedContainer) {
	for _, text := range texts {
		uid, id, _ := strings.Cut(text, "/")
		ref := PodRef{UID: UID(uid), Namespace: "ns", Name: uid}
		if strings.HasPrefix(id, "s") {
			sandboxes = append(sandboxes, &ListedSandbox{ref, Sandbox{ID: id}})
		} else {
			containers = append(containers, &ListedContainer{ref, Container{ID: id}})
		}
	}
	return sandboxes, containers
}

// podsText writes pods as "uid: s1 c1".
func podsText(pods []*Pod) []string {
	var all []string
	for _, p := range pods {
		text := string(p.UID) + ":"
		for _, s := range p.Sandboxes {
			text += " " + s.ID
		}
		for _, c := range p.Containers {
			text += " " + c.ID
		}
		all = append(all, text)
	}
	return all
}

func TestAssemble(t *testing.T) {
	tests := []struct {
		name      string
		rows      []string
		want      []string
		anomalies Anomalies
	}{
		{name: "nothing"},
		{
			name: "grouped, in the order of the lists",
			rows: []string{"a/s2", "b/s3", "a/s1", "b/c3", "a/c2", "b/c1"},
			want: []string{"a: s2 s1 c2", "b: s3 c3 c1"},
		},
		{
			name:      "containers without a sandbox make a pod",
			rows:      []string{"a/s1", "x/c1", "a/c2", "x/c3"},
			want:      []string{"a: s1 c2", "x: c1 c3"},
			anomalies: Anomalies{NoSandbox: 2},
		},
		{
			name:      "ids twice",
			rows:      []string{"a/s1", "a/s1", "b/s1", "a/c1", "a/c1", "a/c1", "b/c1"},
			want:      []string{"a: s1 s1 c1 c1 c1", "b: s1 c1"},
			anomalies: Anomalies{DuplicateID: 3},
		},
	}
	for _, tt := range tests {
		pods, anomalies := Assemble(rows(tt.rows...))
		if got := podsText(pods); !slices.Equal(got, tt.want) || anomalies != tt.anomalies {
			t.Errorf("%s: %q, %+v, want %q, %+v", tt.name, got, anomalies, tt.want, tt.anomalies)
		}
		for _, p := range pods {
			if p.Name != string(p.UID) || p.Namespace != "ns" {
				t.Errorf("%s: pod %+v has lost its name", tt.name, p.PodRef)
			}
		}
	}
}

// What did not change is the same pointer, whatever the order: of a row as of a pod as of a list.
func TestAssemblerKeepsWhatDidNotChange(t *testing.T) {
	sandboxes, containers := rows("a/s1", "a/c1", "a/c2", "b/s1", "b/c1", "z/c1", "z/c2")
	var a Assembler
	last, _ := a.Assemble(sandboxes, containers)
	newS, newC := rows("a/s2", "a/c2", "b/c1", "new/c1")
	for _, step := range []struct {
		name   string
		change func()
		want   []string // the pods, in order; those that are not the one before with a star
	}{
		{"nothing changed", func() {}, []string{"a: s1 c1 c2", "b: s1 c1", "z: c1 c2"}},
		{"another order", func() { slices.Reverse(sandboxes); slices.Reverse(containers) }, []string{"a: s1 c1 c2", "b: s1 c1", "z: c1 c2"}},
		{"equal rows at another address", func() { containers[3], containers[2] = newC[0], newC[1] }, []string{"a: s1 c1 c2", "b: s1 c1", "z: c1 c2"}},
		{"a row came", func() { sandboxes = append(sandboxes, newS[0]) }, []string{"*a: s1 s2 c2 c1", "b: s1 c1", "z: c1 c2"}},
		{"a row went", func() { containers = containers[1:] }, []string{"a: s1 s2 c2 c1", "b: s1 c1", "*z: c1"}},
		{"a row twice instead of two", func() { containers[3] = containers[2] }, []string{"*a: s1 s2 c2 c2", "b: s1 c1", "z: c1"}},
		{"a pod went and one came", func() { containers[0] = newC[2] }, []string{"a: s1 s2 c2 c2", "b: s1 c1", "*new: c1"}},
	} {
		step.change()
		was := slices.Clone(last)
		pods, _ := a.Assemble(slices.Clone(sandboxes), slices.Clone(containers))
		got := podsText(pods)
		for i, p := range pods {
			if !slices.Contains(last, p) {
				got[i] = "*" + got[i]
			}
		}
		if !slices.Equal(got, step.want) {
			t.Errorf("%s: %q, want %q", step.name, got, step.want)
		}
		if same := &pods[0] == &last[0]; same == strings.Contains(strings.Join(step.want, ""), "*") || !slices.Equal(last, was) {
			t.Errorf("%s: the list is the one before: %v", step.name, same)
		}
		last = pods
	}
}

// A pod with very many rows, in another order each time, takes no quadratic search.
func TestAssemblerTakesManyRows(t *testing.T) {
	var all []string
	for i := range 20000 {
		all = append(all, fmt.Sprint("a/c", i))
	}
	sandboxes, containers := rows(all...)
	var a Assembler
	first, _ := a.Assemble(sandboxes, containers)
	for range 20 {
		shuffle(rand.New(rand.NewPCG(1, 2)), containers)
		if pods, _ := a.Assemble(sandboxes, containers); pods[0] != first[0] {
			t.Fatal("the pod is another in another order")
		}
	}
	containers[7] = containers[8]
	if pods, _ := a.Assemble(sandboxes, containers); pods[0] == first[0] {
		t.Error("a row has gone, and the pod is the same")
	}
}

// After a restore a pod keeps its pointer and its order, though the rows are other pointers in
// another order.
func TestAssemblerRestoresPods(t *testing.T) {
	ref := PodRef{UID: "a", Name: "a"}
	row := func(id string, s State) *ListedContainer {
		return &ListedContainer{Pod: ref, Container: Container{ID: id, Name: id, State: s}}
	}
	pods, _ := Assemble(nil, []*ListedContainer{row("1", Running), row("2", Running)})
	var a Assembler
	a.Restore(pods)
	listed := []*ListedContainer{row("2", Running), row("1", Running)}
	_, _ = a.Assemble(nil, []*ListedContainer{row("2", Running), row("1", Running)}) // which the checkpoint had
	again, _ := a.Assemble(nil, listed)
	same, _ := a.Assemble(nil, listed)
	if again[0] != pods[0] || same[0] != pods[0] || &same[0] != &again[0] {
		t.Errorf("%v, then %v, want %v", again[0], same[0], pods[0])
	}
	a = Assembler{}
	a.Restore(pods)
	for name, rows := range map[string][]*ListedContainer{
		"another state": {row("2", Running), row("1", Exited)}, "another container": {row("1", Running), row("3", Running)}, "one less": {row("1", Running)},
	} {
		a = Assembler{}
		a.Restore(pods)
		if other, _ := a.Assemble(nil, rows); len(other) != 1 || other[0] == pods[0] {
			t.Errorf("%s: %v", name, other)
		}
	}
	a = Assembler{}
	a.Restore(pods)
	if gone, _ := a.Assemble(nil, nil); len(gone) != 0 {
		t.Errorf("gone: %v", gone)
	}
}
