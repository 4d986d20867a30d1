package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
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
	c := k.command(ctx, "exec", "-it", "pod/"+pod, "-c", "plegtop", "--", "plegtop") // pod/ is before what could else be a flag
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	return c
}

// A proxy is a `kubectl proxy` that serves the API to whoever can open its socket: this user.
type proxy struct {
	socket string
	ended  chan struct{} // closed when kubectl has ended, and the folder is gone
	cancel context.CancelFunc
	said   words
}

// serving is what kubectl says once the socket is there.
const serving = "Starting to serve"

// openProxy starts kubectl and returns once it serves. [proxy.close] has to be called.
func openProxy(ctx context.Context, k kubectl) (*proxy, error) {
	dir, err := os.MkdirTemp("", "plegtop-") // for this user alone
	if err != nil {
		return nil, fmt.Errorf("make a folder for the socket of kubectl proxy: %w", err)
	}
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p := &proxy{socket: filepath.Join(dir, "api"), ended: make(chan struct{}), cancel: cancel, said: words{until: serving, seen: make(chan struct{})}}
	c := k.command(run, "proxy", "--unix-socket="+p.socket, "--reject-methods=POST,PUT,PATCH,DELETE")
	c.Stdout, c.Stderr, c.SysProcAttr = &p.said, &p.said, crash.Aside()
	started := make(chan error, 1)
	go func() {
		defer close(p.ended)
		defer os.RemoveAll(dir)
		runtime.LockOSThread() // kubectl ends with the thread that started it
		err := c.Start()
		if started <- err; err == nil {
			_ = c.Wait() // what was wrong it has said
		}
	}()
	if err := <-started; err != nil {
		p.close()
		return nil, startError(err)
	}
	select {
	case <-p.said.seen:
		return p, nil
	case <-p.ended:
		err = fmt.Errorf("kubectl proxy ended: %s", p.said.last())
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	p.close()
	return nil, err
}

// startError says why kubectl cannot be run, and what to do.
func startError(err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New("kubectl is not in PATH: install it, since it alone knows the way to the cluster")
	}
	return fmt.Errorf("start kubectl: %w", err)
}

// close ends kubectl and returns when nothing is left of it. It may be called twice.
func (p *proxy) close() {
	p.cancel()
	<-p.ended
}

// client returns what speaks to the API server, whatever the host is called.
func (p *proxy) client() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", p.socket)
		},
		MaxIdleConnsPerHost: width, DisableCompression: true,
	}}
}

// words keep the first of what a program says, and close seen once that has until in it.
type words struct {
	until string
	seen  chan struct{}

	mu   sync.Mutex
	text []byte
}

const wordsMost = 4 << 10

// Write takes all, and keeps what there is room for.
func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	had := w.has()
	w.text = append(w.text, p[:min(len(p), wordsMost-len(w.text))]...)
	if !had && w.has() {
		close(w.seen)
	}
	return len(p), nil
}

func (w *words) has() bool { return w.until != "" && bytes.Contains(w.text, []byte(w.until)) }

// last returns the last line, fit to be shown.
func (w *words) last() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(w.text)), "\n")
	return text.Clean(lines[len(lines)-1])
}
