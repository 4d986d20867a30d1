package cri

import (
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/pleg"
)

// FuzzConvert feeds the conversions what no runtime sends: texts that are not
// UTF-8, states and times out of range, and parts that are missing. Nothing may
// panic, every line must be kept or counted, and what is kept must be clean.
func FuzzConvert(f *testing.F) {
	f.Add("id", "uid", "name", "10.0.0.1", int32(1), int64(1), uint8(0), []byte(nil))
	f.Add("", "", "\xff", "\x1b", int32(-1), int64(-1), uint8(0xFF), []byte("\n\x00"))
	f.Add("id", "\xc3\x28", "", "::1", int32(99), int64(0), uint8(0x55), []byte("\n\x04\n\x02id"))
	f.Fuzz(func(t *testing.T, id, uid, name, ip string, state int32, at int64, missing uint8, wire []byte) {
		checkLists(t,
			sandboxesFrom(id, uid, name, state, at, missing, wire),
			containersFrom(id, uid, name, state, at, missing, wire))
		s, _ := convertSandboxStatus(sandboxStatusFrom(id, uid, name, ip, state, at, missing))
		checkTexts(t, s.ID, s.Pod.Name, s.Pod.Namespace, string(s.Pod.UID))
		checkTexts(t, s.IPs...)
		checkState(t, s.State)
		checkTime(t, s.CreatedAt)
		c, _ := convertContainerStatus(containerStatusFrom(id, name, ip, state, at, missing))
		checkTexts(t, c.ID, c.Name, c.Image, c.Reason, c.Message)
		checkState(t, c.State)
		checkTime(t, c.CreatedAt, c.StartedAt, c.FinishedAt)
	})
}

func checkLists(t *testing.T, sandboxes []*runtimev1.PodSandbox, containers []*runtimev1.Container) {
	t.Helper()
	var s sandboxList
	for _, one := range sandboxes {
		s.add(one)
	}
	var c containerList
	for _, one := range containers {
		c.add(one)
	}
	if n := len(s.rows) + leftOut(s.Anomalies); n != len(sandboxes) {
		t.Errorf("%d sandboxes kept or counted, want %d", n, len(sandboxes))
	}
	if n := len(c.rows) + leftOut(c.Anomalies); n != len(containers) {
		t.Errorf("%d containers kept or counted, want %d", n, len(containers))
	}
	for _, row := range s.rows {
		checkTexts(t, row.ID, row.Pod.Name, row.Pod.Namespace, string(row.Pod.UID))
		checkState(t, row.State)
		checkTime(t, row.CreatedAt)
	}
	for _, row := range c.rows {
		checkTexts(t, row.ID, row.Name, row.Image, row.Pod.Name, row.Pod.Namespace, string(row.Pod.UID))
		checkState(t, row.State)
		checkTime(t, row.CreatedAt)
	}
}

func leftOut(a pleg.Anomalies) int { return a.NoMetadata + a.NoID + a.NoImage + a.NoPodUID }

func checkTexts(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !utf8.ValidString(text) {
			t.Errorf("text %q is not UTF-8", text)
		}
	}
}

func checkState(t *testing.T, s pleg.State) {
	t.Helper()
	if s < pleg.Created || s > pleg.Unknown {
		t.Errorf("state = %d", s)
	}
}

func checkTime(t *testing.T, times ...time.Time) {
	t.Helper()
	for _, at := range times {
		if !at.IsZero() && at.UnixNano() <= 0 {
			t.Errorf("time = %v", at)
		}
	}
}

// Each bit of missing takes one part away. What wire decodes to comes last.

func sandboxesFrom(id, uid, name string, state int32, at int64, missing uint8, wire []byte) []*runtimev1.PodSandbox {
	s := &runtimev1.PodSandbox{Id: id, State: runtimev1.PodSandboxState(state), CreatedAt: at}
	if missing&1 == 0 {
		s.Metadata = &runtimev1.PodSandboxMetadata{Uid: uid, Name: name, Namespace: name}
	}
	all := []*runtimev1.PodSandbox{s, nil}
	var decoded runtimev1.ListPodSandboxResponse
	if proto.Unmarshal(wire, &decoded) == nil {
		all = append(all, decoded.Items...)
	}
	return all
}

func containersFrom(id, uid, name string, state int32, at int64, missing uint8, wire []byte) []*runtimev1.Container {
	c := &runtimev1.Container{Id: id, State: runtimev1.ContainerState(state), CreatedAt: at}
	if missing&1 == 0 {
		c.Metadata = &runtimev1.ContainerMetadata{Name: name}
	}
	if missing&2 == 0 {
		c.Image = &runtimev1.ImageSpec{Image: name}
	}
	if missing&4 == 0 {
		c.Labels = map[string]string{uidLabel: uid, nameLabel: name}
	}
	all := []*runtimev1.Container{nil, c}
	var decoded runtimev1.ListContainersResponse
	if proto.Unmarshal(wire, &decoded) == nil {
		all = append(all, decoded.Containers...)
	}
	return all
}

func sandboxStatusFrom(id, uid, name, ip string, state int32, at int64, missing uint8) *runtimev1.PodSandboxStatus {
	if missing&8 != 0 {
		return nil
	}
	s := &runtimev1.PodSandboxStatus{Id: id, State: runtimev1.PodSandboxState(state), CreatedAt: at}
	if missing&1 == 0 {
		s.Metadata = &runtimev1.PodSandboxMetadata{Uid: uid, Name: name, Namespace: name}
	}
	if missing&16 == 0 {
		s.Network = &runtimev1.PodSandboxNetworkStatus{Ip: ip, AdditionalIps: []*runtimev1.PodIP{{Ip: name}, nil}}
	}
	return s
}

func containerStatusFrom(id, name, text string, state int32, at int64, missing uint8) *runtimev1.ContainerStatus {
	if missing&8 != 0 {
		return nil
	}
	c := &runtimev1.ContainerStatus{
		Id: id, State: runtimev1.ContainerState(state), CreatedAt: at, StartedAt: -at, FinishedAt: at, Reason: text, Message: text,
	}
	if missing&1 == 0 {
		c.Metadata = &runtimev1.ContainerMetadata{Name: name}
	}
	if missing&2 == 0 {
		c.Image = &runtimev1.ImageSpec{Image: name, UserSpecifiedImage: text}
	}
	return c
}
