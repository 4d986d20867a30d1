package host

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestMain lets the test's own program stand for another one that listens.
func TestMain(m *testing.M) {
	if os.Getenv("PLEGTOP_LISTEN") != "" {
		listenAsChild()
		return
	}
	os.Exit(m.Run())
}

// listenAsChild answers who asked, until its parent ends.
func listenAsChild() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "kubernetes_build_info{git_version=%q} 1\n", r.Header.Get("Authorization"))
	}))
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// listenAs starts a program of that name that listens, and returns where.
func listenAs(t *testing.T, name string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), name)
	if err := os.Symlink(os.Args[0], program); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), program)
	c.Env = append(os.Environ(), "PLEGTOP_LISTEN=1")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = c.Wait()
	})
	var address string
	if _, err := fmt.Fscanln(out, &address); err != nil {
		t.Fatal(err)
	}
	return address
}

// Whoever has the port while the kubelet is away is not sent the token.
func TestTokenIsForTheKubelet(t *testing.T) {
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("only root on Linux can start a kubelet, and see what it has open")
	}
	token := fileWith(t, "token", []byte("s3cret"))
	for _, program := range []string{"kubelet", "nobodys"} {
		at := listenAs(t, program)
		got := askOnce(t, Kubelet{Healthz: "http://" + at, Metrics: "http://" + at + "/metrics", TokenFile: token})
		switch a := got.Metrics; {
		case program == "kubelet" && got.Version != "Bearer s3cret":
			t.Errorf("%s took us for %q (%s), want the token sent", program, got.Version, a.Err)
		case program != "kubelet" && (a.OK || !strings.Contains(a.Err, "the token is not sent: port ") || !strings.Contains(a.Err, "user 0") || !strings.Contains(a.Err, "--kubelet-ca")):
			t.Errorf("%s: %+v, want that the token is not sent, why, and what to do", program, a)
		}
	}
	if err := checkKubelet("", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, nil); err == nil || !strings.Contains(err.Error(), "it cannot be seen who listens") {
		t.Errorf("a port at which nobody listens: %v", err)
	}
	if err := checkKubelet("", &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 10250}, nil); err == nil || !strings.Contains(err.Error(), "no address of the loopback") {
		t.Errorf("another machine: %v", err)
	}
}

// Who has taken the connection and let the kubelet have the port since is not sent the
// token.
func TestTokenIsNotForWhoHadThePort(t *testing.T) {
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("only root on Linux can start a kubelet, and see what it has open")
	}
	at := listenAs(t, "kubelet")
	for asked, want := range map[string]string{at: "", "127.0.0.1:1": "changed hands"} {
		transport := newTransport(nil)
		transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, at) // a kubelet listens there by now
		}
		e := &endpoint{client: &http.Client{Transport: transport}}
		e.only("")
		conn, err := transport.DialContext(t.Context(), "tcp", asked)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", asked, err, want)
		}
		if conn != nil {
			_ = conn.Close()
		}
	}
}
