// Package fleet is `kubectl plegtop`: the headlines of all nodes on which plegtop runs as a
// DaemonSet, the worst first. docs/fleet.md is for who uses it.
//
// It asks the API server alone, through a `kubectl proxy` of its own on a socket in a private
// folder: kubeconfig, credentials and plug-ins for them are kubectl's, and never read here. It
// only reads: the pods of the DaemonSet, the names of the nodes, and `/check` of each pod
// through the API server's proxy to pods. Names and texts of others are cleaned where they are
// written; the body of every answer is read up to a limit.
package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/crash"
	"github.com/plegtop/plegtop/ui/lines"
	"github.com/plegtop/plegtop/ui/terminal"
)

// Run does what the arguments ask for, which are those behind the program's name, and returns the
// exit code. complain prints an error, and returns the code that it is given.
func Run(args []string, look Look, complain func(err error, code int) int) int {
	o, err := parse(args)
	screen := terminal.Check(os.Stdin, os.Stdout, os.Environ())
	switch {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Print(usage)
		return lines.ExitOK
	case err != nil:
		return complain(err, lines.ExitCannotTell)
	case o.node != "" && screen != nil:
		return complain(screen, lines.ExitCannotTell)
	case o.node != "":
		return complain(o.enter(), lines.ExitCannotTell)
	}
	run, contained := o.once, crash.Terminal{}
	if screen == nil && !o.json {
		run, contained = o.live, crash.Terminal{Restore: terminal.Restorer(os.Stdin, os.Stdout), Stop: terminal.StopGroup}
	}
	code, err := crash.Contain(func() int {
		code, err := run(look)
		if err != nil {
			return complain(err, code)
		}
		return code
	}, contained)
	if err != nil {
		return complain(err, cmp.Or(code, lines.ExitCannotTell))
	}
	return code
}

// once writes the table, or the object, once.
func (o options) once(look Look) (code int, err error) {
	ctx, cancel := crash.UntilSignal(context.Background(), lines.ExitCannotTell)
	defer cancel()
	p, err := openProxy(ctx, o.kubectl)
	if err != nil {
		return lines.ExitCannotTell, err
	}
	defer p.close()
	r, err := p.fleet(o.namespace).look(ctx, func(Round) {})
	if err != nil {
		return lines.ExitCannotTell, p.told(err)
	}
	write := func(b []byte) []byte { return appendTable(b, r, look.Theme.Symbols) }
	if o.json {
		write = func(b []byte) []byte { return appendJSON(b, r) }
	}
	if _, err := os.Stdout.Write(write(nil)); err != nil {
		return lines.ExitCannotTell, fmt.Errorf("write the table: %w", err)
	}
	return r.code(), nil
}

// live shows the table until a person has seen enough.
func (o options) live(look Look) (code int, err error) {
	starting, started := crash.UntilSignal(context.Background(), lines.ExitCannotTell)
	defer started()
	p, err := openProxy(starting, o.kubectl)
	if err != nil {
		return lines.ExitCannotTell, err
	}
	defer p.close()
	started() // from here on signals are the terminal's
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	rounds := make(chan news, 1)
	go p.follow(ctx, p.fleet(o.namespace), rounds)
	m := newModel(ctx, look, o.kubectl, rounds)
	on := terminal.Options{Last: p.close, Background: look.Follow, Grace: 2 * time.Second} // kubectl may take one of them
	err = terminal.Run(ctx, m, on)
	_, signaled := errors.AsType[*terminal.SignalError](err)
	_, printed := errors.AsType[*terminal.PanicError](err)
	switch {
	case signaled || printed:
		return terminal.ExitCode(err), nil
	case err == nil && m.shown.At.IsZero() && m.err != nil:
		return lines.ExitCannotTell, m.err
	}
	return terminal.ExitCode(err), err
}

// follow asks all nodes again and again, and says what came of it.
func (p *proxy) follow(ctx context.Context, f *fleet, to chan<- news) {
	for ctx.Err() == nil {
		next := time.After(every)
		r, err := f.look(ctx, func(r Round) {
			select {
			case to <- news{Round: r}:
			default: // what is shown is newer than a moment
			}
		})
		select {
		case to <- news{r, p.told(err)}:
		case <-ctx.Done():
		}
		select {
		case <-next:
		case <-ctx.Done():
		}
	}
}

// enter puts kubectl in the place of this process, which runs the screen on the node. It returns
// only with an error.
func (o options) enter() error {
	ctx, cancel := crash.UntilSignal(context.Background(), lines.ExitCannotTell)
	defer cancel()
	p, err := openProxy(ctx, o.kubectl)
	if err != nil {
		return err
	}
	on, err := p.fleet(o.namespace).on(ctx, o.node)
	p.close()
	if err != nil {
		return err
	}
	c := o.kubectl.screen(ctx, on.Metadata.Namespace, on.Metadata.Name)
	return startError(syscall.Exec(c.Path, c.Args, os.Environ()))
}

// on returns the pod of the DaemonSet on a node.
func (f *fleet) on(ctx context.Context, node string) (*pod, error) {
	pods, err := f.api.pods(ctx, f.namespace, node)
	if err != nil {
		return nil, err
	}
	why := ""
	for i := range pods {
		if why = pods[i].missing(); why == "" {
			return &pods[i], nil
		}
	}
	if why != "" {
		return nil, fmt.Errorf("the pod of plegtop on %s does not run: %s", node, why)
	}
	if err := f.list(ctx); err != nil {
		return nil, err
	}
	names := make([]string, len(f.pods))
	for i := range f.pods {
		names[i] = f.pods[i].Spec.NodeName
	}
	return nil, fmt.Errorf("no pod of plegtop is on a node called %q%s", node, keymap.Meant(keymap.Nearest(node, names)))
}
