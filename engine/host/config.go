package host

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	promconfig "github.com/prometheus/common/config"

	"github.com/plegtop/plegtop/engine/smallfile"
)

// A Config says which node is looked at, and how its kubelet is asked.
type Config struct {
	Root        string // of the host, where its root folder is mounted; "" is /
	Endpoint    string // of the runtime: only its processes count as ours
	RuntimeRoot string // where the runtime keeps its data on the host; "" takes the known one that exists
	Kubelet     Kubelet
	Runtime     Runtime
	Offline     bool // Root is a picture of a node: it has no kubelet, its disk is a mount without figures, and it does not run plegtop
}

// A Runtime says how the runtime is asked for what CRI does not tell. It is only where
// something hangs.
type Runtime struct {
	// DebugSocket is the socket, as plegtop sees it, that is asked what the runtime's
	// goroutines do; "" is containerd's debug socket or CRI-O's own, if it is the
	// runtime's at the endpoint.
	DebugSocket string
	NoDump      bool // that is not read, from no socket and no file

	// Metrics is the URL of containerd's metrics; "" is the one of its configuration, if
	// it is on loopback. On https the rules of [Kubelet] hold.
	Metrics string
}

// A Kubelet says how the kubelet is asked. Its files are named as plegtop itself
// sees them, whatever the host's root is.
//
// A kubelet's own certificate is mostly one that it signed itself. So on a
// loopback address it is believed without a check, unless CA says whose it must
// be; on any other it is always checked, without CA against those that the
// system trusts. Where it is not checked, no token is sent: any process may take
// the port while the kubelet is away. A client certificate's key is never sent.
type Kubelet struct {
	// Healthz is the URL of the ping; "" is http://127.0.0.1:10248/healthz. No
	// credentials are sent to it.
	Healthz string

	// Metrics is a URL; "" is the read-only port, http://127.0.0.1:10255/metrics,
	// or https://127.0.0.1:10250/metrics if there are credentials. The kubelet's
	// /healthz is asked beside it.
	Metrics string

	// Cert and Key are files with the client certificate and its key, read
	// again for each request since they rotate. Without a Key that of Cert has
	// both, as the kubelet's own kubelet-client-current.pem.
	Cert, Key string

	TokenFile string // file with a bearer token, read again for each request
	CA        string // file with the certificates that the kubelet's own must come from
}

const (
	defaultHealthz  = "http://127.0.0.1:10248/healthz"
	readOnlyMetrics = "http://127.0.0.1:10255/metrics"
	secureMetrics   = "https://127.0.0.1:10250/metrics"
)

// withDefaults returns k with both URLs set.
func (k Kubelet) withDefaults() Kubelet {
	k.Healthz = cmp.Or(k.Healthz, defaultHealthz)
	if k.Cert == "" && k.TokenFile == "" {
		k.Metrics = cmp.Or(k.Metrics, readOnlyMetrics)
	}
	k.Metrics = cmp.Or(k.Metrics, secureMetrics)
	k.Key = cmp.Or(k.Key, k.Cert)
	return k
}

// hostRoots are where the root of the node is in a container that looks after it: of kubectl
// debug, oc debug and talosctl debug; of Bottlerocket's admin container; of toolbox.
var hostRoots = []string{"/host", "/.bottlerocket/rootfs", "/run/host"}

// FindRoot returns where the host's root is mounted: root if that is given, else the usual
// place of a container that has it; "" for our own.
func FindRoot(root string) string {
	if root != "" {
		return root
	}
	return findRoot("/", hostRoots)
}

// findRoot returns the first of places with a node that is not the one whose mounts we have
// ourselves: a folder of the node that has a /proc in it, such as one for chroot, is none.
func findRoot(own string, places []string) string {
	const mounts = "ns/mnt" // a link to what only root may read of another's
	ours, _ := os.Readlink(filepath.Join(own, "proc/self", mounts))
	for _, place := range places {
		root := filepath.Join(own, place)
		if _, err := os.Stat(filepath.Join(root, "proc/stat")); err != nil {
			continue
		}
		if theirs, err := os.Readlink(filepath.Join(root, "proc/1", mounts)); err != nil || theirs != ours {
			return root
		}
	}
	return ""
}

// CheckRoot finds a wrong root of the host before a look at it finds nothing, and
// returns it in a form that does not depend on where plegtop runs; "" for our own. The
// error says what to name. It is safe for concurrent use.
func CheckRoot(root string) (string, error) {
	if root == "" {
		return "", nil
	}
	whole, err := filepath.Abs(root)
	if err != nil {
		return "", fmt.Errorf("--host-root %s: %w", root, err)
	}
	info, err := os.Stat(whole)
	if err == nil && !info.IsDir() {
		err = errors.New("not a folder")
	}
	for _, dir := range []string{"proc", "sys"} { // of which whole paths are read: a link would lead out of the root
		if is, missing := os.Lstat(filepath.Join(whole, dir)); err == nil && missing == nil && is.Mode()&os.ModeSymlink != 0 && whole != "/" {
			err = fmt.Errorf("/%s in it is a link, which is not followed; mount the host's own there", dir)
		}
	}
	if err != nil {
		return "", fmt.Errorf("--host-root %s: %s; name the folder where the host's / is mounted", root, reason(err))
	}
	return whole, nil
}

// checkMetrics finds what does not go together.
func (k Kubelet) checkMetrics(u *url.URL) error {
	switch {
	case k.Key != "" && k.Cert == "":
		return errors.New("--kubelet-key needs --kubelet-cert, the certificate that it belongs to")
	case u.Scheme == "https" && k.TokenFile != "" && k.CA == "" && loopback(u):
		return errors.New("--kubelet-token-file needs --kubelet-ca: any process of this machine may take the kubelet's port while that is away")
	case u.Scheme == "https":
		return nil
	case k.Cert != "" || k.CA != "":
		return fmt.Errorf("--kubelet-metrics %s: a certificate needs https, such as %s", u, secureMetrics)
	case k.TokenFile != "":
		return fmt.Errorf("--kubelet-metrics %s: the token would be sent unencrypted; use https", u)
	}
	return nil
}

func parseURL(flag, text, example string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%s %q: want a URL such as %s", flag, text, example)
	}
	if u.User != nil {
		instead := ""
		if strings.HasPrefix(flag, "--kubelet-") {
			instead = "; use --kubelet-token-file"
		}
		return nil, fmt.Errorf("%s: leave the password out of the URL%s", flag, instead)
	}
	return u, nil
}

func loopback(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return ip.IsLoopback() || u.Hostname() == "localhost"
}

// checkFiles finds a file that cannot be used, at the start and without a wait: to open a pipe
// may last for ever.
func (k Kubelet) checkFiles() error {
	for _, f := range []struct{ flag, file string }{
		{"--kubelet-ca", k.CA}, {"--kubelet-cert", k.Cert}, {"--kubelet-key", k.Key}, {"--kubelet-token-file", k.TokenFile},
	} {
		if f.file == "" {
			continue
		}
		text, err := smallfile.Read(f.file)
		if err == nil && len(bytes.TrimSpace(text)) == 0 {
			err = errors.New("the file is empty")
		}
		if err != nil {
			return unreadable(f.flag, f.file, err)
		}
	}
	return nil
}

// tlsConfig returns how the kubelet's certificate is checked, and ours is shown.
func (k Kubelet) tlsConfig(u *url.URL) (*tls.Config, error) {
	c, err := promconfig.NewTLSConfig(&promconfig.TLSConfig{
		CAFile: k.CA, CertFile: k.Cert, KeyFile: k.Key,
		InsecureSkipVerify: loopback(u) && k.CA == "", // see Kubelet
	})
	if err != nil {
		return nil, fmt.Errorf("--kubelet-ca, --kubelet-cert and --kubelet-key: %w", err)
	}
	return c, nil
}

// unreadable says of which flag a file cannot be used, and what to do.
func unreadable(flag, file string, err error) error {
	hint := ""
	if errors.Is(err, os.ErrPermission) {
		hint = "; try sudo"
	}
	if failed, ok := errors.AsType[*os.PathError](err); ok {
		file, err = failed.Path, failed.Err
	}
	return fmt.Errorf("%s: %s: %w%s", flag, file, err, hint)
}
