package fleet

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/plegtop/plegtop/ui/crash"
	"github.com/plegtop/plegtop/ui/text"
)

// A kubectl is how kubectl is called.
type kubectl struct {
	context, kubeconfig, namespace string // as they were given; empty if they were not
}

// command returns the call of kubectl with what leads it to the cluster, which is asked to end
// when ctx ends, and killed a second later.
func (k kubectl) command(ctx context.Context, args ...string) *exec.Cmd {
	for _, flag := range [][2]string{{"namespace", k.namespace}, {"kubeconfig", k.kubeconfig}, {"context", k.context}} {
		if flag[1] != "" {
			args = append([]string{"--" + flag[0] + "=" + flag[1]}, args...)
		}
	}
	c := exec.CommandContext(ctx, "kubectl", args...)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = time.Second
	return c
}

// screen returns the call that runs plegtop's screen in a pod.
func (k kubectl) screen(ctx context.Context, namespace, pod string) *exec.Cmd {
	k.namespace = namespace
	c := k.command(ctx, "exec", "-it", "pod/"+pod, "-c", container, "--", "plegtop") // pod/ is before what could else be a flag
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	return c
}

// A proxy is a `kubectl proxy` that serves the API to whoever can open its socket: this user.
type proxy struct {
	socket string
	ended  chan struct{} // closed when kubectl has ended, and the folder is gone
	cancel context.CancelFunc
	said   bytes.Buffer // by kubectl of what is wrong; to be read once it has ended
}

// openProxy starts kubectl and returns once it serves. [proxy.close] has to be called.
func openProxy(ctx context.Context, k kubectl) (*proxy, error) {
	dir, err := os.MkdirTemp("", "plegtop-") // for this user alone
	if err != nil {
		return nil, fmt.Errorf("make a folder for the socket of kubectl proxy: %w", err)
	}
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, cancel)() // while it starts
	p := &proxy{socket: filepath.Join(dir, "api"), ended: make(chan struct{}), cancel: cancel}
	c := k.command(run, "proxy", "--unix-socket="+p.socket, "--reject-methods=POST,PUT,PATCH,DELETE")
	c.Stderr, c.SysProcAttr = &p.said, crash.Aside()
	out, in := io.Pipe()
	c.Stdout = in
	go func() {
		defer close(p.ended)
		defer os.RemoveAll(dir)
		runtime.LockOSThread() // kubectl ends with the thread that started it
		if err := c.Start(); err != nil {
			in.CloseWithError(startError(err))
			return
		}
		_ = c.Wait() // what is wrong it has said
		in.Close()
	}()
	if _, err = bufio.NewReader(out).ReadString('\n'); err == nil { // it says that it serves
		go func() { _, _ = io.Copy(io.Discard, out) }() // so that it can go on
		return p, nil
	}
	p.close()
	if errors.Is(err, io.EOF) {
		err = cmp.Or(context.Cause(ctx), p.told(err))
	}
	return nil, err
}

// close ends kubectl and returns when nothing is left of it. It may be called twice. The folder goes
// first: a process that is asked to end on a busy machine has little time.
func (p *proxy) close() {
	os.RemoveAll(filepath.Dir(p.socket))
	p.cancel()
	<-p.ended
}

// told returns err, or what kubectl has said where that has ended.
func (p *proxy) told(err error) error {
	select {
	case <-p.ended:
		if err != nil {
			return errors.New("kubectl proxy ended: " + last(&p.said))
		}
	default:
	}
	return err
}

// last returns the last line of what was said, fit to be shown.
func last(said *bytes.Buffer) string {
	lines := strings.Split(strings.TrimSpace(said.String()), "\n")
	return text.Clean(lines[len(lines)-1])
}

// client returns what speaks to the API server, whatever the host is called. It goes nowhere that an
// answer leads to: that may be a pod's.
func (p *proxy) client() *http.Client {
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{CheckRedirect: stay, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", p.socket)
		},
		MaxIdleConnsPerHost: width, DisableCompression: true,
	}}
}

// fleet returns the nodes that can be asked through the proxy.
func (p *proxy) fleet(namespace string) *fleet {
	return &fleet{api: api{p.client()}, namespace: namespace}
}

// startError says why kubectl cannot be run, and what to do.
func startError(err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New("kubectl is not in PATH: install it, since it alone knows the way to the cluster")
	}
	return fmt.Errorf("start kubectl: %w", err)
}
