package host

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
)

// who answers with metrics that name the client as their version.
func who(w http.ResponseWriter, r *http.Request) {
	name := r.Header.Get("Authorization")
	for _, cert := range r.TLS.PeerCertificates {
		name += cert.Subject.CommonName
	}
	fmt.Fprintf(w, "kubernetes_build_info{git_version=%q} 1\n", name)
}

func TestKubeletTakesCredentials(t *testing.T) {
	ca := newAuthority(t)
	cert, key := ca.issue(t, "somebody")
	certFile, keyFile := fileWith(t, "cert", cert), fileWith(t, "key", key)
	both := fileWith(t, "kubelet-client-current.pem", append(cert, key...))
	token := fileWith(t, "token", []byte("s3cret\n"))
	tests := []struct {
		name string
		k    Kubelet
		want string
	}{
		{"none", Kubelet{}, ""},
		{"certificate", Kubelet{Cert: certFile, Key: keyFile}, "somebody"},
		{"certificate and key in one file", Kubelet{Cert: both}, "somebody"},
		{"checked", Kubelet{TokenFile: token, CA: ca.file}, "Bearer s3cret"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.k.Metrics = ca.serveTLS(t, who).URL
			tt.k.Healthz = tt.k.Metrics
			got := askOnce(t, tt.k)
			if !got.Metrics.OK || got.Version != tt.want {
				t.Errorf("it took us for %q (%s), want %q", got.Version, got.Metrics.Err, tt.want)
			}
			if !got.Ping.OK || strings.Contains(got.Ping.Text, "somebody") || strings.Contains(got.Ping.Text, "Bearer") {
				t.Errorf("healthz = %+v, want it asked without credentials", got.Ping)
			}
		})
	}
}

// A CA that did not sign the kubelet's certificate stops the request before the
// token is sent.
func TestKubeletOfAnotherAuthority(t *testing.T) {
	server := newAuthority(t).serveTLS(t, func(http.ResponseWriter, *http.Request) { t.Error("the request was sent") })
	token := fileWith(t, "token", []byte("s3cret"))
	got := askOnce(t, Kubelet{Healthz: server.URL, Metrics: server.URL, CA: newAuthority(t).file, TokenFile: token})
	if got.Metrics.OK || !strings.HasPrefix(got.Metrics.Err, "not available: tls: failed to verify certificate") {
		t.Errorf("metrics = %+v, want that its certificate is not believed", got.Metrics)
	}
}

func TestOnlyLoopbackIsBelievedUnchecked(t *testing.T) {
	ca := newAuthority(t)
	tests := []struct {
		url  string
		k    Kubelet
		want bool
	}{
		{"https://127.0.0.1:10250/metrics", Kubelet{}, true},
		{"https://[::1]:10250/metrics", Kubelet{}, true},
		{"https://localhost:10250/metrics", Kubelet{}, true},
		{"https://127.0.0.1:10250/metrics", Kubelet{CA: ca.file}, false},
		{"https://10.0.0.7:10250/metrics", Kubelet{}, false},
		{"https://localhost.example.com/metrics", Kubelet{}, false},
		{"https://127.0.0.1.example.com/metrics", Kubelet{}, false},
	}
	for _, tt := range tests {
		u, err := url.Parse(tt.url)
		if err != nil {
			t.Fatal(err)
		}
		c, err := tt.k.tlsConfig(u)
		if err != nil {
			t.Fatal(err)
		}
		if c.InsecureSkipVerify != tt.want {
			t.Errorf("%s with %+v: unchecked = %v, want %v", tt.url, tt.k, c.InsecureSkipVerify, tt.want)
		}
	}
}

// Tokens and certificates are replaced while plegtop runs.
func TestCredentialsRotate(t *testing.T) {
	ca := newAuthority(t)
	server := ca.serveTLS(t, who)
	cert, key := ca.issue(t, "-first")
	k := Kubelet{
		Healthz: server.URL, Metrics: server.URL, CA: ca.file,
		Cert: fileWith(t, "client.pem", append(cert, key...)), TokenFile: fileWith(t, "token", []byte("one")),
	}
	kubelet, err := newKubelet(k)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(want string) {
		t.Helper()
		got := newKubeletNode(kubelet).look(t.Context())
		if got.Version != want {
			t.Errorf("it took us for %q (%s), want %q", got.Version, got.Metrics.Err, want)
		}
	}
	ask("Bearer one-first")
	cert, key = ca.issue(t, "-second")
	for file, text := range map[string][]byte{k.Cert: append(cert, key...), k.TokenFile: []byte("two")} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ask("Bearer two-second")

	if err := os.Remove(k.TokenFile); err != nil {
		t.Fatal(err)
	}
	got := newKubeletNode(kubelet).look(t.Context()).Metrics
	if want := "token: no such file or directory"; !strings.HasSuffix(got.Err, want) || got.OK || got.TimedOut {
		t.Errorf("without its token: %+v, want %q", got, want)
	}
}

// A kubelet that wants a certificate at the handshake says so in its alert.
func TestKubeletDemandsCertificate(t *testing.T) {
	ca := newAuthority(t)
	server := ca.serveTLS(t, who)
	server.TLS.ClientAuth = tls.RequireAndVerifyClientCert
	got := askOnce(t, Kubelet{Healthz: server.URL, Metrics: server.URL}).Metrics
	if got.OK || got.TimedOut || !got.Denied || got.Err != "not permitted (tls: certificate required): "+permissionHint {
		t.Errorf("metrics = %+v, want that it is not permitted", got)
	}
}
