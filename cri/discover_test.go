package cri

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/plegtop/plegtop/engine/knowledge"
)

const (
	containerd = "/run/containerd/containerd.sock"
	crio       = "/run/crio/crio.sock"
)

type socketsAt = map[string]func(*testing.T, string)
type texts = map[string]string

// ample is for endpoints that answer at once: it only matters on a machine that
// stands still.
const ample = 30 * time.Second

// noEnv has the environment name no endpoint.
func noEnv(t *testing.T) {
	t.Setenv(endpointEnv, "")
	t.Setenv("CRI_CONFIG_FILE", "")
}

func TestDiscoverChooses(t *testing.T) {
	tests := []struct {
		name     string
		node     node
		endpoint string
		env      texts
		timeout  time.Duration
		want     string // path, without the root
		source   string
		silent   string // the reason; empty if it answered
	}{
		{name: "known socket", node: node{sockets: socketsAt{containerd: answers}}, want: containerd, source: "usual socket of containerd"},
		{name: "k3s", node: node{sockets: socketsAt{"/run/k3s/containerd/containerd.sock": answers}},
			want: "/run/k3s/containerd/containerd.sock", source: "usual socket of k3s and RKE2"},
		{name: "flag before all", endpoint: "unix:///run/flag.sock", env: texts{endpointEnv: "/run/env.sock"},
			node: node{sockets: socketsAt{"/run/flag.sock": answers, "/run/env.sock": answers, containerd: answers}},
			want: "/run/flag.sock", source: "--runtime-endpoint"},
		{name: "environment before files", env: texts{endpointEnv: "/run/env.sock"},
			node: node{files: texts{"/etc/crictl.yaml": "runtime-endpoint: /run/x.sock"}, sockets: socketsAt{"/run/env.sock": answers, "/run/x.sock": answers}},
			want: "/run/env.sock", source: endpointEnv},
		{name: "the last of the kubelet's flags", node: node{
			files: texts{
				"/var/lib/kubelet/kubeadm-flags.env": `KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=unix:///run/x.sock"`,
				"/etc/default/kubelet":               `KUBELET_EXTRA_ARGS="--container-runtime-endpoint=unix:///run/y.sock"`,
			},
			sockets: socketsAt{"/run/x.sock": answers, "/run/y.sock": answers},
		}, want: "/run/y.sock", source: "/etc/default/kubelet"},
		{name: "the kubelet before crictl", node: node{
			files: texts{
				"/etc/crictl.yaml":             "timeout: 10\nruntime-endpoint: unix:///run/x.sock\n",
				"/var/lib/kubelet/config.yaml": "containerRuntimeEndpoint: unix:///run/y.sock\n",
			},
			sockets: socketsAt{"/run/x.sock": answers, "/run/y.sock": answers}},
			want: "/run/y.sock", source: "/var/lib/kubelet/config.yaml"},
		{name: "crictl's is left from another runtime", node: node{
			files: texts{
				"/etc/crictl.yaml":             "runtime-endpoint: unix:///run/x.sock\n",
				"/var/lib/kubelet/config.yaml": "containerRuntimeEndpoint: unix:///run/y.sock\n",
			},
			sockets: socketsAt{"/run/x.sock": abandoned, "/run/y.sock": answers}},
			want: "/run/y.sock", source: "/var/lib/kubelet/config.yaml"},
		{name: "crictl's own variable", env: texts{"CRI_CONFIG_FILE": "/opt/crictl.yaml"}, node: node{
			files:   texts{"/etc/crictl.yaml": "runtime-endpoint: /run/x.sock", "/opt/crictl.yaml": "runtime-endpoint: /run/y.sock"},
			sockets: socketsAt{"/run/x.sock": answers, "/run/y.sock": answers}},
			want: "/run/y.sock", source: "/opt/crictl.yaml"},
		{name: "kubelet's flags before its file", node: node{
			files: texts{
				"/var/lib/kubelet/kubeadm-flags.env": `KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=unix:///run/x.sock --node-ip=10.0.0.1"`,
				"/var/lib/kubelet/config.yaml":       "containerRuntimeEndpoint: unix:///run/y.sock\n",
			},
			sockets: socketsAt{"/run/x.sock": answers, "/run/y.sock": answers}},
			want: "/run/x.sock", source: "/var/lib/kubelet/kubeadm-flags.env"},
		{name: "OpenShift's kubelet's file", node: node{
			files:   texts{"/etc/kubernetes/kubelet.conf": "kind: KubeletConfiguration\ncontainerRuntimeEndpoint: /var/run/crio/crio.sock\n"},
			links:   texts{"/var/run": "/run"},
			sockets: socketsAt{crio: answers, containerd: answers}},
			want: crio, source: "/etc/kubernetes/kubelet.conf"},
		{name: "kubeadm's file of that name", node: node{
			files:   texts{"/etc/kubernetes/kubelet.conf": "apiVersion: v1\nkind: Config\nclusters: []\n"},
			sockets: socketsAt{crio: answers}},
			want: crio, source: "usual socket of CRI-O"},
		{name: "a file that names nothing", node: node{
			files:   texts{"/etc/crictl.yaml": "timeout: 2\n", "/var/lib/kubelet/config.yaml": `containerRuntimeEndpoint: ""`},
			sockets: socketsAt{containerd: answers}},
			want: containerd, source: "usual socket of containerd"},
		{name: "one that answers before one that hangs", timeout: time.Second, node: node{
			sockets: socketsAt{containerd: mute, crio: answers}},
			want: crio, source: "usual socket of CRI-O"},
		{name: "the configured one though it hangs", timeout: 20 * time.Millisecond, node: node{
			files:   texts{"/etc/crictl.yaml": "runtime-endpoint: /run/x.sock"},
			sockets: socketsAt{"/run/x.sock": mute, crio: answers}},
			want: "/run/x.sock", source: "/etc/crictl.yaml", silent: "there, but no answer within 20ms"},
		{name: "one that answers behind all sorts", node: node{
			sockets: socketsAt{containerd: onlyGRPC, crio: abandoned, "/run/cri-dockerd.sock": plainFile, "/run/k3s/containerd/containerd.sock": answers}},
			want: "/run/k3s/containerd/containerd.sock", source: "usual socket of k3s and RKE2"},
		{name: "it refuses", node: node{sockets: socketsAt{crio: abandoned}},
			want: crio, source: "usual socket of CRI-O", silent: "connection refused"},
		{name: "it does not answer", timeout: 20 * time.Millisecond, endpoint: "/run/x.sock", node: node{sockets: socketsAt{"/run/x.sock": hangs, containerd: answers}},
			want: "/run/x.sock", source: "--runtime-endpoint", silent: "there, but no answer within 20ms"},
		{name: "it is starting", node: node{sockets: socketsAt{containerd: fails(codes.Unavailable, "server is not initialized yet")}},
			want: containerd, source: "usual socket of containerd", silent: "there, but: server is not initialized yet"},
		{name: "an absolute link on the host", node: node{
			files:   texts{"/etc/crictl.yaml": "runtime-endpoint: unix:///var/run/crio/crio.sock"},
			links:   texts{"/var/run": "/run"},
			sockets: socketsAt{crio: answers}},
			want: crio, source: "/etc/crictl.yaml"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			noEnv(t)
			for name, value := range tt.env {
				t.Setenv(name, value)
			}
			root := tt.node.build(t)
			if tt.timeout == 0 {
				tt.timeout = ample
			}
			got, err := Discover(t.Context(), Search{
				Endpoint: tt.endpoint, HostRoot: root, Timeout: tt.timeout,
			})
			if err != nil {
				t.Fatal(err)
			}
			if got.Endpoint != "unix://"+root+tt.want || got.Source != tt.source {
				t.Errorf("chose %s from %s, want %s from %s", got.Endpoint, got.Source, tt.want, tt.source)
			}
			if answered := got.Outcome == Answers; answered != (tt.silent == "") || !strings.Contains(got.Reason, tt.silent) || answered != (got.Reason == "") {
				t.Errorf("%v, reason %q, want %q", got.Outcome, got.Reason, tt.silent)
			}
		})
	}
}

func TestDiscoverFindsNothing(t *testing.T) {
	tests := []struct {
		name     string
		node     node
		endpoint string
		outcome  Outcome
		line     string
	}{
		{"denied", node{sockets: socketsAt{"/run/x.sock": fails(codes.PermissionDenied, "no")}}, "/run/x.sock", Denied, "it answers, and denies Version: no; the file mode of the socket allows it, so look for what stands in front of the runtime"},
		{"v1alpha2", node{sockets: socketsAt{"/run/x.sock": alphaOnly}}, "/run/x.sock", Outdated, "only v1alpha2; upgrade to containerd 1.6, CRI-O 1.20 or newer"},
		{"TCP", node{}, "tcp://10.0.0.1:1234", Unusable, "tcp://10.0.0.1:1234 (--runtime-endpoint): is a network address"},
		{"a file", node{files: texts{"/etc/passwd": ""}}, "/etc/passwd", Unusable, "/etc/passwd (--runtime-endpoint): is no socket: name the runtime's socket, such as /run/containerd/containerd.sock"},
		{"a folder", node{files: texts{"/var/lib/containerd/x": ""}}, "/var/lib/containerd", Unusable, "is no socket: name the runtime's socket"},
		{"pipe", node{}, "npipe:////./pipe/x", Unusable, "is a network address, or has an unknown scheme"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := tt.node.build(t)
			_, err := Discover(t.Context(), Search{Endpoint: tt.endpoint, HostRoot: root, Timeout: ample})
			e, ok := errors.AsType[*NotFoundError](err)
			if !ok {
				t.Fatalf("error = %v, want a *NotFoundError", err)
			}
			if len(e.Tried) != 1 || e.Tried[0].Outcome != tt.outcome {
				t.Errorf("tried %+v, want one %v", e.Tried, tt.outcome)
			}
			lines := strings.Split(e.Error(), "\n")
			want := strings.ReplaceAll(tt.line, "ROOT", root)
			if len(lines) != 3 || !strings.Contains(lines[1], want) || lines[2] != "try: plegtop --demo" {
				t.Errorf("error text:\n%s\nwant %q in the second of three lines", e, want)
			}
		})
	}
}

// A runtime that was stopped takes its socket with it: where anything shows that one
// belongs there, it is down, whatever is there in its place, and that is no machine
// without one.
func TestDiscoverTakesASocketThatIsGone(t *testing.T) {
	const shims, k3s = "/run/shims.sock", "/run/k3s/containerd/containerd.sock"
	crictl := texts{"/etc/crictl.yaml": "runtime-endpoint: unix:///run/y.sock"}
	state := texts{"/run/containerd/io.containerd.runtime.v2.task/k8s.io/x": ""}
	tests := []struct {
		name     string
		node     node
		endpoint string
		kubelets []string // that its process was told
		running  []string
		want     string // the endpoint; empty for none
		other    string // that answers
	}{
		{name: "by a person", endpoint: "/run/x.sock", want: "/run/x.sock"},
		{name: "below a file", node: node{files: texts{"/run/x": ""}}, endpoint: "/run/x/y.sock", want: "/run/x/y.sock"},
		{name: "a file in its place", node: node{files: texts{containerd: ""}}, endpoint: containerd, want: containerd},
		{name: "a folder in its place", node: node{files: texts{containerd + "/y": ""}}, endpoint: containerd, want: containerd},
		{name: "a file in the place of one that a file of the node names", node: node{files: texts{"/etc/crictl.yaml": "runtime-endpoint: unix:///run/y.sock", "/run/y.sock": ""}}, want: "/run/y.sock"},
		{name: "gRPC, but no CRI", node: node{sockets: socketsAt{"/run/x.sock": onlyGRPC}}, endpoint: "/run/x.sock", want: "/run/x.sock"},
		{name: "HTTP/1", node: node{sockets: socketsAt{"/run/x.sock": http1}}, endpoint: "/run/x.sock", want: "/run/x.sock"},
		{name: "a mail server", node: node{sockets: socketsAt{"/run/x.sock": greets}}, endpoint: "/run/x.sock", want: "/run/x.sock"},
		{name: "HTTP/2", node: node{sockets: socketsAt{"/run/x.sock": http2}}, endpoint: "/run/x.sock", want: "/run/x.sock"},
		{name: "by a file of the node", node: node{files: crictl}, want: "/run/y.sock"},
		{name: "another one answers", node: node{files: crictl, sockets: socketsAt{containerd: answers}}, want: "/run/y.sock", other: containerd},
		{name: "the kubelet's, and another one answers", node: node{files: texts{"/var/lib/kubelet/config.yaml": "containerRuntimeEndpoint: unix:///run/crio/crio.sock"}, sockets: socketsAt{containerd: answers}}, want: crio, other: containerd},
		{name: "the kubelet's by its process, and another one answers", node: node{sockets: socketsAt{containerd: answers}}, kubelets: []string{crio}, want: crio, other: containerd},
		{name: "the kubelet's, and another one answers that crictl's names", node: node{files: texts{"/var/lib/crio/version": "", "/var/lib/kubelet/config.yaml": "containerRuntimeEndpoint: unix:///run/crio/crio.sock", "/etc/crictl.yaml": "runtime-endpoint: " + containerd}, sockets: socketsAt{containerd: answers}}, want: crio, other: containerd},
		{name: "a kubelet's file is left, of a runtime without a trace, and crictl's answers", node: node{files: texts{"/var/lib/kubelet/config.yaml": "containerRuntimeEndpoint: unix:///run/crio/crio.sock", "/etc/crictl.yaml": "runtime-endpoint: " + containerd}, sockets: socketsAt{containerd: answers}}, want: containerd},
		{name: "the kubelet's by its process, and crictl's refuses", node: node{files: crictl, sockets: socketsAt{containerd: answers, "/run/y.sock": abandoned}}, kubelets: []string{containerd}, want: containerd},
		{name: "the kubelet's by its process, and another one answers that crictl's names", node: node{files: crictl, sockets: socketsAt{"/run/y.sock": answers}}, kubelets: []string{crio}, want: crio, other: "/run/y.sock"},
		{name: "crictl's, which is the kubelet's by its process", node: node{files: crictl, sockets: socketsAt{"/run/y.sock": answers, containerd: answers}}, kubelets: []string{"/run/y.sock"}, running: []string{containerd}, want: "/run/y.sock"},
		{name: "a kubelet's file is left from one that was there before", node: node{files: texts{"/var/lib/kubelet/kubeadm-flags.env": "X=--container-runtime-endpoint=unix://" + containerd, "/var/lib/rancher/k3s/agent/etc/crictl.yaml": "runtime-endpoint: unix://" + k3s}, sockets: socketsAt{k3s: answers}}, kubelets: []string{k3s}, want: k3s},
		{name: "a kubelet's file is left, of a runtime that answers", node: node{files: texts{"/var/lib/kubelet/config.yaml": "containerRuntimeEndpoint: unix://" + containerd}, sockets: socketsAt{containerd: answers, k3s: answers}}, kubelets: []string{k3s}, want: k3s},
		{name: "a kubelet's file is left, of a runtime that answers, and the living one's is down", node: node{files: texts{"/var/lib/kubelet/config.yaml": "containerRuntimeEndpoint: unix://" + containerd}, sockets: socketsAt{containerd: answers}}, kubelets: []string{k3s}, want: k3s, other: containerd},
		{name: "a living kubelet was told what its file says", node: node{files: texts{"/var/lib/kubelet/config.yaml": "containerRuntimeEndpoint: unix:///run/y.sock"}, sockets: socketsAt{"/run/y.sock": answers, containerd: answers}}, kubelets: []string{"/run/y.sock"}, running: []string{containerd}, want: "/run/y.sock"},
		{name: "nobody names what answers, beside one that was stopped", node: node{files: texts{"/var/lib/crio/version": ""}, sockets: socketsAt{containerd: answers}}, want: containerd},
		{name: "nobody names what answers", node: node{sockets: socketsAt{containerd: answers}}, want: containerd},
		{name: "not for us, and another one answers", node: node{files: crictl, sockets: socketsAt{"/run/y.sock": fails(codes.PermissionDenied, "no"), containerd: answers}}},
		{name: "too old, and another one answers", node: node{files: crictl, sockets: socketsAt{"/run/y.sock": alphaOnly, containerd: answers}}},
		{name: "another one is not for us", node: node{files: crictl, sockets: socketsAt{containerd: fails(codes.PermissionDenied, "no")}}},
		{name: "by its state", node: node{files: state}, want: containerd},
		{name: "by the state of CRI-O, beside a kubelet", node: node{files: texts{"/var/lib/crio/version": "", "/var/lib/kubelet/config.yaml": ""}}, want: crio},
		{name: "by a kubelet alone", node: node{files: texts{"/var/lib/kubelet/config.yaml": "kind: KubeletConfiguration"}}, want: containerd},
		{name: "by living shims", node: node{files: state}, running: []string{shims}, want: shims},
		{name: "by living shims, though a file names another", node: node{files: crictl}, running: []string{shims}, want: "/run/y.sock"},
		{name: "of living shims, and answers", node: node{files: crictl, sockets: socketsAt{shims: answers}}, running: []string{containerd, shims}, want: shims},
		{name: "a leftover of another program's", node: node{sockets: socketsAt{containerd: onlyGRPC}}},
		{name: "by nobody"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			noEnv(t)
			root := tt.node.build(t)
			running := func(context.Context) (kubelets, others []string) { return tt.kubelets, tt.running }
			got, err := Discover(t.Context(), Search{Endpoint: tt.endpoint, HostRoot: root, Timeout: ample, Running: running})
			if (err == nil) != (tt.want != "") {
				t.Fatalf("found %+v, error %v", got, err)
			}
			if err == nil && (got.Endpoint != "unix://"+root+tt.want || (got.Outcome == Answers) != (tt.node.sockets[tt.want] != nil && got.Reason == "")) {
				t.Errorf("found %+v, want %s", got, tt.want)
			}
			if tt.other != "" && got.Other != "unix://"+root+tt.other || tt.other == "" && got.Other != "" {
				t.Errorf("found %+v, want the other at %s", got, tt.other)
			}
		})
	}
}

// Sockets are asked side by side: each answers only once all have been asked.
func TestDiscoverAsksSideBySide(t *testing.T) {
	paths := map[string]bool{}
	for _, f := range knowledge.Flavours {
		if f.Socket == "" {
			continue
		}
		paths[f.Socket] = true
	}
	var asked sync.WaitGroup
	asked.Add(len(paths))
	together := func(t *testing.T, path string) {
		s := healthy()
		answer, first := s.answers[version], sync.OnceFunc(asked.Done)
		s.answers[version] = func(ctx context.Context, req any) (proto.Message, error) {
			first()
			asked.Wait()
			return answer(ctx, req)
		}
		s.serve(t, path)
	}
	noEnv(t)
	all := socketsAt{}
	for path := range paths {
		all[path] = together
	}
	root := node{sockets: all}.build(t)
	got, err := Discover(t.Context(), Search{HostRoot: root, Timeout: ample})
	if err != nil || got.Endpoint != "unix://"+root+containerd || got.Outcome != Answers {
		t.Errorf("found %+v, %v", got, err)
	}
}

// A socket that hangs holds up nothing that does not depend on it: the time for an answer is longer
// here than the test may take.
func TestDiscoverWaitsForNobodyInVain(t *testing.T) {
	kubelet := texts{"/var/lib/kubelet/config.yaml": "containerRuntimeEndpoint: unix://" + crio}
	crictl := texts{"/etc/crictl.yaml": "runtime-endpoint: unix://" + crio}
	const other = "/run/cri-dockerd.sock"
	for _, tt := range []struct {
		name    string
		node    node
		running []string
		want    string
	}{
		{"the kubelet's answers", node{files: kubelet, sockets: socketsAt{containerd: mute, crio: answers, other: hangs}}, nil, crio},
		{"the kubelet's answers, and a process names one that hangs", node{files: kubelet, sockets: socketsAt{crio: answers, "/run/x.sock": mute}}, []string{"/run/x.sock"}, crio},
		{"crictl's answers", node{files: crictl, sockets: socketsAt{containerd: mute, crio: answers, other: hangs}}, nil, crio},
		{"the first usual one answers", node{sockets: socketsAt{containerd: answers, crio: mute, other: hangs}}, nil, containerd},
		{"the first usual one that is there answers", node{sockets: socketsAt{containerd: onlyGRPC, crio: answers, other: hangs}}, nil, crio},
	} {
		t.Run(tt.name, func(t *testing.T) {
			noEnv(t)
			root := tt.node.build(t)
			running := func(context.Context) (kubelets, others []string) { return nil, tt.running }
			got, err := Discover(within(t, ample), Search{HostRoot: root, Timeout: time.Hour, Running: running})
			if err != nil || got.Endpoint != "unix://"+root+tt.want || got.Outcome != Answers {
				t.Errorf("found %+v, %v; want %s", got, err, tt.want)
			}
		})
	}
}

// What is decided stays so, whatever becomes of the candidates that are awaited.
func TestDecisionsAreFinal(t *testing.T) {
	decidedEarly := 0
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 0))
		all := make([]Candidate, 4)
		for i := range all {
			all[i] = Candidate{claim: claim(r.IntN(4)), Outcome: Silent, awaited: true}
			if r.IntN(2) == 0 {
				all[i].Outcome, all[i].awaited = Outcome(r.IntN(7)), false
			}
		}
		i, decided := choose(all)
		if !decided {
			continue
		}
		for range 50 {
			later := slices.Clone(all)
			for i, c := range all {
				if c.awaited {
					decidedEarly++
					later[i].Outcome, later[i].awaited = Outcome(r.IntN(7)), false
				}
			}
			if n, ok := choose(later); n != i || !ok {
				t.Fatalf("of %+v candidate %d was chosen, of %+v %d, %t", all, i, later, n, ok)
			}
		}
	}
	if decidedEarly == 0 {
		t.Error("nothing was decided early")
	}
}

func TestNotFoundListsEveryCandidate(t *testing.T) {
	noEnv(t)
	n := node{
		files: texts{
			"/etc/crictl.yaml":                      "runtime-endpoint: [",
			"/var/lib/kubelet/kubeadm-flags.env":    "X=--container-runtime-endpoint=tcp://crio",
			"/var/lib/kubelet/instance-config.yaml": "containerRuntimeEndpoint: 7",
		},
		links:   texts{"/etc/default/kubelet": "/etc"},
		sockets: socketsAt{containerd: onlyGRPC},
	}
	root := n.build(t)
	_, err := Discover(t.Context(), Search{HostRoot: root, Timeout: ample})
	if err == nil {
		t.Fatal("no error")
	}
	got := strings.Split(strings.ReplaceAll(err.Error(), root, "ROOT"), "\n")
	want := []string{
		"no container runtime found:",
		"  (/etc/default/kubelet): read ROOT/etc: not a regular file",
		"  tcp://crio (/var/lib/kubelet/kubeadm-flags.env): is a network address",
		"  7 (/var/lib/kubelet/instance-config.yaml): is no absolute path: want unix:///path/to/runtime.sock",
		"  (/etc/crictl.yaml): ", // the YAML package's own words follow
		"  unix://ROOT/run/containerd/containerd.sock (usual socket of containerd): not a CRI v1 server: gRPC",
		"  unix://ROOT/run/crio/crio.sock (usual socket of CRI-O): not there",
		"  unix://ROOT/run/k3s/cri-dockerd/cri-dockerd.sock (usual socket of k3s with Docker): not there",
		"  unix://ROOT/run/cri-dockerd.sock (usual socket of cri-dockerd): not there",
		"  unix://ROOT/run/k3s/containerd/containerd.sock (usual socket of k3s and RKE2): not there",
		"  unix://ROOT/run/k0s/containerd.sock (usual socket of k0s): not there",
		"  unix://ROOT/var/snap/microk8s/common/run/containerd.sock (usual socket of MicroK8s): not there",
		"try: plegtop --demo",
	}
	if len(got) != len(want) {
		t.Fatalf("%d lines, want %d:\n%s", len(got), len(want), err)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("line %d = %q, want %q", i, got[i], want[i])
		}
	}
}

func TestDiscoverStopsWithItsContext(t *testing.T) {
	noEnv(t)
	root := node{sockets: socketsAt{containerd: mute}}.build(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Discover(ctx, Search{HostRoot: root}); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want %v", err, context.Canceled)
	}
}

func TestKubeletFlag(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", ""},
		{`KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=unix:///run/x.sock --node-ip=10.0.0.1"`, "unix:///run/x.sock"},
		{`KUBELET_EXTRA_ARGS=--container-runtime-endpoint=/run/x.sock`, "/run/x.sock"},
		{`KUBELET_EXTRA_ARGS="--v=2 --container-runtime-endpoint /run/x.sock"`, "/run/x.sock"},
		{"A='--container-runtime-endpoint=/run/x.sock'\nB='--container-runtime-endpoint=/run/y.sock'", "/run/y.sock"},
		{"# --container-runtime-endpoint=/run/x.sock\n", ""},
		{"--container-runtime=remote\n--container-runtime-endpoint=${SNAP_COMMON}/run/containerd.sock\n", "/var/snap/microk8s/common/run/containerd.sock"},
		{"--container-runtime-endpoint=$SNAP_DATA/x.sock", "/var/snap/microk8s/current/x.sock"},
		{"--container-runtime-endpoint=${HOME}/x.sock", "${HOME}/x.sock"},
		{"--container-runtime-endpoint", ""},
		{"--container-runtime-endpoints=/run/x.sock", ""},
	}
	for _, tt := range tests {
		got, err := kubeletFlag([]byte(tt.text))
		if got != tt.want || err != nil {
			t.Errorf("kubeletFlag(%q) = %q, %v, want %q", tt.text, got, err, tt.want)
		}
	}
}

func TestYAMLEndpoint(t *testing.T) {
	tests := []struct{ text, want, err string }{
		{"", "", ""},
		{"runtime-endpoint: unix:///run/x.sock\ntimeout: 10", "unix:///run/x.sock", ""},
		{"containerRuntimeEndpoint: /run/x.sock\nother: [x]", "/run/x.sock", ""},
		{"{\n\t\"other\": {\"a\": 1},\n\t\"runtime-endpoint\": \"/run/x.sock\"\n}", "/run/x.sock", ""},
		{"runtime-endpoint:", "", ""},
		{"# nothing\n---\n", "", ""},
		{"other: &x /run/x.sock\nruntime-endpoint: *x", "/run/x.sock", ""},
		{"runtime-endpoint: [/run/x.sock]", "", "cannot unmarshal"},
		{"runtime-endpoint: /run/x.sock\nruntime-endpoint: /run/y.sock", "", "already defined"},
		{"[1, 2]", "", "cannot unmarshal"},
		{"{", "", "yaml"},
	}
	for _, tt := range tests {
		got, err := yamlEndpoint([]byte(tt.text))
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("yamlEndpoint(%q) = %q, %v, want %q, %q", tt.text, got, err, tt.want, tt.err)
		}
	}
}

func TestOnHost(t *testing.T) {
	tests := []struct{ root, path, want string }{
		{"", "/run/x.sock", "/run/x.sock"},
		{"/", "/run/x.sock", "/run/x.sock"},
		{"/nowhere", "/run/x.sock", "/nowhere/run/x.sock"},
		{"/nowhere/", "/run/x.sock", "/nowhere/run/x.sock"},
		{"/nowhere", "/nowhere/run/x.sock", "/nowhere/run/x.sock"},
		{"/nowhere", "/nowhereelse/x.sock", "/nowhere/nowhereelse/x.sock"},
	}
	for _, tt := range tests {
		if got := (Search{HostRoot: tt.root}).onHost(tt.path); got != tt.want {
			t.Errorf("%q onHost(%q) = %q, want %q", tt.root, tt.path, got, tt.want)
		}
	}
}

func TestSocketPath(t *testing.T) {
	tests := []struct{ endpoint, want, err string }{
		{"unix:///run/x.sock", "/run/x.sock", ""},
		{"unix:/run/x.sock", "/run/x.sock", ""},
		{"UNIX:///run/x.sock", "/run/x.sock", ""},
		{"/run/x.sock", "/run/x.sock", ""},
		{"/run//a/../x.sock", "/run/x.sock", ""},
		{"/run/with:colon.sock", "/run/with:colon.sock", ""},
		{"", "", "is no absolute path"},
		{"unix://", "", "is no absolute path"},
		{"run/x.sock", "", "is no absolute path"},
		{"unix://run/x.sock", "", "is no absolute path"},
		{"npipe:////./pipe/containerd", "", "unknown scheme"},
		{"tcp://127.0.0.1:2375", "", "network address"},
		{"http://localhost/", "", "network address"},
		{"vsock://3:1024", "", "unknown scheme"},
		{"localhost:1234", "", "is no absolute path"},
		{"/" + strings.Repeat("a", 107), "", "108 bytes long"},
		{"/" + strings.Repeat("a", 106), "/" + strings.Repeat("a", 106), ""},
	}
	for _, tt := range tests {
		got, err := socketPath(tt.endpoint)
		if got != tt.want {
			t.Errorf("socketPath(%q) = %q, want %q", tt.endpoint, got, tt.want)
		}
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("socketPath(%q) error = %v, want %q in it", tt.endpoint, err, tt.err)
		}
	}
}
