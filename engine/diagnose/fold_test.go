package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plegtop/plegtop/engine/call"
)

func TestOwnerName(t *testing.T) {
	for pod, want := range map[string]string{
		"api-7d9f8b6c5d-x2x4z":          "api",
		"node-exporter-x2x4z":           "node-exporter",
		"kafka-0":                       "kafka",
		"kafka-12":                      "kafka",
		"backup-28123456-x2x4z":         "backup",
		"migrate-3-x2x4z":               "migrate",
		"pod-00001":                     "pod-00001",
		"kube-apiserver-master.example": "kube-apiserver-master.example",
		"web-frontend":                  "web-frontend",
		"x":                             "x",
		"":                              "",
		"-x2x4z":                        "-x2x4z",
		"ip-10-0-0-1":                   "ip-10-0-0",
		"aerospike-7d9f8b6c5d-a1e2i":    "aerospike-7d9f8b6c5d-a1e2i",
		"a-2025":                        "a",
	} {
		if got := ownerName(pod); got != want {
			t.Errorf("ownerName(%q) = %q, want %q", pod, got, want)
		}
	}
}

// deployed returns a node with that many pods of one deployment that crash, each
// with one of some exit codes.
func deployed(pods int, codes ...int32) *node {
	n := checked(pods)
	for i := range pods {
		n.crashes(i, fmt.Sprintf("api-7d9f8b6c5d-%s", hash(i)), 6, codes[i%len(codes)])
		n.pod(i).Namespace = "shop"
	}
	return n
}

// hash returns the i-th of the hashes that end a pod's name.
func hash(i int) string {
	h := make([]byte, 5)
	for j := range h {
		h[j] = hashLetters[i%len(hashLetters)]
		i /= len(hashLetters)
	}
	return string(h)
}

func TestPodsOfOneDeploymentAreOneFinding(t *testing.T) {
	found := deployed(40, 1).diagnose()
	wantIDs(t, found, CrashLoop)
	f := found[0]
	if want := "40 pods of shop/api (api-7d9f8b6c5d-bbbbb, api-7d9f8b6c5d-fbbbb ...): app died up to 7 times, last with exit code 1"; f.Summary != want {
		t.Errorf("summary %q, want %q", f.Summary, want)
	}
	if f.Count != 40 || len(f.Members) != 40 || f.Subject != f.Members[0] {
		t.Errorf("%d members of %d", len(f.Members), f.Count)
	}
	if found := deployed(40, 1, 2, 137).diagnose(); len(found) != 1 || !strings.HasSuffix(found[0].Summary, "last with exit code 1 or exit code 2 or exit code 137") {
		t.Errorf("findings of one deployment whose pods end in several ways:\n%s", gist(found))
	}
	if found := deployed(200, 1).diagnose(); len(found) != 1 || found[0].Count != 200 || len(found[0].Members) != membersMost {
		t.Errorf("%d findings", len(found))
	}
}

func TestPodsThatFailAlikeAreOneFinding(t *testing.T) {
	n := healthy(40)
	for i := range 4 {
		n.podFails(i*3, "app", call.ErrOther, "broken", 7)
		n.pod(i * 3).Failure.Pod.Name = "api-7d9f8b6c5d-" + hash(i)
	}
	found := n.diagnose()
	if len(found) != 1 || found[0].Summary != "ContainerStatus fails for 4 pods of ns-0/api (api-7d9f8b6c5d-bbbbb, api-7d9f8b6c5d-cbbbb ...): Unknown: broken" {
		t.Errorf("found %q\n%s", found[0].Summary, gist(found))
	}
}

func TestObjectsOfOneDeploymentThatHangAreOneFinding(t *testing.T) {
	n := checked(40)
	for i := range 12 {
		n.sweepHung(i*3, "app")
		n.Sweep.Hung[i].Pod.Name = "api-7d9f8b6c5d-" + hash(i)
	}
	found := n.diagnose()
	if len(found) != 1 || found[0].Count != 12 || found[0].Severity != Critical || !strings.HasPrefix(found[0].Summary, "ContainerStatus of 12 pods of ns-0/api (api-7d9f8b6c5d-bbbbb, api-7d9f8b6c5d-cbbbb ...): no answer") {
		t.Errorf("found %q\n%s", found[0].Summary, gist(found))
	}
}

func TestOnlyIn(t *testing.T) {
	n := checked(40).condition("NetworkReady")
	for i := range 20 {
		n.sweepHung(i, "app")
	}
	n.crashes(21, "api", 6, 1).crashes(22, "web", 6, 1)
	all := n.diagnose()
	if got := onlyIn(all, nil); len(got) != len(all) {
		t.Errorf("%d of %d without a namespace", len(got), len(all))
	}
	got := onlyIn(all, []string{"ns-1"})
	for _, f := range got {
		text := f.Summary + strings.Join(f.Evidence, "\n")
		if strings.Contains(text, "ns-0/") || strings.Contains(text, "ns-2/") || !f.In([]string{"ns-1"}) {
			t.Errorf("%s: %s", f.ID, text)
		}
	}
	want := "critical inspect-hung ContainerStatus ns-1/pod-00001/app\ncritical inspect-hung ContainerStatus ns-1/pod-00004/app\ncritical inspect-hung\ncritical network-not-ready Status\nwarning crash-loop ns-1/web/app\n"
	if gist(got) != want {
		t.Errorf("in ns-1:\n%s", gist(got))
	}
	if i := slices.IndexFunc(got, func(f Finding) bool { return f.Count > 0 && f.ID == InspectHung }); len(got[i].Members) != 5 || got[i].Count != 15 {
		t.Errorf("the rest: %+v", got[i])
	}
	if got := gist(onlyIn(all, []string{"elsewhere"})); got != "critical network-not-ready Status\n" {
		t.Errorf("elsewhere:\n%s", got)
	}
}

// If a finding names only the first of many pods, some may be in a namespace of which it names none.
func TestAFindingOfManyStaysInEachNamespace(t *testing.T) {
	n := healthy(300)
	for i := range n.Pods {
		n.podFails(i, "app", call.ErrOther, "broken", 5)
	}
	all := find(&inspectFailing, n.facts())
	if len(all) != 1 || all[0].Count != 300 {
		t.Fatalf("%s", gist(all))
	}
	for _, namespace := range []string{"ns-0", "ns-1", "ns-2"} {
		if got := onlyIn(all, []string{namespace}); len(got) != 1 {
			t.Errorf("in %s: %s", namespace, gist(got))
		}
	}
}

// Pods of many owners that crash alike have one trouble, whoever owns them. Those that crash in another way have their
// own. Once the trouble is shown, it stays one while owners recover.
func TestContainersThatCrashAlikeAreOneFinding(t *testing.T) {
	crashing := func(alike int) *node {
		n := checked(100)
		for i := range alike {
			n.crashes(i, fmt.Sprintf("app%d", i), 6, 1)
		}
		return n.crashes(99, "web", 6, 137)
	}
	found := crashing(90).diagnose()
	wantIDs(t, found, CrashLoop, CrashLoop)
	if f := found[0]; f.Summary != "90 containers of 90 pods died again and again alike, last with exit code 1" || f.Count != 90 || len(f.Members) != membersMost {
		t.Errorf("%s, %d members of %d", f.Summary, len(f.Members), f.Count)
	}
	if found := crashing(crashMost).diagnose(); len(found) != crashMost+1 {
		t.Errorf("%d owners whose pods crash alike: %d findings\n%s", crashMost, len(found), gist(found))
	}
	var told Steady
	f := crashing(90).facts()
	told.update(f, f.diagnose())
	in := crashing(3).input()
	later := *in.Snapshot
	later.At = later.At.Add(beginAfter)
	told.update(f, f.diagnose())
	for i := range told.now {
		told.now[i].begun = true
	}
	if found := new(kept).read(&later, "", &told).diagnose(); len(found) != 2 || found[0].Count != 3 {
		t.Errorf("of 90 that crashed alike 3 are left:\n%s", gist(found))
	}
}
