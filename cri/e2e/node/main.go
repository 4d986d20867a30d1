// Command node is the kubelet of the private containerd, to be used by hand and
// by the script up:
//
//	node image BINARY FILE           pack BINARY as the test image into FILE
//	node ready [flags]               wait until the runtime and its network are ready
//	node pods [flags] NAME [ARG...]  make pods NAME-0, NAME-1, ... whose containers run the workload with ARG...
//	node clear [flags]               stop and remove every pod that was made so
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/plegtop/plegtop/cri/e2e"
)

var (
	socket     = flag.String("socket", "", "the runtime's unix socket")
	logs       = flag.String("logs", os.TempDir(), "folder for container logs")
	count      = flag.Int("n", 1, "how many pods")
	containers = flag.Int("m", 1, "containers in each pod")
	ownNetwork = flag.Bool("cni", false, "give each pod a network of its own instead of the host's")
	limit      = flag.Duration("limit", 2*time.Minute, "give up after this time")
)

func main() {
	var verb string
	if len(os.Args) > 1 {
		verb = os.Args[1]
		_ = flag.CommandLine.Parse(os.Args[2:]) // exits on an error
	}
	ctx, cancel := context.WithTimeout(context.Background(), *limit)
	err := run(ctx, verb, flag.Args())
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "node:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, verb string, args []string) error {
	if verb == "image" && len(args) == 2 {
		return pack(args[0], args[1])
	}
	k, err := e2e.Connect(*socket, *logs)
	if err != nil {
		return err
	}
	defer k.Close()
	switch {
	case verb == "ready" && len(args) == 0:
		return ready(ctx, k)
	case verb == "clear" && len(args) == 0:
		return k.RemoveAll(ctx)
	case verb == "pods" && len(args) > 0:
		return makePods(ctx, k, args[0], args[1:])
	}
	return fmt.Errorf("want image, ready, pods or clear and what belongs to it, got %q", append([]string{verb}, args...))
}

func pack(binary, file string) error {
	program, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close() // the second Close of a good file, whose error means nothing
	if err := e2e.WriteImage(f, program, e2e.Image); err != nil {
		return err
	}
	return f.Close()
}

// ready asks again and again, because a runtime answers before its network
// configuration is read.
func ready(ctx context.Context, k *e2e.Kubelet) error {
	for {
		err := k.Ready(ctx)
		if err == nil || ctx.Err() != nil {
			return err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}

func makePods(ctx context.Context, k *e2e.Kubelet, name string, workload []string) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(4)
	for i := range *count {
		g.Go(func() error { return makePod(ctx, k, fmt.Sprintf("%s-%d", name, i), workload) })
	}
	return g.Wait()
}

func makePod(ctx context.Context, k *e2e.Kubelet, name string, workload []string) error {
	p, err := k.RunPod(ctx, name, !*ownNetwork)
	if err != nil {
		return err
	}
	for i := range *containers {
		if _, err := k.Run(ctx, p, e2e.Container{Name: fmt.Sprintf("c%d", i), Args: workload}); err != nil {
			return err
		}
	}
	fmt.Printf("%s/%s %s\n", e2e.Namespace, p.Name, p.UID)
	return nil
}
