package cri

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
)

const (
	listSandboxes  = runtimev1.RuntimeService_ListPodSandbox_FullMethodName
	listContainers = runtimev1.RuntimeService_ListContainers_FullMethodName
)

// modern returns a stub that has the streaming forms of the lists, too.
func modern() *stub {
	s := healthy()
	s.streams = map[string]streamAnswer{
		runtimev1.RuntimeService_StreamPodSandboxes_FullMethodName: chunks(&runtimev1.StreamPodSandboxesResponse{PodSandboxes: []*runtimev1.PodSandbox{goodSandbox()}}),
		runtimev1.RuntimeService_StreamContainers_FullMethodName:   chunks(&runtimev1.StreamContainersResponse{Containers: []*runtimev1.Container{goodContainer()}}),
	}
	return s
}

// tooLong is a list of containers that is over the limit of a message.
func tooLong() proto.Message {
	c := goodContainer()
	c.Annotations = map[string]string{"large": strings.Repeat("x", messageLimit)}
	return &runtimev1.ListContainersResponse{Containers: []*runtimev1.Container{c}}
}

// A list is what the kubelet's call brings, whatever the streaming form of it would.
func TestListsAreTheKubelets(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answer answer
		within time.Duration
		want   error
	}{
		"hangs":       {hang, time.Second, call.ErrDeadline},
		"over 16 MiB": {reply(tooLong()), testLimit, call.ErrTooLarge},
		"as it is":    {reply(&runtimev1.ListContainersResponse{}), testLimit, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := modern()
			s.answers[listContainers] = tt.answer
			rows, err := start(t, s).ListContainers(within(t, tt.within), "")
			if !errors.Is(err, tt.want) || rows != nil {
				t.Errorf("%d rows, error = %v, want %v", len(rows), err, tt.want)
			}
			if methods, _ := s.seen(); !slices.Equal(methods, []string{listContainers}) {
				t.Errorf("called %v", methods)
			}
		})
	}
}

// A list that no kubelet takes is critical, though the runtime would stream it.
func TestListTooLongForTheKubeletIsCritical(t *testing.T) {
	s := modern()
	s.answers[listContainers] = reply(tooLong())
	seen, err := engine.Examine(t.Context(), engine.Config{Runtime: start(t, s)}, engine.Examination{})
	if err != nil {
		t.Fatal(err)
	}
	found := diagnose.Once(seen, "").Findings
	if len(found) == 0 || found[0].ID != diagnose.ListTooBig || found[0].Severity != diagnose.Critical {
		t.Errorf("found %+v", found)
	}
}
