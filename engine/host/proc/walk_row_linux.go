package proc

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/host/reads"
)

// smallBuffer has room for any stat file, which is less than a quarter of it, and for
// the names of some 300 threads at a time.
const smallBuffer = 8 << 10

// A fileAt is a file and where it is.
type fileAt struct {
	File
	path string
}

// fileOf returns a file of a process that is not risky.
func (l *Look) fileOf(pid int, file string) fileAt {
	return fileAt{File{PID: pid, Name: file}, l.dir + "/" + strconv.Itoa(pid) + "/" + file}
}

// fetchAll is fetch for many small files, for a fraction of what it takes: unless one
// hangs they need one goroutine. Read is lent a buffer, and must not keep it.
func fetchAll[T any](l *Look, files []fileAt, read func(f fileAt, buffer []byte) (T, error)) []reads.Answer[T] {
	answers := make([]reads.Answer[T], len(files))
	for next := 0; next < len(files); {
		var keys []File
		var places []int // of the keys among files
		for i := next; i < len(files); i++ {
			if err := l.mayRead(files[i].File); err != nil {
				answers[i].Err = err
				continue
			}
			keys, places = append(keys, files[i].File), append(places, i)
		}
		buffer := make([]byte, smallBuffer)
		got, err := reads.Row(l.ctx, &l.reads, keys, l.timeout, func(i int) (T, error) { return read(files[places[i]], buffer) })
		for i, a := range got {
			answers[places[i]] = a
		}
		if err == nil {
			break
		}
		next = places[len(got)]
		answers[next].Err = err
		next++
	}
	return answers
}

// A statRead is a stat file, as it was at that time.
type statRead struct {
	procfs.ProcStat
	at time.Time
}

// stats reads the stat files of all processes.
func (l *Look) stats(procs procfs.Procs) []reads.Answer[statRead] {
	files := make([]fileAt, len(procs))
	for i, p := range procs {
		files[i] = l.fileOf(p.PID, "stat")
	}
	return fetchAll(l, files, readStat)
}

// readStat reads a stat file of a process or a thread. procfs.Proc.Stat takes three times
// the processor time, and there is one for each process and many threads: see
// BenchmarkStat.
func readStat(f fileAt, buffer []byte) (statRead, error) {
	text, err := ReadLine(f.path, buffer)
	if err != nil {
		return statRead{}, err
	}
	stat, err := parseStat(text)
	return statRead{stat, time.Now()}, err
}

// parseStat reads those fields of a stat file that are of use here (proc_pid_stat(5)).
// The name may have any bytes in it.
func parseStat(text []byte) (s procfs.ProcStat, err error) {
	begin, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if begin < 0 || end < begin {
		return s, fmt.Errorf("malformed stat file: %.100q", text)
	}
	number := func(field []byte) int {
		n, bad := strconv.Atoi(string(field))
		err = cmp.Or(err, bad)
		return n
	}
	s.PID, s.Comm = number(bytes.TrimSpace(text[:begin])), string(text[begin+1:end])
	place := 2
	for field := range bytes.FieldsSeq(text[end+1:]) {
		switch place++; place {
		case 3:
			s.State = string(field)
		case 4:
			s.PPID = number(field)
		case 9:
			s.Flags = uint(number(field))
		case 14:
			s.UTime = uint(number(field))
		case 15:
			s.STime = uint(number(field))
		case 20:
			s.NumThreads = number(field)
		case 22:
			s.Starttime = uint64(number(field))
		case 24:
			s.RSS = number(field)
		case 39:
			s.Processor = uint(number(field))
			return s, err
		}
	}
	return s, fmt.Errorf("malformed stat file: %.100q", text)
}

// ReadLine reads a file of one line in one go, as the kernel hands it out: os.ReadFile
// makes twice as many system calls.
func ReadLine(path string, buffer []byte) (text []byte, err error) {
	fd, err := openSmall(path, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	for len(text) < len(buffer) && !bytes.HasSuffix(text, []byte("\n")) {
		n, err := unix.Read(fd, buffer[len(text):])
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		case n == 0:
			return text, nil
		default:
			text = buffer[:len(text)+n]
		}
	}
	return text, nil
}

// readNumbers returns the names in a folder that are numbers.
func readNumbers(f fileAt, buffer []byte) (numbers []int, err error) {
	fd, err := openSmall(f.path, unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var names []string
	for {
		n, err := unix.ReadDirent(fd, buffer)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return nil, &fs.PathError{Op: "read", Path: f.path, Err: err}
		case n <= 0:
			return numbers, nil
		default:
			_, _, names = unix.ParseDirent(buffer[:n], -1, names[:0])
		}
		for _, name := range names {
			if number, err := strconv.Atoi(name); err == nil {
				numbers = append(numbers, number)
			}
		}
		names = names[:0]
	}
}

func openSmall(path string, flags int) (int, error) {
	for {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|flags, 0)
		if err == nil {
			return fd, nil
		}
		if !errors.Is(err, unix.EINTR) {
			return -1, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}
