package diagnose

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// If few containers have exited, the steps and the owners are about those that run.
func TestListTooBigOfRunningContainers(t *testing.T) {
	n := checked(60)
	n.calls(call.ListContainers).LastResponseBytes = 15 << 20
	found := n.diagnose()
	if len(found) == 0 || found[0].ID != ListTooBig {
		t.Fatalf("found %s", gist(found))
	}
	said := strings.Join(found[0].Evidence, "\n")
	for _, s := range found[0].Next {
		said += "\n" + s.Text + s.Command
	}
	if !strings.Contains(said, "containers by pod: ns-0/pod-00000 2") || strings.Contains(said, "exited containers by pod") || strings.Contains(said, "crictl rm") {
		t.Error(said)
	}
}

// A list of sandboxes is made shorter by steps about sandboxes.
func TestListTooBigOfSandboxes(t *testing.T) {
	n := checked(60)
	n.calls(call.ListPodSandbox).LastResponseBytes = 15 << 20
	found := n.diagnose()
	if len(found) == 0 || found[0].ID != ListTooBig {
		t.Fatalf("found %s", gist(found))
	}
	for _, s := range found[0].Next {
		if strings.Contains(s.Command, "crictl") && !strings.Contains(s.Command, "pods") {
			t.Errorf("step %+v", s)
		}
	}
}

// From 1.36 on a kubelet may list by streams, and these have no limit. plegtop does not see whether the kubelet does
// that, and says so.
func TestListTooBigNamesTheGate(t *testing.T) {
	for release, want := range map[pleg.Release]bool{35: false, 36: true} {
		n := checked(60)
		n.Release = release
		n.calls(call.ListContainers).LastResponseBytes = 15 << 20
		if said := strings.Join(n.diagnose()[0].Evidence, "\n"); strings.Contains(said, "CRIListStreaming") != want {
			t.Errorf("%v: %s", release, said)
		}
	}
}

// If a list fails, plegtop lists only some pods one by one. The summary says who owns the containers of those pods, and
// for how many pods that is known. The step is about all ended pods there, because five of thousands are no help.
func TestListTooBigNamesTheCauseByASample(t *testing.T) {
	n := checked(60).fail(call.ListContainers, call.ErrTooLarge, overTheTop, 1)
	for i, p := range n.Pods {
		switch p.Old.Containers = nil; {
		case i < 10:
			p.Old.Containers = []pleg.Container{{ID: "c", Name: "app", State: pleg.Running, SandboxID: p.Old.Sandboxes[0].ID}}
		case i < 20:
			p.Old.Containers = []pleg.Container{{ID: "c", Name: "job", State: pleg.Exited, SandboxID: p.Old.Sandboxes[0].ID}}
			fallthrough
		default:
			p.Namespace, p.Name = "batch", fmt.Sprintf("import-293800%d-bl9zr", i)
			p.Old.PodRef = p.PodRef
		}
	}
	n.Partial = "20 of 60 pods"
	f := n.diagnose()[0]
	if want := ": 10 of 10 exited containers are of batch/import in 20 of 60 pods"; f.ID != ListTooBig || !strings.HasSuffix(f.Summary, want) {
		t.Errorf("%q, want %q", f.Summary, want)
	}
	if act, want := f.act(), "for p in $(crictl pods -q --state NotReady --namespace=^batch$); do for c in $(crictl ps -a -q --state Exited --pod \"$p\"); do crictl rm \"$c\"; done; done"; !strings.HasPrefix(act.Command, want) {
		t.Errorf("%q, want %q", act.Command, want)
	}
}

// The summary names the owner that is the cause, and a step removes its pods by what is known: nobody has to fill in
// anything.
func TestListTooBigNamesTheCause(t *testing.T) {
	dead := func(names ...string) *node {
		n := checked(60).fail(call.ListContainers, call.ErrTooLarge, overTheTop, 1)
		for i, name := range names {
			p := n.Pods[i]
			p.Namespace, p.Name = "batch", name
			p.Old.PodRef = p.PodRef
			for range 100 {
				p.Old.Containers = append(p.Old.Containers, pleg.Container{ID: "c", Name: "job", State: pleg.Exited, SandboxID: p.Old.Sandboxes[0].ID})
			}
		}
		if len(names) > 1 {
			p := n.Pods[len(names)]
			p.Namespace, p.Name = "batch", names[0][:len(names[0])-5]+"zzzzz"
			p.Old.PodRef, p.Old.Containers[0].State = p.PodRef, pleg.Exited
		}
		n.Partial = "60 of 60 pods"
		return n
	}
	const over = "ListContainers answers with 19.2 MiB, and the kubelet takes at most 16.0 MiB"
	for _, tt := range []struct {
		name      string
		node      *node
		says, act string
	}{
		{"one owner", dead("import-84tsd", "import-bl9zr"), ": 201 of 201 exited containers are of batch/import", "for p in import-84tsd import-bl9zr import-zzzzz; do for c in $(crictl ps -a -q --state Exited --label io.kubernetes.pod.name=\"$p\" --label io.kubernetes.pod.namespace=batch); do crictl rm \"$c\"; done; done"},
		{"most of one", dead("import-84tsd", "import-bl9zr", "export-bl9zr"), ": 201 of 301 exited containers are of batch/import", "for p in import-84tsd import-bl9zr import-zzzzz; do for c in $(crictl"},
		{"several", dead("import-84tsd", "report-84tsd", "export-bl9zr"), ": 101 of 301 exited containers are of batch/import", "for p in import-84tsd import-zzzzz; do for c in $(crictl"},
		{"nobody knows", dead().noList(), "", ""},
	} {
		f := tt.node.diagnose()[0]
		if act := f.act(); f.Summary != over+tt.says || !strings.HasPrefix(act.Command, tt.act) || tt.act == "" && act.Command != "" {
			t.Errorf("%s: %q with %q, want %q and %q", tt.name, f.Summary, act, tt.says, tt.act)
		}
	}
}
