package cri

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// A node is a host's root directory as a test describes it.
type node struct {
	files   map[string]string                   // by path: the text
	links   map[string]string                   // by path: the target
	sockets map[string]func(*testing.T, string) // by path: what listens there
}

// build makes the node's files and starts its servers below a new root.
func (n node) build(t *testing.T) (root string) {
	t.Helper()
	root = shortDir(t)
	at := func(path string) string {
		full := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		return full
	}
	for path, text := range n.files {
		if err := os.WriteFile(at(path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, target := range n.links {
		if err := os.Symlink(target, at(path)); err != nil {
			t.Fatal(err)
		}
	}
	for path, listen := range n.sockets {
		listen(t, at(path))
	}
	return root
}

func answers(t *testing.T, path string) { healthy().serve(t, path) }

// fails answers Version with an error.
func fails(code codes.Code, text string) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		s := &stub{answers: map[string]answer{version: refuse(status.Error(code, text))}}
		s.serve(t, path)
	}
}

// hangs accepts calls and never answers Version.
func hangs(t *testing.T, path string) {
	s := &stub{answers: map[string]answer{version: hang}}
	s.serve(t, path)
}

// mute lets clients connect, as the kernel does for a stopped process.
func mute(t *testing.T, path string) { listen(t, path) }

// abandoned leaves a socket behind that nobody listens on.
func abandoned(t *testing.T, path string) {
	l := listen(t, path)
	l.SetUnlinkOnClose(false)
	_ = l.Close()
}

// onlyGRPC speaks gRPC and has no service.
func onlyGRPC(t *testing.T, path string) { background(t, grpc.NewServer(), listen(t, path)) }

// alphaOnly speaks the CRI version before v1.
func alphaOnly(t *testing.T, path string) {
	answer := func(_ any, s grpc.ServerStream) error {
		if method, _ := grpc.MethodFromServerStream(s); method != alphaVersionMethod {
			return status.Error(codes.Unimplemented, "unknown service")
		}
		if err := s.RecvMsg(new(runtimev1.VersionRequest)); err != nil {
			return err
		}
		return s.SendMsg(&runtimev1.VersionResponse{RuntimeApiVersion: "v1alpha2"})
	}
	background(t, grpc.NewServer(grpc.UnknownServiceHandler(answer)), listen(t, path))
}

// http2 is one that speaks the protocol below gRPC, with nothing on top.
func http2(t *testing.T, path string) {
	var p http.Protocols
	p.SetUnencryptedHTTP2(true)
	web(t, path, &p)
}

// http1 is another program's web server.
func http1(t *testing.T, path string) { web(t, path, nil) }

func web(t *testing.T, path string, p *http.Protocols) {
	server := &http.Server{Handler: http.NotFoundHandler(), Protocols: p}
	l := listen(t, path)
	var done sync.WaitGroup
	done.Go(func() { _ = server.Serve(l) })
	t.Cleanup(func() { _ = server.Close(); done.Wait() })
}

// greets is a server that speaks first.
func greets(t *testing.T, path string) {
	l := listen(t, path)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("220 mail ready\r\n"))
			t.Cleanup(func() { _ = conn.Close() })
		}
	}()
}

func background(t *testing.T, server *grpc.Server, l net.Listener) {
	var done sync.WaitGroup
	done.Go(func() { _ = server.Serve(l) })
	t.Cleanup(func() { server.Stop(); done.Wait() })
}

func listen(t *testing.T, path string) *net.UnixListener {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// plainFile is a file where a socket should be.
func plainFile(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}
