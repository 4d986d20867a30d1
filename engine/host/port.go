package host

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/prometheus/procfs"
)

// tcpListens is the state of a TCP socket at which somebody listens (TCP_LISTEN).
const tcpListens = 10

// A ports tells who listens at the ports of this machine. Its root is that of the
// host: the processes are looked for in its /proc.
type ports struct{ root string }

// checkKubelet returns an error unless whoever listens at the address is a kubelet
// of root's, going by its socket: any process may take the port while the kubelet
// is away, as during its restart, and would be sent the token.
func (p ports) checkKubelet(at net.Addr) error {
	const hint = "; give --kubelet-ca, then it is sent to whoever has the kubelet's certificate"
	address, ok := at.(*net.TCPAddr)
	if !ok {
		return fmt.Errorf("the token is not sent: %v is no TCP address", at)
	}
	sockets, err := listenersAt(address)
	if err != nil {
		return fmt.Errorf("the token is not sent: cannot see who listens at port %d: %w%s", address.Port, err, hint)
	}
	open := p.ofKubelets()
	for inode, user := range sockets {
		if !slices.Contains(open, "socket:["+strconv.FormatUint(inode, 10)+"]") {
			return fmt.Errorf("the token is not sent: port %d is held by user %d, and by no kubelet of root that can be seen%s", address.Port, user, hint)
		}
	}
	return nil
}

// listenersAt returns the sockets that listen at an address, as this process would
// reach them, with their owners' numbers. There is at least one without an error.
func listenersAt(at *net.TCPAddr) (users map[uint64]uint64, err error) {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, err
	}
	tables, err := proc.NetTCP()
	if err != nil {
		return nil, err
	}
	if six, err := proc.NetTCP6(); err == nil { // a machine may have none
		tables = append(tables, procfs.NetTCP(six)...)
	}
	users = map[uint64]uint64{}
	for _, line := range tables {
		if line.St == tcpListens && line.LocalPort == uint64(at.Port) && (line.LocalAddr.IsUnspecified() || line.LocalAddr.Equal(at.IP)) {
			users[line.Inode] = line.UID
		}
	}
	if len(users) == 0 {
		return nil, errors.New("nobody is seen to")
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
