package diagnose

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/pleg"
)

// The table keeps what its head says, and each row has a link to a thread.
func TestKnownBugsAreWhole(t *testing.T) {
	bugs := knowledge.Bugs()
	thread := regexp.MustCompile(`^https://github\.com/([\w-]+)/([\w-]+)/(issues|pull)/(\d+)$`)
	seen := make(map[string]bool)
	for _, b := range bugs {
		link := thread.FindStringSubmatch(b.Source)
		if link == nil || b.ID != link[2]+"#"+link[4] || seen[b.ID] {
			t.Errorf("%s: link %q", b.ID, b.Source)
		}
		seen[b.ID] = true
		if !slices.Contains([]string{"containerd", "cri-o", anyWord}, b.Runtime) || b.What == "" || b.Fixed == "" || strings.HasSuffix(b.What, ".") {
			t.Errorf("%+v lacks something", b)
		}
		for _, r := range b.Versions {
			if _, err := inRange(version{1, 2, 3}, r); err != nil {
				t.Errorf("%s: %v", b.ID, err)
			}
		}
		s := b.Signature
		if len(b.Versions) == 0 || s.Stacks == nil && s.Helpers == nil && s.Kernel == nil {
			t.Errorf("%s: nothing tells it: %+v", b.ID, b)
		}
		for _, method := range s.Calls {
			if !slices.ContainsFunc(call.Operations(), func(op call.Operation) bool { return op.String() == method }) {
				t.Errorf("%s: no call %q", b.ID, method)
			}
		}
		for _, verb := range slices.Concat(s.Helpers, s.Without.Helpers) {
			if (evidence.Process{Verb: verb}).HelperLimit() == 0 {
				t.Errorf("%s: no helper is late by the verb %q", b.ID, verb)
			}
		}
	}
}

func TestVersions(t *testing.T) {
	for s, want := range map[string]version{"v2.1.4": {2, 1, 4}, "1.33.2-5.rhaos4.20": {1, 33, 2}, "2.4.0-beta.0": {2, 4, 0}, "1.7.24~ds1": {1, 7, 24}} {
		if got, err := parseVersion(s); err != nil || got != want {
			t.Errorf("%q: %v %v", s, got, err)
		}
	}
	for _, s := range []string{"", "v", "1.2", "dev", "1.x.3", "v1.2.x"} {
		if got, err := parseVersion(s); err == nil {
			t.Errorf("%q is %v", s, got)
		}
	}
	for _, tt := range []struct {
		r    string
		want bool
	}{{"any", true}, {">=1.7.0 <1.7.16", true}, {"<1.7.3", false}, {">=1.7.3", true}, {">=1.7.4", false}, {">=1.6.0 <1.7.0", false}, {"", false}} {
		if got, err := inRange(version{1, 7, 3}, tt.r); err != nil || got != tt.want {
			t.Errorf("%q: %v %v", tt.r, got, err)
		}
	}
	for _, r := range []string{"1.7.3", "=1.7.3", "<=1.7", ">=x"} {
		if _, err := inRange(version{1, 7, 3}, r); err == nil {
			t.Errorf("%q is a range", r)
		}
	}
}

// runtime makes the node one with this runtime.
func (s sick) runtime(name, version string) sick {
	s.Version = pleg.Version{RuntimeName: name, RuntimeVersion: version, APIVersion: "v1"}
	return s
}

// stack adds a group to the runtime's dump: what it waits in and its functions, the innermost first.
func (s sick) stack(state string, frames ...string) sick {
	s.r.Deep.Stacks.Groups = append(s.r.Deep.Stacks.Groups, evidence.Group{Count: 1, State: state, First: 100 + len(s.r.Deep.Stacks.Groups), Frames: frames})
	return s
}

// shimIn puts the shim of the second pod into the kernel.
func (s sick) shimIn(functions ...string) sick {
	shim := shimOf(s.r, 1)
	shim.State, shim.For, shim.Stack = evidence.Uninterrupted, time.Minute, functions
	return s
}

const (
	ttrpcCall = "github.com/containerd/ttrpc.(*Client).dispatch"
	criServer = "github.com/containerd/containerd/v2/internal/cri/server.(*criService)."
	nriLocal  = "github.com/containerd/containerd/v2/internal/nri.(*local)."
	nriPlugin = "github.com/containerd/nri/pkg/adaptation.(*Adaptation)."
	goCNI     = "github.com/containerd/go-cni.(*libcni)."
	crioOCI   = "github.com/cri-o/cri-o/internal/oci."
	crio      = "github.com/cri-o/cri-o/server."
	mutex     = "sync.Mutex.Lock"
	rlock     = "sync.RWMutex.RLock"
)

// frozen makes runc wait with a process that its control group froze.
func frozen(p *evidence.Process) {
	p.State, p.For, p.Stack = evidence.Uninterrupted, time.Minute, []string{"__refrigerator", "unix_stream_data_wait", "unix_stream_read_generic"}
}

// Each signature is matched by what was seen of its bug, and by nothing else.
func TestKnownBugs(t *testing.T) {
	held := func() sick { return listHangs().and(func(s sick) { s.sweepHung(1, "app") }) }
	stopping := func(version string) sick {
		return allAnswers().helper("kill", "container-1-0").runtime("cri-o", version)
	}
	seen := map[string]sick{
		"containerd#9770":  held().shimIn("wb_wait_for_completion", "sync_filesystem", "generic_shutdown_super", "cleanup_mnt"),
		"containerd#12680": held().helper("update", "container-1-0"),
		"containerd#10583": held().stack("select", ttrpcCall, criServer+"updateContainerResources", "github.com/containerd/containerd/v2/internal/cri/store/container.(*statusStorage).UpdateSync", criServer+"UpdateContainerResources"),
		"containerd#13733": held().runtime("containerd", "v1.7.31").
			stack(mutex, nriLocal+"updateFromPlugin", nriPlugin+"updateContainers", "main.main").
			stack(mutex, nriPlugin+"StateChange", nriPlugin+"PostUpdateContainer", nriLocal+"PostUpdateContainer", criServer+"UpdateContainerResources"),
		"containerd#10085": held().runtime("containerd", "v1.7.13").
			stack(mutex, nriLocal+"syncPlugin", nriPlugin+"acceptPluginConnections.func1", "github.com/containerd/nri/pkg/adaptation.(*Adaptation).acceptPluginConnections").
			stack(mutex, nriPlugin+"StateChange", nriLocal+"StartContainer", criServer+"StartContainer"),
		"containerd#14083": held().runtime("containerd", "2.2.1").
			stack(rlock, nriPlugin+"BlockPluginSync", nriLocal+"BlockPluginSync", criServer+"StartContainer").
			stack("select", criServer+"waitContainerStop", criServer+"stopContainer", criServer+"StopContainer"),
		"go-cni#126": held().runtime("containerd", "v2.0.2").
			stack(rlock, goCNI+"createResult", goCNI+"Setup", criServer+"setupPodNetwork"),
		"containerd#4666": func() sick {
			s := allAnswers().helper("CNI DEL", "sandbox-1", byRuntime("calico", "api-0"))
			s.node.fail(call.Status, call.ErrDeadline, tooLate, 1)
			return s
		}(),
		"containerd#8167": allAnswers().and(func(s sick) { s.sweepHung(1, "") }).stack("select", ttrpcCall, criServer+"PodSandboxStatus"),
		"cri-o#9406":      stopping("1.29.13").stack(mutex, crioOCI+"(*runtimeOCI).UpdateContainerStatus", "github.com/cri-o/cri-o/internal/lib.(*ContainerServer).ContainerStateToDisk", crio+"(*Server).stopContainer"),
		"cri-o#9256":      stopping("1.33.2").stack("chan send", crioOCI+"(*Container).WaitOnStopTimeout", crioOCI+"(*runtimeOCI).StopContainer"),
		"cri-o#8030": stopping("1.29.1").
			stack("select", crioOCI+"(*Container).WaitOnStopTimeout", crioOCI+"(*runtimeOCI).StopContainer").
			stack(rlock, crioOCI+"(*Container).State", crioOCI+"(*Container).ShouldBeStopped", crioOCI+"(*runtimeOCI).StopContainer"),
		"cri-o#9188":  stopping("1.31.9").stack(rlock, crioOCI+"(*Container).State", "github.com/cri-o/cri-o/internal/lib/sandbox.(*Sandbox).Ready", crio+"(*Server).ListPodSandbox"),
		"cri-o#10352": stopping("1.36.3").stack(rlock, crioOCI+"(*Container).State", crio+"(*criContainer).GetStatus", "github.com/cri-o/cri-o/internal/nri.(*local).StopContainer", crio+"(*Server).stopContainer"),
		"runc#4481":   allAnswers().helper("create", "new", frozen).runtime("containerd", "1.7.20"),
	}
	for _, b := range knowledge.Bugs() {
		s, made := seen[b.ID]
		if !made {
			t.Errorf("%s: nothing shows it", b.ID)
			continue
		}
		found, _ := s.diagnose()
		if got, want := looks(found), []string{b.ID}; !slices.Equal(got, want) {
			t.Errorf("%s: it looks like %v\n%+v", b.ID, got, found)
		}
		s.Version = pleg.Version{RuntimeName: "another", RuntimeVersion: "9.9.9", APIVersion: "v1"}
		if found, _ := s.diagnose(); b.Runtime != anyWord && len(looks(found)) > 0 {
			t.Errorf("%s: another runtime has it", b.ID)
		}
	}
	if len(seen) != len(knowledge.Bugs()) {
		t.Errorf("%d are shown of %d", len(seen), len(knowledge.Bugs()))
	}
}

// If a bug explains why something hangs, it counts alone: a network plugin that waits for its lock is a symptom of two
// bugs.
func TestABugThatExplainsAnotherCountsAlone(t *testing.T) {
	s := allAnswers().runtime("containerd", "v2.0.2").helper("CNI DEL", "sandbox-1", byRuntime("calico", "api-0")).
		stack(rlock, goCNI+"createResult", goCNI+"Setup", criServer+"setupPodNetwork")
	s.node.fail(call.Status, call.ErrDeadline, tooLate, 1)
	found, _ := s.diagnose()
	if got, want := looks(found), []string{"go-cni#126"}; !slices.Equal(got, want) {
		t.Errorf("looks like %v, want %v", got, want)
	}
}

// looks returns the ids of the known bugs that findings are said to look like.
func looks(findings []Finding) (ids []string) {
	for _, f := range findings {
		for _, line := range f.Evidence {
			if rest, ok := strings.CutPrefix(line, "looks like "); ok {
				id, _, _ := strings.Cut(rest, ":")
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// A bug that was fixed in an earlier version is not shown, and no bug is shown if nothing hangs. A bug that is shown is
// evidence and no finding.
func TestKnownBugsAreEvidence(t *testing.T) {
	stacks := func(version string) sick {
		return listHangs().runtime("containerd", version).
			stack(mutex, nriLocal+"syncPlugin", nriPlugin+"acceptPluginConnections").
			stack(mutex, nriPlugin+"StateChange", nriLocal+"StartContainer", criServer+"StartContainer")
	}
	before, _ := stacks("1.7.16").diagnose()
	after, _ := stacks("1.7.15").diagnose()
	if looks(before) != nil || len(looks(after)) != 1 || len(after) != len(before) || len(after[0].Evidence) != len(before[0].Evidence)+1 {
		t.Errorf("fixed: %v, not fixed: %v", looks(before), looks(after))
	}
	s := allAnswers().runtime("containerd", "1.7.15")
	s.r.Deep.Stacks = stacks("").r.Deep.Stacks
	if found, _ := s.diagnose(); found != nil {
		t.Errorf("nothing hangs, and found %v", found)
	}
	firstSays(t, after, "looks like containerd#10085: an NRI plugin that registers and a call of the CRI take the same two locks in opposite order; fixed in 1.7.16, with NRI 0.6.1: https://github.com/containerd/containerd/issues/10085")
}

// Lines about members stay the last lines, because they are removed together with the members.
func TestKnownBugBeforeMembers(t *testing.T) {
	s := allAnswers()
	for i := range 3 {
		s.sweepHung(i, "")
		s.Sweep.Hung[i].Pod.Namespace, s.Sweep.Hung[i].Pod.Name = "shop", "api-7d9f8b6c5d-"+[]string{"bcx4z", "cdx4z", "dfx4z"}[i]
	}
	s = s.runtime("containerd", "2.2.1").stack(rlock, nriPlugin+"BlockPluginSync").stack("select", criServer+"waitContainerStop", criServer+"StopContainer")
	found, _ := s.diagnose()
	f := found[0]
	if len(f.Members) != 3 || looks(found) == nil {
		t.Fatalf("%+v", f)
	}
	for i, m := range f.Members {
		if line := f.Evidence[len(f.Evidence)-len(f.Members)+i]; !strings.Contains(line, m.Pod.Name) {
			t.Errorf("%q is not of %v", line, m)
		}
	}
}

// A helper that holds up a status call counts before it is late; a helper that holds up nothing does not.
func TestKnownBugOfAYoungHelper(t *testing.T) {
	young := func(p *evidence.Process) { p.Age = 2 * time.Second }
	for id, want := range map[string][]string{"container-1-0": {"containerd#12680"}, "container-2-0": nil} {
		s := listHangs().and(func(s sick) { s.sweepHung(1, "app").Sweep.Hung[0].Since = ago(2500 * time.Millisecond) }).helper("update", id, young, func(p *evidence.Process) { p.Parent = 0 })
		if found, _ := s.diagnose(); !slices.Equal(looks(found), want) {
			t.Errorf("runc update of %s: looks like %v, want %v", id, looks(found), want)
		}
	}
}
