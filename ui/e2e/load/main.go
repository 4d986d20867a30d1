// Command load runs the embedded runtime in a process of its own, so that what
// plegtop costs beside it can be measured: a scenario, or many pods in which so many
// things change each second.
//
//	load --scenario dead
//	load --pods 10000 --containers 3 --changes 1000
//
// It prints its endpoint and goes on until it is interrupted.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/plegtop/plegtop/cri/sim"
)

func main() {
	scenario := pflag.String("scenario", "empty", "what the node holds beside the pods")
	pods := pflag.Int("pods", 0, "how many pods to add")
	containers := pflag.Int("containers", 3, "containers in each of them")
	changes := pflag.Int("changes", 0, "how many of the pods change in a second: a container ends, or the whole pod is replaced")
	pflag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *scenario, *pods, *containers, *changes); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, scenario string, pods, containers, changes int) error {
	s, err := sim.Start(ctx, sim.Config{Scenario: scenario, Seed: 1})
	if err != nil {
		return err
	}
	defer s.Close() // ctx has ended it already, or soon will
	all := make([]sim.Pod, pods)
	for i := range all {
		all[i] = s.AddPod(spec(i, 0, containers))
	}
	fmt.Println(s.Endpoint())
	began := time.Now()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for done := 0; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		for ; done < int(time.Since(began).Seconds()*float64(changes)); done++ {
			i := done * 7919 % pods
			if s.ExitContainer(all[i].Containers["c0"], 0, "") == nil {
				continue
			}
			s.RemovePod(all[i].UID)
			all[i] = s.AddPod(spec(i, done, containers))
		}
	}
}

func spec(i, version, containers int) sim.PodSpec {
	p := sim.PodSpec{Namespace: fmt.Sprintf("ns-%02d", i%40), Name: fmt.Sprintf("app-%05d-%x", i, version), Age: time.Hour}
	for c := range containers {
		p.Containers = append(p.Containers, sim.ContainerSpec{Name: fmt.Sprintf("c%d", c)})
	}
	return p
}
