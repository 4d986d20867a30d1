package cri

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/call"
)

func TestRaw(t *testing.T) {
	const hostile = "\x1b]52;c;x\x07 \u009b31m \u202e \x7f \U000E0041 <&> \"q\" größer"
	s := healthy()
	container := goodContainerStatus()
	container.State = runtimev1.ContainerState_CONTAINER_CREATED
	container.Message = hostile
	s.answers[runtimev1.RuntimeService_ContainerStatus_FullMethodName] = reply(&runtimev1.ContainerStatusResponse{Status: container})
	c, ctx := start(t, s), within(t, testLimit)

	text, err := c.Raw(ctx, call.ContainerStatus, "container-1")
	if err != nil {
		t.Fatal(err)
	}
	if i := bytes.IndexFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); i >= 0 {
		t.Errorf("raw holds an unprintable rune at %d: %q", i, text)
	}
	var back struct {
		Status struct{ Message, State string }
	}
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if back.Status.Message != hostile || back.Status.State != "CONTAINER_CREATED" {
		t.Errorf("raw decodes to %+v", back)
	}
	if !strings.HasPrefix(string(text), "{\n  \"status\": {\n    \"id\": \"container-1\",\n") || !strings.Contains(string(text), "größer") {
		t.Errorf("raw is not indented, or escapes what prints:\n%s", text)
	}
}

func TestRawRefusesOtherOperations(t *testing.T) {
	s := healthy()
	if _, err := start(t, s).Raw(within(t, testLimit), call.ListContainers, ""); err == nil {
		t.Error("Raw(ListContainers) did not fail")
	}
	if methods, _ := s.seen(); len(methods) != 0 {
		t.Errorf("it called %v", methods)
	}
}

func TestRawFails(t *testing.T) {
	s := healthy()
	delete(s.answers, runtimev1.RuntimeService_PodSandboxStatus_FullMethodName)
	_, err := start(t, s).Raw(within(t, testLimit), call.PodSandboxStatus, "x")
	if call.Code(err) != "Unimplemented" {
		t.Errorf("error = %v, want Unimplemented", err)
	}
}
