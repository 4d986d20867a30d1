//go:build linux

package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"golang.org/x/sync/errgroup"
)

// asNode is the name under which the script up keeps the test binary, to call it as
// the kubelet of the private containerd:
//
//	node image BINARY FILE           pack BINARY as the test image into FILE
//	node ready [flags]               wait until the runtime and its network are ready
//	node pods [flags] NAME [ARG...]  make pods NAME-0, NAME-1, ... whose containers run the workload with ARG...
//	node clear [flags]               stop and remove every pod that was made so
const asNode = "node"

// A command is what the flags of such a call say.
type command struct {
	socket, logs     string
	pods, containers int
	ownNetwork       bool
	limit            time.Duration
}

// runNode returns the exit code.
func runNode(verb string, args []string) int {
	var c command
	f := flag.NewFlagSet(asNode, flag.ExitOnError)
	f.StringVar(&c.socket, "socket", "", "the runtime's unix socket")
	f.StringVar(&c.logs, "logs", os.TempDir(), "folder for container logs")
	f.IntVar(&c.pods, "n", 1, "how many pods")
	f.IntVar(&c.containers, "m", 1, "containers in each pod")
	f.BoolVar(&c.ownNetwork, "cni", false, "give each pod a network of its own instead of the host's")
	f.DurationVar(&c.limit, "limit", 2*time.Minute, "give up after this time")
	_ = f.Parse(args) // exits on an error
	ctx, cancel := context.WithTimeout(context.Background(), c.limit)
	defer cancel()
	if err := c.run(ctx, verb, f.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "node:", err)
		return 1
	}
	return 0
}

func (c command) run(ctx context.Context, verb string, args []string) error {
	if verb == "image" && len(args) == 2 {
		return pack(args[0], args[1])
	}
	k, err := Connect(c.socket, c.logs)
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
		return c.makePods(ctx, k, args[0], args[1:])
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
	if err := WriteImage(f, program, Image); err != nil {
		return err
	}
	return f.Close()
}

// ready asks again and again, because a runtime answers before its network
// configuration is read.
func ready(ctx context.Context, k *Kubelet) error {
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

func (c command) makePods(ctx context.Context, k *Kubelet, name string, workload []string) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(4)
	for i := range c.pods {
		g.Go(func() error { return c.makePod(ctx, k, fmt.Sprintf("%s-%d", name, i), workload) })
	}
	return g.Wait()
}

func (c command) makePod(ctx context.Context, k *Kubelet, name string, workload []string) error {
	p, err := k.RunPod(ctx, name, !c.ownNetwork)
	if err != nil {
		return err
	}
	for i := range c.containers {
		if _, err := k.Run(ctx, p, Container{Name: fmt.Sprintf("c%d", i), Args: workload}); err != nil {
			return err
		}
	}
	fmt.Printf("%s/%s %s\n", Namespace, p.Name, p.UID)
	return nil
}
