package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/host/reads"
)

// A File names a read. Most files of a process are risky: to read one, the kernel takes a lock that may be held
// for ever, by the process or by the program that moves it between control groups. The list of processes, their
// threads and the stat files need no such lock.
type File struct {
	PID   int // 0 for a file of no process
	Name  string
	Risky bool
}

// mostStuck is how many risky reads may be left behind: each keeps a goroutine and a thread.
const mostStuck = 2

var errRefused = errors.New("not read, since other reads do not come back")

// Fetch returns what read returns, or an error if that takes longer than the walker's timeout. A read that
// takes too long is left behind. Until it comes back, no file of that process with the same risk is read.
func Fetch[T any](l *Look, f File, read func() (T, error)) (value T, err error) {
	if err := l.mayRead(f); err != nil {
		return value, err
	}
	return reads.Start(&l.w.reads, f, read).Wait(l.ctx, l.w.Timeout)
}

// mayRead returns why a file must not be read now; nil if it may be read. While mostStuck reads are left
// behind, no risky file is read, but harmless ones are. While one more is left behind, nothing is read.
func (l *Look) mayRead(f File) error {
	if err := l.ctx.Err(); err != nil {
		return err
	}
	stuck := l.w.reads.Keys()
	if i := slices.IndexFunc(stuck, func(s File) bool { return s.PID == f.PID && s.Risky == f.Risky }); i >= 0 {
		return l.w.reads.Stuck(stuck[i])
	}
	if len(stuck) > mostStuck || f.Risky && len(stuck) == mostStuck {
		return errRefused
	}
	return nil
}

// Text returns a small file of the host's /proc or /sys, whose path has no link in it.
func (l *Look) Text(f File, path string) (string, error) {
	return Fetch(l, f, textOf(filepath.Join(l.w.Root, path)))
}

func textOf(path string) func() (string, error) {
	return func() (string, error) {
		data, err := os.ReadFile(path)
		if err != nil {
			return "", err // no part of the text
		}
		return string(data), nil
	}
}

// A fileAt is a file and its path.
type fileAt struct {
	File
	path string
}

// fetchAll is Fetch for many small files, at a fraction of the cost: it needs one goroutine
// unless a read hangs. read borrows the buffer and must not keep it.
func fetchAll[T any](l *Look, files []fileAt, read func(path string, buffer []byte) (T, error)) []reads.Answer[T] {
	answers := make([]reads.Answer[T], len(files))
	for next := 0; next < len(files); next++ { // past one that hangs
		var keys []File
		var places []int // of the keys among files
		for i := next; i < len(files); i++ {
			if answers[i].Err = l.mayRead(files[i].File); answers[i].Err == nil {
				keys, places = append(keys, files[i].File), append(places, i)
			}
		}
		buffer := make([]byte, smallBuffer)
		got, err := reads.Row(l.ctx, &l.w.reads, keys, l.w.Timeout, func(i int) (T, error) { return read(files[places[i]].path, buffer) })
		for i, a := range got {
			answers[places[i]] = a
		}
		if err == nil {
			break
		}
		next = places[len(got)]
		answers[next].Err = err
	}
	return answers
}

// A task is a thread whose files are read. The files of a process are those of its first thread. If that thread
// has ended, the kernel keeps neither its memory nor its files nor its mounts. Then the files of another thread
// are read.
type task struct {
	procfs.Proc
	of  int    // the process
	dir string // the folder of the files
}

// first returns the first thread of a process.
func (l *Look) first(p procfs.Proc) task { return task{p, p.PID, l.dir + "/" + strconv.Itoa(p.PID)} }

// thread returns another thread of the process of t; t itself for 0, and if the process has ended.
func (l *Look) thread(t task, number int) task {
	if number == 0 {
		return t
	}
	p, err := l.fs.Thread(t.of, number)
	if err != nil {
		return t
	}
	return task{p, t.of, fmt.Sprintf("%s/%d/task/%d", l.dir, t.of, number)}
}

// ask reads a risky file of a task.
func ask[T any](l *Look, t task, name string, read func() (T, error)) (T, error) {
	return Fetch(l, File{t.of, name, true}, read)
}

// text returns a small file of a task; empty if it cannot be read.
func (l *Look) text(t task, name string) string {
	risky := name != "sched" && name != "schedstat" && name != "comm"
	text, _ := Fetch(l, File{t.of, name, risky}, textOf(t.dir+"/"+name))
	return text
}

// link returns where a link of a task leads; empty if that cannot be read.
func (l *Look) link(t task, name string) string {
	to, _ := ask(l, t, name, func() (string, error) { return os.Readlink(t.dir + "/" + name) })
	return to
}

// gaps are the reasons why processes may be missing.
type gaps struct {
	denied, unread   int
	late             []int // processes whose read was left behind
	hidden, confined bool
	cut              string
	hanging          []File
}

// miss reports whether a read of a process failed. It counts the failure among the gaps, unless the process or
// ctx has ended.
func (l *Look) miss(pid int, err error) bool {
	_, stuck := errors.AsType[reads.StuckError](err)
	switch {
	case err == nil:
		return false
	case stuck:
		l.gaps.late = append(l.gaps.late, pid)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ESRCH), l.ctx.Err() != nil:
	case errors.Is(err, fs.ErrPermission):
		l.gaps.denied++
	default:
		l.gaps.unread++
	}
	return true
}

// hanging returns the reads that were left behind and have not come back, by process.
func (w *Walker) hanging() []File {
	return slices.SortedFunc(slices.Values(w.reads.Keys()), func(a, b File) int { return a.PID - b.PID })
}

func (g gaps) String() string {
	var why []string
	add := func(is bool, text string) {
		if is {
			why = append(why, text)
		}
	}
	count := func(n int) string {
		if n == 1 {
			return "1 process"
		}
		return fmt.Sprintf("%d processes", n)
	}
	add(g.cut != "", g.cut)
	for _, f := range g.hanging {
		of := fmt.Sprintf(" of process %d", f.PID)
		if f.PID == 0 {
			of = ""
		}
		add(true, "reading "+f.Name+of+" hangs")
	}
	add(g.unread > 0, "could not read "+count(g.unread))
	add(g.denied > 0, "denied for "+count(g.denied)+": try sudo")
	add(g.hidden, "the processes of other users are hidden: try sudo")
	add(g.confined, "only the processes of a container are there, and no runtime: give the pod hostPID: true")
	return strings.Join(why, "; ")
}
