package host

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/flavour"
)

// tcpListens is the state of a TCP socket at which somebody listens (TCP_LISTEN), as
// /proc/net/tcp spells it.
const tcpListens = "0A"

// checkKubelet returns an error unless whoever listens at the address of this machine is a
// kubelet of the user root's, going by its socket: any process may take the port while the kubelet
// is away, as during its restart, and would be sent the token. The listeners must be those
// of before the connection was made, which may else be with another one.
func checkKubelet(root string, at net.Addr, before map[uint64]uint64) error {
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
	open := openByKubelets(root)
	for inode, user := range sockets {
		if !slices.Contains(open, fmt.Sprintf("socket:[%d]", inode)) {
			return fmt.Errorf("the token is not sent: port %d is held by user %d, and by no kubelet of root that can be seen%s", address.Port, user, hint)
		}
	}
	return nil
}

// listenersAt returns the sockets that listen at a port, at whichever address, with
// their owners' numbers. This process's own network has them: it is the one that it
// talks over. (procfs reads these tables too, but has deprecated that for netlink, which
// would take more code than these lines.)
func listenersAt(port int) (users map[uint64]uint64, err error) {
	users = map[uint64]uint64{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		file, err := os.Open(table)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a machine may have but one of them
		}
		if err != nil {
			return nil, err
		}
		defer file.Close()
		local := fmt.Sprintf(":%04X", port)
		lines := bufio.NewScanner(file)
		for lines.Scan() {
			f := strings.Fields(lines.Text()) // number, local and remote address, state, ..., user (7), ..., inode (9)
			if len(f) < 10 || !strings.HasSuffix(f[1], local) || f[3] != tcpListens {
				continue
			}
			user, errUser := strconv.ParseUint(f[7], 10, 32)
			inode, errInode := strconv.ParseUint(f[9], 10, 64)
			if err := errors.Join(errUser, errInode); err != nil {
				return nil, fmt.Errorf("reading %s: %w", table, err)
			}
			users[inode] = user
		}
		if err := lines.Err(); err != nil {
			return nil, err
		}
	}
	return users, nil
}

// openByKubelets returns what the kubelets of the host with that root have open that run as the
// user root, as far as that may be seen.
func openByKubelets(root string) (open []string) {
	proc, err := procfs.NewFS(filepath.Join("/", root, "proc"))
	if err != nil {
		return nil
	}
	for _, process := range named(proc, flavour.Kubelets) {
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

// named returns the processes that have one of these names; none if they cannot be read.
func named(processes procfs.FS, names []string) procfs.Procs {
	all, _ := processes.AllProcs()
	return slices.DeleteFunc(all, func(p procfs.Proc) bool {
		comm, err := p.Comm()
		return err != nil || !slices.Contains(names, comm)
	})
}
