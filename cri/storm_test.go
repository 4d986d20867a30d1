package cri

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/pleg"
)

// What a reader of the stream was handed, and what it took.
type stormSeen struct {
	Events, Skipped uint64
	Memory          uint64        // most that the process ever had, in bytes
	Starved         time.Duration // the longest that the machine gave it no time
}

// A storm of events with whole statuses, as fast as the runtime can send them: its longest
// wait for us, and our memory. The reader runs in a process of its own, to be weighed.
func TestStormOfEvents(t *testing.T) {
	if path := os.Getenv("CRI_TEST_STORM"); path != "" {
		readStorm(t, path)
		return
	}
	big := goodEvent()
	for len(big.ContainersStatuses) < 4 {
		big.ContainersStatuses = append(big.ContainersStatuses, goodContainerStatus())
	}
	big.PodSandboxStatus.Annotations = map[string]string{"config": strings.Repeat("x", 1000)}
	wire, err := proto.Marshal(big)
	if err != nil {
		t.Fatal(err)
	}
	var sent uint64
	var longest time.Duration
	const lasts = 2 * time.Second
	path := filepath.Join(shortDir(t), "cri.sock")
	telling(func(s grpc.ServerStream) error {
		for end, now := time.Now().Add(lasts), time.Now(); now.Before(end); sent++ {
			if err := s.SendMsg(wired(new(runtimev1.ContainerEventResponse), wire)); err != nil {
				return err
			}
			began := now
			now = time.Now()
			longest = max(longest, now.Sub(began))
		}
		return nil
	}).serve(t, path)

	self := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStormOfEvents$")
	self.Env = append(os.Environ(), "CRI_TEST_STORM="+path)
	self.Stderr = os.Stderr
	out, err := self.Output()
	var seen stormSeen
	if err != nil || json.Unmarshal([]byte(strings.SplitN(string(out), "\n", 2)[0]), &seen) != nil {
		t.Fatalf("%v, standard output:\n%s", err, out)
	}
	t.Logf("%d events of %d bytes a second, longest Send %v; %+v", sent*uint64(time.Second)/uint64(lasts), len(wire), longest, seen)
	if seen.Events+seen.Skipped != sent {
		t.Errorf("%d and %d skipped of %d", seen.Events, seen.Skipped, sent)
	}
	if longest > time.Second+seen.Starved {
		t.Errorf("the runtime was blocked for %v", longest)
	}
	if seen.Memory > 150_000_000 {
		t.Errorf("it took %d MB of memory", seen.Memory/1_000_000)
	}
}

// readStorm says on standard output what it was handed.
func readStorm(t *testing.T, path string) {
	var seen stormSeen
	starved := starvation(t.Context())
	kept := make([]pleg.Upstream, 4096) // as somebody would who is behind
	err := dialed(t, path).Events(within(t, testLimit), func(u pleg.Upstream) {
		seen.Skipped += u.Skipped
		if u.ID != "" {
			kept[seen.Events%uint64(len(kept))] = u
			seen.Events++
		}
	})
	if !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	seen.Memory, seen.Starved = m.Sys, starved()
	if err := json.NewEncoder(os.Stdout).Encode(seen); err != nil {
		t.Fatal(err)
	}
}

// starvation begins to measure by how much a moment was too long at most, and returns
// what ends that and says it.
func starvation(ctx context.Context) func() time.Duration {
	ctx, cancel := context.WithCancel(ctx)
	worst := make(chan time.Duration)
	go func() {
		const moment = 5 * time.Millisecond
		most := time.Duration(0)
		for ctx.Err() == nil {
			began := time.Now()
			time.Sleep(moment)
			most = max(most, time.Since(began)-moment)
		}
		worst <- most
	}()
	return func() time.Duration {
		cancel()
		return <-worst
	}
}
