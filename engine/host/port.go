package host

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"path/filepath"
	"slices"

	"github.com/prometheus/procfs"
)

// tcpListens is the state of a TCP socket at which somebody listens (TCP_LISTEN).
const tcpListens = 10

// A ports tells who listens at the ports of this machine. Its root is that of the
// host: the processes are looked for in its /proc.
type ports struct{ root string }

// checkKubelet returns an error unless whoever listens at the address is a kubelet
// of root's, going by its socket: any process may take the port while the kubelet
// is away, as during its restart, and would be sent the token. The listeners must be those
// of before the connection was made, which may else be with another one.
func (p ports) checkKubelet(at net.Addr, before map[uint64]uint64) error {
	const hint = "; give --kubelet-ca, then it is sent to whoever has the kubelet's certificate"
	address, ok := at.(*net.TCPAddr)
	if !ok || !address.IP.IsLoopback() { // whatever localhost may stand for
		return fmt.Errorf("the token is not sent: %v is no address of the loopback%s", at, hint)
	}
	sockets, err := listenersAt(address.Port)
	if err != nil || len(sockets) == 0 {
		return fmt.Errorf("the token is not sent: it cannot be seen who listens at port %d%s", address.Port, hint)
	}
	if !maps.Equal(before, sockets) {
		return fmt.Errorf("the token is not sent: port %d has just changed hands", address.Port)
	}
	open := p.ofKubelets()
	for inode, user := range sockets {
		if !slices.Contains(open, fmt.Sprintf("socket:[%d]", inode)) {
			return fmt.Errorf("the token is not sent: port %d is held by user %d, and by no kubelet of root that can be seen%s", address.Port, user, hint)
		}
	}
	return nil
}

// listenersAt returns the sockets that listen at a port, at whichever address, with
// their owners' numbers. This process's own network has them: it is the one that it
// talks over.
func listenersAt(port int) (users map[uint64]uint64, err error) {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, err
	}
	users = map[uint64]uint64{}
	for _, read := range []func() (procfs.NetTCP, error){proc.NetTCP, proc.NetTCP6} {
		table, err := read()
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // a machine may have but one of them
			return nil, err
		}
		for _, s := range table {
			if s.LocalPort == uint64(port) && s.St == tcpListens {
				users[s.Inode] = s.UID
			}
		}
	}
	return users, nil
}

// ofKubelets returns what the kubelets that run as root have open, as far as
// that may be seen.
func (p ports) ofKubelets() (open []string) {
	proc, err := procfs.NewFS(filepath.Join("/", p.root, "proc"))
	if err != nil {
		return nil
	}
	all, err := proc.AllProcs()
	if err != nil {
		return nil
	}
	for _, process := range all {
		comm, err := process.Comm()
		if err != nil || !slices.Contains(kubelets, comm) {
			continue
		}
		if status, err := process.NewStatus(); err != nil || status.UIDs != [4]uint64{} {
			continue
		}
		files, err := process.FileDescriptorTargets()
		if err == nil {
			open = append(open, files...)
		}
	}
	return open
}
