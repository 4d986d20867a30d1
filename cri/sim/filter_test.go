package sim

import (
	"maps"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// shelf is a world with three pods, whose ids a test can foresee.
func shelf() *world {
	w := newWorld(1, epoch)
	defer func() { // what they were called at first
		maps.DeleteFunc(w.sandboxOf, func(id string, s *sandbox) bool { return id != s.status.Id })
		maps.DeleteFunc(w.containerOf, func(id string, c *container) bool { return id != c.status.Id })
	}()
	for i, name := range []string{"one", "two", "three"} {
		p := w.newPod(podSpec{namespace: "ns", name: name, labels: map[string]string{"tier": name[:1]}, manual: true})
		p.uid = "uid-" + name
		s := w.newSandbox(p, 0, epoch)
		s.status.Id = strings.Repeat("a", i+1) + "b" + name // ab..., aab..., aaab...
		w.sandboxOf[s.status.Id] = s
		s.become(s.status)
		c := w.newContainer(p, &containerSpec{name: "app"}, epoch)
		c.status.Id = strings.Repeat("c", i+1) + "d" + name
		w.containerOf[c.status.Id] = c
		c.become(c.status)
		if i > 0 {
			w.run(c, epoch)
		}
		if i == 2 {
			w.stopSandbox(s)
			w.end(c, exit{}, epoch)
		}
	}
	return w
}

func TestSandboxFilter(t *testing.T) {
	state := func(s cri.PodSandboxState) *cri.PodSandboxStateValue { return &cri.PodSandboxStateValue{State: s} }
	tests := []struct {
		name   string
		filter *cri.PodSandboxFilter
		want   string
	}{
		{"none", nil, "one two three"},
		{"empty", &cri.PodSandboxFilter{}, "one two three"},
		{"full id", &cri.PodSandboxFilter{Id: "aabtwo"}, "two"},
		{"prefix of one", &cri.PodSandboxFilter{Id: "aab"}, "two"},
		{"prefix of several: all of them", &cri.PodSandboxFilter{Id: "aa"}, "two three"},
		{"no such id", &cri.PodSandboxFilter{Id: "f"}, ""},
		{"ready", &cri.PodSandboxFilter{State: state(cri.PodSandboxState_SANDBOX_READY)}, "one two"},
		{"not ready", &cri.PodSandboxFilter{State: state(cri.PodSandboxState_SANDBOX_NOTREADY)}, "three"},
		{"label", &cri.PodSandboxFilter{LabelSelector: map[string]string{labelPodUID: "uid-two"}}, "two"},
		{"two labels", &cri.PodSandboxFilter{LabelSelector: map[string]string{labelPodNamespace: "ns", "tier": "t"}}, "two three"},
		{"labels that exclude each other", &cri.PodSandboxFilter{LabelSelector: map[string]string{labelPodName: "one", "tier": "t"}}, ""},
		{"a label that nobody has", &cri.PodSandboxFilter{LabelSelector: map[string]string{"no": ""}}, ""},
		{"all three", &cri.PodSandboxFilter{
			Id: "a", State: state(cri.PodSandboxState_SANDBOX_READY), LabelSelector: map[string]string{"tier": "t"}}, "two"},
	}
	for _, tt := range tests {
		var got []string
		for _, s := range shelf().matchingSandboxes(tt.filter) {
			got = append(got, s.pod.spec.name)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, got, tt.want)
		}
	}
}

func TestContainerFilter(t *testing.T) {
	state := func(s cri.ContainerState) *cri.ContainerStateValue { return &cri.ContainerStateValue{State: s} }
	tests := []struct {
		name   string
		filter *cri.ContainerFilter
		want   string
	}{
		{"none", nil, "one two three"},
		{"full id", &cri.ContainerFilter{Id: "ccdtwo"}, "two"},
		{"prefix of one", &cri.ContainerFilter{Id: "ccd"}, "two"},
		{"prefix of several: none of them", &cri.ContainerFilter{Id: "cc"}, ""},
		{"sandbox", &cri.ContainerFilter{PodSandboxId: "abone"}, "one"},
		{"prefix of a sandbox", &cri.ContainerFilter{PodSandboxId: "aaab"}, "three"},
		{"prefix of several sandboxes", &cri.ContainerFilter{PodSandboxId: "a"}, ""},
		{"created", &cri.ContainerFilter{State: state(cri.ContainerState_CONTAINER_CREATED)}, "one"},
		{"running", &cri.ContainerFilter{State: state(cri.ContainerState_CONTAINER_RUNNING)}, "two"},
		{"exited", &cri.ContainerFilter{State: state(cri.ContainerState_CONTAINER_EXITED)}, "three"},
		{"label", &cri.ContainerFilter{LabelSelector: map[string]string{labelContainerName: "app", labelPodName: "two"}}, "two"},
		{"a pod's label is not its container's", &cri.ContainerFilter{LabelSelector: map[string]string{"tier": "t"}}, ""},
	}
	for _, tt := range tests {
		var got []string
		for _, c := range shelf().matchingContainers(tt.filter) {
			got = append(got, c.pod.spec.name)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, got, tt.want)
		}
	}
}

func TestStatusByPrefix(t *testing.T) {
	s, c := start(t, "empty")
	s.edit(func() { s.scene.world = shelf() })
	tests := []struct {
		id   string
		code codes.Code
		text string
	}{
		{"ccdtwo", codes.OK, ""},
		{"ccd", codes.OK, ""},
		{"cc", codes.Unknown, `an error occurred when try to find container "cc": multiple IDs found with provided prefix: cc`},
		{"ffff", codes.NotFound, `an error occurred when try to find container "ffff": not found`},
		{"", codes.Unknown, `an error occurred when try to find container "": Prefix can't be empty`},
	}
	for _, tt := range tests {
		answer, err := c.ContainerStatus(t.Context(), &cri.ContainerStatusRequest{ContainerId: tt.id})
		sn := status.Convert(err)
		if sn.Code() != tt.code || sn.Message() != tt.text {
			t.Errorf("%q: %v", tt.id, err)
		}
		if err == nil && answer.Status.Id != "ccdtwo" {
			t.Errorf("%q: container %s, want ccdtwo", tt.id, answer.Status.Id)
		}
	}
	_, err := c.PodSandboxStatus(t.Context(), &cri.PodSandboxStatusRequest{PodSandboxId: "ffff"})
	if want := "an error occurred when try to find sandbox: not found"; status.Convert(err).Message() != want {
		t.Errorf("sandbox: %v, want %s", err, want)
	}
}
