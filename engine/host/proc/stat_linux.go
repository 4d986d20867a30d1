package proc

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/evidence"
)

const (
	// Ticks is the number of units in a second, for the times in /proc/PID/stat, on all platforms of Go.
	Ticks = 100

	// kernelThread is the flag of a thread of the kernel (PF_KTHREAD).
	kernelThread = 0x00200000

	// smallBuffer has room for any stat file (at most 2 KiB) and for the names of 300 threads at a time.
	smallBuffer = 8 << 10
)

// A statRead is a stat file and when it was read.
type statRead struct {
	procfs.ProcStat
	at time.Time
}

// StateOf returns the state of a process by its stat file; 0 if that has none.
func StateOf(stat procfs.ProcStat) evidence.State {
	if stat.State == "" {
		return 0
	}
	return evidence.State(stat.State[0])
}

// readStat reads a stat file of a process or a thread. procfs.Proc.Stat takes 2.5 times the
// processor time (BenchmarkStat), and each look reads a thousand.
func readStat(path string, buffer []byte) (statRead, error) {
	text, err := ReadLine(path, buffer)
	if err != nil {
		return statRead{}, err
	}
	stat, err := parseStat(text)
	return statRead{stat, time.Now()}, err
}

// parseStat reads the fields of a stat file that are used here (proc_pid_stat(5)). The name
// may have any bytes in it.
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

// ReadLine reads a small file of the kernel into the buffer, up to the end of a line.
// os.ReadFile makes twice as many system calls.
func ReadLine(path string, buffer []byte) (text []byte, err error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	for len(text) < len(buffer) && !bytes.HasSuffix(text, []byte("\n")) {
		n, err := unix.Read(fd, buffer[len(text):])
		if err != nil {
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		}
		if n == 0 {
			break
		}
		text = buffer[:len(text)+n]
	}
	return text, nil
}

// readNumbers returns the names in a folder that are numbers.
func readNumbers(path string, _ []byte) (numbers []int, err error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	for _, name := range names {
		if number, err := strconv.Atoi(name); err == nil {
			numbers = append(numbers, number)
		}
	}
	return numbers, err
}

// statOf returns the stat file of a task.
func statOf(t task) fileAt { return fileAt{File{PID: t.of, Name: "stat"}, t.dir + "/stat"} }

// tasksOf returns the folder of a process's threads.
func (l *Look) tasksOf(p *process) fileAt {
	return fileAt{File{PID: p.of, Name: "task"}, l.dir + "/" + strconv.Itoa(p.of) + "/task"}
}

// stackOf returns the functions in /proc/PID/stack, whose lines are like
// "[<0>] do_signal_stop+0x16f/0x210". Older kernels end with a line of 0xffffffff.
func stackOf(text string) (functions []string) {
	for line := range strings.Lines(text) {
		if _, after, ok := strings.Cut(line, "] "); ok {
			line = after
		}
		line, _, _ = strings.Cut(strings.TrimSpace(line), "+0x")
		if line != "" && !strings.HasPrefix(line, "0xffffffff") {
			functions = append(functions, line)
		}
	}
	return functions
}

// Uptime returns the time in /proc/uptime; 0 if there is none.
func Uptime(text string) time.Duration {
	first, _, _ := strings.Cut(text, " ")
	up, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0
	}
	return time.Duration(up * float64(time.Second))
}
