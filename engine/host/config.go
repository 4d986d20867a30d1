// Package host looks at the node itself: its processes, disks, limits, clock, init system, kernel log
// and kubelet. It also reads what the runtime shows outside of CRI, such as a dump of its goroutines.
// The result is an [evidence.Report].
//
// A look never fails and takes 2 s at most. Each part of the report says for itself why it is missing.
// A read that the kernel or a server does not answer is left behind, and not begun again until it comes
// back. So whatever hangs costs one goroutine for each part, and one each for the mount table, the
// configuration and the list of bundles; three more for the processes, four for the bundles, two for the
// runtime and one for each FUSE mount that is asked.
//
// Nothing on the node is changed, and nothing outside of it is asked unless a flag names it. Parts that
// ask the runtime (its dump of goroutines, its metrics) are read only in deep looks, while something
// hangs.
//
// Package proc reads the processes, package cgroup is the event source of the kernel, package reads
// starts every goroutine.
package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A Config says which node to look at, and how to ask its kubelet and its runtime.
type Config struct {
	Root        string // the folder where the root of the host is mounted; "" is /
	Endpoint    string // the runtime's socket: it decides which processes belong to our runtime
	RuntimeRoot string // the runtime's data folder on the host; "" finds it
	Kubelet     Kubelet
	Runtime     Runtime
	Offline     bool // Root is a picture of a node: no kubelet, no plegtop in it, disks without figures
}

// A Runtime says how to ask the runtime for what CRI does not tell. It is asked only in deep looks.
type Runtime struct {
	// DebugSocket is the path, as plegtop sees it, of the socket that has the dump of goroutines.
	// "" is containerd's debug socket, or CRI-O's own one, if the runtime at the endpoint listens there.
	DebugSocket string
	NoDump      bool // forbids the dump, from a socket and from a file

	// Metrics is the URL of containerd's metrics. "" is the address in its configuration, if that is
	// on loopback. A certificate on loopback is not checked.
	Metrics string
}

// A Kubelet says how to ask the kubelet. All files are named as plegtop sees them.
//
// Most kubelets sign their own certificate. On loopback plegtop checks the certificate only if CA is given.
// Elsewhere it always checks it, and without CA it trusts the authorities of the system. It sends a token only
// after it has checked the certificate, because any process can take the port while the kubelet is away. The
// key of a client certificate never leaves plegtop.
type Kubelet struct {
	// Healthz is the URL of the ping; "" is http://127.0.0.1:10248/healthz. It gets no credentials.
	Healthz string

	// Metrics is a URL; "" is the read-only port, http://127.0.0.1:10255/metrics, or with credentials
	// https://127.0.0.1:10250/metrics. The kubelet's /healthz is asked at the same port.
	Metrics string

	// Cert and Key are the files of the client certificate and its key. They rotate, so they are read
	// again for each request. Without Key, the file of Cert holds both, as kubelet-client-current.pem.
	Cert, Key string

	TokenFile string // a bearer token, read again for each request
	CA        string // the authorities that may have signed the kubelet's certificate
}

// hostRoots are the usual places of the node's root in a container: the first one in kubectl debug, oc debug
// and talosctl debug, then in Bottlerocket's admin container, then in toolbox.
var hostRoots = []string{"/host", "/.bottlerocket/rootfs", "/run/host"}

// FindRoot returns the folder where the host's root is mounted. It returns root if that is given, else the
// usual place in a container that has it, else "" for our own root.
func FindRoot(root string) string {
	if root != "" {
		return root
	}
	return findRoot("/", hostRoots)
}

// findRoot returns the first place that has a /proc whose first process has other mounts than we have.
// A folder for chroot also has a /proc, but the same mounts.
func findRoot(own string, places []string) string {
	const mounts = "ns/mnt" // only root may read this link of another process
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

// CheckRoot returns the host's root as an absolute path, or "" for our own. The error says what is wrong
// with --host-root and what to name instead. Safe for concurrent use.
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
	for _, dir := range []string{"proc", "sys"} { // we read whole paths below these folders, and a link would lead out of the root
		if is, missing := os.Lstat(filepath.Join(whole, dir)); err == nil && missing == nil && is.Mode()&os.ModeSymlink != 0 && whole != "/" {
			err = fmt.Errorf("/%s in it is a link, which is not followed; mount the host's own there", dir)
		}
	}
	if err != nil {
		return "", fmt.Errorf("--host-root %s: %s; name the folder where the host's / is mounted", root, reason(err))
	}
	return whole, nil
}

// reason returns the bare cause of an error, for texts that name the file themselves.
func reason(err error) string {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return failed.Err.Error()
	}
	return err.Error()
}

// advise returns the error with what to do about it.
func advise(err error, todo string) error { return fmt.Errorf("%w: %s", err, todo) }
