package cri

import (
	"slices"
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
	f.Add("id", "uid", "name", "10.0.0.1", int32(1), int64(1), uint8(0))
	f.Add("", "", "\xff", "\x1b", int32(-1), int64(-1), uint8(0xFF))
	f.Add("id", "\xc3\x28", "", "::1", int32(99), int64(0), uint8(0x55))
	f.Fuzz(func(t *testing.T, id, uid, name, ip string, state int32, at int64, missing uint8) {
		checkLists(t,
			sandboxesFrom(id, uid, name, state, at, missing),
			containersFrom(id, uid, name, state, at, missing))
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

// FuzzLists holds the cutting of a list into its entries against the generated code: same
// rows, same counters, same refusals.
func FuzzLists(f *testing.F) {
	for _, list := range []proto.Message{
		&runtimev1.ListPodSandboxResponse{Items: []*runtimev1.PodSandbox{goodSandbox(), {}, goodSandbox()}},
		&runtimev1.ListContainersResponse{Containers: []*runtimev1.Container{goodContainer(), {}, goodContainer()}},
	} {
		wire := onWire(f, list)
		f.Add(wire)
		f.Add(wire[:len(wire)-1])
		f.Add(append(wire, 1<<3, 1))                                                      // an entry as a number
		f.Add(append(wire, 99<<3&0x7F|0x80|5, 99>>4, 1, 2, 3, 4))                         // a field that no list has
		f.Add(append(wire, 1<<3|2, 12, 0x80, 0xFF, 0xFF, 0xFF, '0', 0, 0, 0, 0, 0, 0, 0)) // a field number too large
		f.Add(append(wire, 1<<3|2, 3, 1<<3|2, 1, 0xFF))                                   // an id that is not UTF-8
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		if len(wire) > entriesLimit { // an entry takes a byte at least
			return
		}
		var sandboxes runtimev1.ListPodSandboxResponse
		wantErr := proto.Unmarshal(wire, &sandboxes)
		want, wantFound := sandboxRows(sandboxes.Items...)
		got, found, err := newKnown(readSandbox).list(wire)
		agree(t, got, want, found, wantFound, err, wantErr)
		var containers runtimev1.ListContainersResponse
		wantErr = proto.Unmarshal(wire, &containers)
		wantC, wantFound := containerRows(containers.Containers...)
		gotC, found, err := newKnown(readContainer).list(wire)
		agree(t, gotC, wantC, found, wantFound, err, wantErr)
	})
}

func agree[T comparable](t *testing.T, got, want []T, found, wantFound pleg.Anomalies, err, wantErr error) {
	t.Helper()
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("error = %v, want %v", err, wantErr)
	}
	if err == nil && (!slices.Equal(got, want) || found != wantFound) {
		t.Errorf("%+v, %+v\nwant %+v, %+v", got, found, want, wantFound)
	}
}

func checkLists(t *testing.T, sandboxes []*runtimev1.PodSandbox, containers []*runtimev1.Container) {
	t.Helper()
	ss, found := sandboxRows(sandboxes...)
	if n := len(ss) + leftOut(found); n != len(sandboxes) {
		t.Errorf("%d sandboxes kept or counted, want %d", n, len(sandboxes))
	}
	cs, found := containerRows(containers...)
	if n := len(cs) + leftOut(found); n != len(containers) {
		t.Errorf("%d containers kept or counted, want %d", n, len(containers))
	}
	for _, row := range ss {
		checkTexts(t, row.ID, row.Pod.Name, row.Pod.Namespace, string(row.Pod.UID))
		checkState(t, row.State)
		checkTime(t, row.CreatedAt)
	}
	for _, row := range cs {
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

// Each bit of missing takes one part away.

func sandboxesFrom(id, uid, name string, state int32, at int64, missing uint8) []*runtimev1.PodSandbox {
	s := &runtimev1.PodSandbox{Id: id, State: runtimev1.PodSandboxState(state), CreatedAt: at}
	if missing&1 == 0 {
		s.Metadata = &runtimev1.PodSandboxMetadata{Uid: uid, Name: name, Namespace: name}
	}
	return []*runtimev1.PodSandbox{s, nil}
}

func containersFrom(id, uid, name string, state int32, at int64, missing uint8) []*runtimev1.Container {
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
	return []*runtimev1.Container{nil, c}
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
