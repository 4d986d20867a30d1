package host

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestNewRefuses(t *testing.T) {
	ca := newAuthority(t)
	cert, key := ca.issue(t, "somebody")
	certFile, keyFile := fileWith(t, "cert", cert), fileWith(t, "key", key)
	_, otherKey := ca.issue(t, "other")
	empty := fileWith(t, "empty", []byte(" \n"))
	token := fileWith(t, "token", []byte("x"))
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(t.TempDir(), "none")
	tests := []struct {
		name string
		c    Config
		want []string // parts of the error
	}{
		{"no root", Config{Root: none}, []string{"--host-root " + none, "no such file", "mounted"}},
		{"root is a file", Config{Root: token}, []string{"--host-root", "not a folder"}},
		{"no URL", Config{Kubelet: Kubelet{Metrics: "127.0.0.1:10250"}}, []string{`--kubelet-metrics "127.0.0.1:10250"`, "such as https://127.0.0.1:10250/metrics"}},
		{"no host", Config{Kubelet: Kubelet{Metrics: "https:///metrics"}}, []string{"--kubelet-metrics", "such as"}},
		{"another scheme", Config{Kubelet: Kubelet{Metrics: "ftp://127.0.0.1/"}}, []string{"--kubelet-metrics", "such as"}},
		{"healthz is no URL", Config{Kubelet: Kubelet{Healthz: "::"}}, []string{"--kubelet-healthz", "such as"}},
		{"password", Config{Kubelet: Kubelet{Metrics: "https://a:b@127.0.0.1/"}}, []string{"--kubelet-metrics", "--kubelet-token-file"}},
		{"no token", Config{Kubelet: Kubelet{TokenFile: none, CA: ca.file}}, []string{"--kubelet-token-file", none, "no such file"}},
		{"empty token", Config{Kubelet: Kubelet{TokenFile: empty, CA: ca.file}}, []string{"--kubelet-token-file", "empty"}},
		{"endless token", Config{Kubelet: Kubelet{TokenFile: "/dev/zero", CA: ca.file}}, []string{"--kubelet-token-file: /dev/zero: not a regular file"}},
		{"certificates in a pipe", Config{Kubelet: Kubelet{CA: fifo, Metrics: secureMetrics}}, []string{"--kubelet-ca", fifo, "not a regular file"}},
		{"token in the clear", Config{Kubelet: Kubelet{TokenFile: token, Metrics: "http://10.0.0.7:10255/metrics"}}, []string{"unencrypted", "https"}},
		{"token in the clear on this machine", Config{Kubelet: Kubelet{TokenFile: token, Metrics: readOnlyMetrics}}, []string{"unencrypted", "https"}},
		{"token for whoever has the port", Config{Kubelet: Kubelet{TokenFile: token}}, []string{"--kubelet-token-file needs --kubelet-ca"}},
		{"no certificate", Config{Kubelet: Kubelet{Cert: none, Key: keyFile}}, []string{"--kubelet-cert", none, "no such file"}},
		{"no key", Config{Kubelet: Kubelet{Cert: certFile, Key: none}}, []string{"--kubelet-key", none, "no such file"}},
		{"no key in the certificate's file", Config{Kubelet: Kubelet{Cert: certFile}}, []string{"--kubelet-key", certFile}},
		{"another's key", Config{Kubelet: Kubelet{Cert: certFile, Key: fileWith(t, "key", otherKey)}}, []string{"--kubelet-cert", "does not match"}},
		{"key alone", Config{Kubelet: Kubelet{Key: keyFile}}, []string{"--kubelet-key needs --kubelet-cert"}},
		{"certificate without TLS", Config{Kubelet: Kubelet{Cert: certFile, Key: keyFile, Metrics: "http://127.0.0.1:10255/metrics"}}, []string{"needs https"}},
		{"no CA", Config{Kubelet: Kubelet{CA: none, Metrics: secureMetrics}}, []string{"--kubelet-ca", none, "no such file"}},
		{"empty CA", Config{Kubelet: Kubelet{CA: empty, Metrics: secureMetrics}}, []string{"--kubelet-ca", empty, "empty"}},
		{"no CA in the file", Config{Kubelet: Kubelet{CA: token, Metrics: secureMetrics}}, []string{"--kubelet-ca", token}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n, err := New(tt.c)
			if err == nil || n != nil {
				t.Fatalf("New = %v, %v, want nil and an error", n, err)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q lacks %q", err, part)
				}
			}
		})
	}
}

func TestUnreadableSaysWhatToDo(t *testing.T) {
	err := unreadable("--kubelet-ca", "/f", &os.PathError{Op: "open", Path: "/f", Err: os.ErrPermission})
	if want := "--kubelet-ca: /f: permission denied; try sudo"; err.Error() != strings.Replace(want, "permission denied", os.ErrPermission.Error(), 1) {
		t.Errorf("error = %q, want %q", err, want)
	}
}
