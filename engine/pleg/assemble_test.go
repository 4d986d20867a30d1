package pleg

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestAssemble(t *testing.T) {
	ref := func(uid UID) PodRef { return PodRef{UID: uid, Namespace: "ns", Name: string(uid)} }
	sandbox := func(uid UID, id string, age int) ListedSandbox {
		return ListedSandbox{ref(uid), Sandbox{ID: id, CreatedAt: epoch.Add(-time.Duration(age) * time.Second)}}
	}
	container := func(uid UID, id string) ListedContainer {
		return ListedContainer{ref(uid), Container{ID: id}}
	}
	type want struct {
		uid                   UID
		sandboxes, containers string
	}
	tests := []struct {
		name       string
		sandboxes  []ListedSandbox
		containers []ListedContainer
		want       []want
		anomalies  Anomalies
	}{
		{name: "nothing"},
		{
			name:       "grouped, in the order of the lists",
			sandboxes:  []ListedSandbox{sandbox("a", "s2", 1), sandbox("b", "s3", 2), sandbox("a", "s1", 1)},
			containers: []ListedContainer{container("b", "c3"), container("a", "c2"), container("b", "c1")},
			want:       []want{{"a", "s2 s1", "c2"}, {"b", "s3", "c3 c1"}},
		},
		{
			name:      "newest first, by the last sandbox",
			sandboxes: []ListedSandbox{sandbox("old", "s1", 1), sandbox("new", "s2", 2), sandbox("old", "s3", 3)},
			want:      []want{{"new", "s2", ""}, {"old", "s1 s3", ""}},
		},
		{
			name:      "of one age as listed",
			sandboxes: []ListedSandbox{sandbox("c", "s1", 1), sandbox("a", "s2", 1), sandbox("b", "s3", 1)},
			want:      []want{{"c", "s1", ""}, {"a", "s2", ""}, {"b", "s3", ""}},
		},
		{
			name:       "containers without a sandbox come last",
			sandboxes:  []ListedSandbox{sandbox("a", "s1", 9)},
			containers: []ListedContainer{container("x", "c1"), container("a", "c2"), container("x", "c3")},
			want:       []want{{"a", "s1", "c2"}, {"x", "", "c1 c3"}},
			anomalies:  Anomalies{NoSandbox: 2},
		},
		{
			name:       "ids twice",
			sandboxes:  []ListedSandbox{sandbox("a", "s1", 1), sandbox("a", "s1", 1), sandbox("b", "s1", 2)},
			containers: []ListedContainer{container("a", "c1"), container("a", "c1"), container("a", "c1"), container("b", "s1")},
			want:       []want{{"a", "s1 s1", "c1 c1 c1"}, {"b", "s1", "s1"}},
			anomalies:  Anomalies{DuplicateID: 3},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pods, anomalies := Assemble(tt.sandboxes, tt.containers, epoch)
			var got []want
			for _, p := range pods {
				w := want{uid: p.UID}
				for i, s := range p.Sandboxes {
					w.sandboxes += " "[:min(i, 1)] + s.ID
				}
				for i, c := range p.Containers {
					w.containers += " "[:min(i, 1)] + c.ID
				}
				got = append(got, w)
				if p.PodRef != ref(p.UID) || !p.ListedAt.Equal(epoch) {
					t.Errorf("pod = %+v, want %v listed at %v", p, ref(p.UID), epoch)
				}
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("pods (-want +got):\n%s", diff)
			}
			if anomalies != tt.anomalies {
				t.Errorf("anomalies = %+v, want %+v", anomalies, tt.anomalies)
			}
		})
	}
}

func TestAssembleAllocatesLittle(t *testing.T) {
	sandboxes, containers := lines(manyPods(1000, 3, func(int) bool { return false }))
	if got := testing.AllocsPerRun(5, func() { Assemble(sandboxes, containers, epoch) }); got > 50 {
		t.Errorf("%v allocations for 1000 pods, want a few", got)
	}
}

func TestCompose(t *testing.T) {
	ref := PodRef{UID: "a", Namespace: "ns", Name: "pod"}
	at := func(n int) time.Time { return epoch.Add(time.Duration(n) * time.Second) }
	tests := []struct {
		name       string
		sandboxes  []SandboxStatus
		containers []ContainerStatus
		want       PodStatus
	}{
		{"nothing", nil, nil, PodStatus{PodRef: ref}},
		{
			"newest first, those of one age as given",
			[]SandboxStatus{{ID: "s1", CreatedAt: at(1)}, {ID: "s2", CreatedAt: at(2)}},
			[]ContainerStatus{{ID: "c1", CreatedAt: at(1)}, {ID: "c3", CreatedAt: at(2)}, {ID: "c2", CreatedAt: at(2)}, {ID: "c0"}},
			PodStatus{
				PodRef:     ref,
				Sandboxes:  []SandboxStatus{{ID: "s2", CreatedAt: at(2)}, {ID: "s1", CreatedAt: at(1)}},
				Containers: []ContainerStatus{{ID: "c3", CreatedAt: at(2)}, {ID: "c2", CreatedAt: at(2)}, {ID: "c1", CreatedAt: at(1)}, {ID: "c0"}},
			},
		},
		{
			"addresses of the newest sandbox",
			[]SandboxStatus{{ID: "s1", State: Running, CreatedAt: at(1), IPs: []string{"1"}}, {ID: "s2", State: Running, CreatedAt: at(2), IPs: []string{"2", "3"}}},
			nil,
			PodStatus{
				PodRef: ref, IPs: []string{"2", "3"},
				Sandboxes: []SandboxStatus{{ID: "s2", State: Running, CreatedAt: at(2), IPs: []string{"2", "3"}}, {ID: "s1", State: Running, CreatedAt: at(1), IPs: []string{"1"}}},
			},
		},
		{
			"none if the newest is not ready",
			[]SandboxStatus{{ID: "s1", State: Running, CreatedAt: at(1), IPs: []string{"1"}}, {ID: "s2", State: Exited, CreatedAt: at(2), IPs: []string{"2"}}},
			nil,
			PodStatus{
				PodRef:    ref,
				Sandboxes: []SandboxStatus{{ID: "s2", State: Exited, CreatedAt: at(2), IPs: []string{"2"}}, {ID: "s1", State: Running, CreatedAt: at(1), IPs: []string{"1"}}},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Compose(ref, tt.sandboxes, tt.containers)
			if diff := cmp.Diff(&tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}

// An Assembler gives what Assemble gives, and its last result but one still holds.
func TestAssemblerUsesItsMemoryAgain(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	var a Assembler
	var before []Pod
	var beforeWant []Pod
	for n := range 200 {
		var sandboxes []ListedSandbox
		var containers []ListedContainer
		for i := range chance.IntN(1 + chance.IntN(300)) {
			pod := PodRef{UID: UID(fmt.Sprint("uid-", chance.IntN(40)))}
			if chance.IntN(3) == 0 {
				sandboxes = append(sandboxes, ListedSandbox{Pod: pod, Sandbox: Sandbox{ID: fmt.Sprint(n, "-", i), CreatedAt: time.Unix(chance.Int64N(99), 0)}})
			} else {
				containers = append(containers, ListedContainer{Pod: pod, Container: Container{ID: fmt.Sprint(n, "-", i%50)}})
			}
		}
		at := time.Unix(int64(n), 0)
		want, wantFound := Assemble(sandboxes, containers, at)
		got, found := a.Assemble(sandboxes, containers, at)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || found != wantFound {
			t.Fatalf("list %d: found %+v, want %+v, pods (-want +got):\n%s", n, found, wantFound, diff)
		}
		if diff := cmp.Diff(beforeWant, before, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("list %d has changed the one before:\n%s", n, diff)
		}
		before, beforeWant = got, want
	}
}
