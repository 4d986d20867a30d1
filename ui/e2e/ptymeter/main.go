// Command ptymeter runs a program in a pseudo-terminal and prints, on one line,
// how soon it draws, how much it writes, and what it costs.
//
//	ptymeter --size 120x40 --seconds 15 -- plegtop --demo
//	ptymeter --presses 40 -- plegtop -r unix:///tmp/plegtop-1/cri.sock
//
// first is the time from the start to the first byte, frame to the first screen
// whose first and last row hold something, or that holds the text of --until;
// bytes/s and cpu (100 % is one core) are averages after --settle; rss is the
// peak of the whole run. With --presses it also prints within what time half and nine
// tenths of so many ? opened or closed the help, and how soon ^c ended the program.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
	"github.com/spf13/pflag"

	"github.com/plegtop/plegtop/ui/e2e"
)

func main() {
	size := pflag.String("size", "120x40", "columns and rows of the terminal")
	seconds := pflag.Float64("seconds", 15, "how long to measure, after settling")
	settle := pflag.Float64("settle", 3, "how long to wait before measuring")
	until := pflag.String("until", "", "a text that the first full frame holds")
	keys := pflag.String("keys", "", "keys to press after the first full frame, in Go's notation, such as 2 or \\x1b")
	presses := pflag.Int("presses", 0, "how often to open and close the help, and measure that")
	pflag.Parse()
	m := meter{presses: *presses, settle: span(*settle), length: span(*seconds), until: *until, keys: *keys}
	if _, err := fmt.Sscanf(*size, "%dx%d", &m.columns, &m.rows); err != nil || pflag.NArg() == 0 {
		pflag.Usage()
		os.Exit(2)
	}
	line, err := m.measure(pflag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "ptymeter:", err)
		os.Exit(1)
	}
	fmt.Println(line)
}

func span(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

type meter struct {
	columns, rows  int
	settle, length time.Duration
	until, keys    string
	presses        int
}

func (m meter) measure(command []string) (string, error) {
	keys, err := strconv.Unquote(`"` + m.keys + `"`)
	if err != nil {
		return "", fmt.Errorf("--keys %q: %w", m.keys, err)
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color")
	t, err := e2e.Start(cmd, m.columns, m.rows)
	if err != nil {
		return "", err
	}
	defer t.Close()
	frame, err := t.Wait("the first full frame", 10*time.Second, m.full)
	if err != nil {
		return "", err
	}
	if err := t.Type(keys); err != nil {
		return "", fmt.Errorf("press keys: %w", err)
	}
	time.Sleep(m.settle)
	cost, err := m.cost(t)
	if err != nil {
		return "", err
	}
	if m.presses > 0 {
		answers, err := m.press(t)
		if err != nil {
			return "", err
		}
		cost += answers
	} else {
		_ = t.Signal(syscall.SIGTERM)
	}
	if _, err := t.Ended(5 * time.Second); err != nil {
		return "", err
	}
	return fmt.Sprintf("%-40s %dx%d first=%dms frame=%dms %s", strings.Join(command, " "), m.columns, m.rows,
		t.First().Milliseconds(), frame.Milliseconds(), cost), nil
}

// helped is in the help, and nowhere else.
const helped = "show or hide this help"

// press measures how soon keys are answered, and then ends the program by one.
func (m meter) press(t *e2e.Terminal) (string, error) {
	var took []time.Duration
	for i := range m.presses {
		time.Sleep(time.Duration(130+i*29%90) * time.Millisecond) // not in step with the program
		began := time.Now()
		if err := t.Type("?"); err != nil {
			return "", fmt.Errorf("press a key: %w", err)
		}
		open := i%2 == 0
		if _, err := t.Wait("the help", 20*time.Second, func(lines []string) bool {
			return strings.Contains(strings.Join(lines, "\n"), helped) == open
		}); err != nil {
			return "", err
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	began := time.Now()
	if err := t.Type("\x03"); err != nil {
		return "", fmt.Errorf("press ^c: %w", err)
	}
	if _, err := t.Ended(20 * time.Second); err != nil {
		return "", err
	}
	return fmt.Sprintf(" keys p50=%dms p90=%dms ^c=%dms", took[len(took)/2].Milliseconds(), took[len(took)*9/10].Milliseconds(),
		time.Since(began).Milliseconds()), nil
}

// full reports whether lines are the first full frame.
func (m meter) full(lines []string) bool {
	if m.until != "" {
		return strings.Contains(strings.Join(lines, "\n"), m.until)
	}
	return len(lines) == m.rows && lines[0] != "" && lines[m.rows-1] != ""
}

// cost measures what the program writes and uses from now on.
func (m meter) cost(t *e2e.Terminal) (string, error) {
	process, err := procfs.NewProc(t.Process())
	if err != nil {
		return "", err
	}
	began, written := time.Now(), t.Written()
	before, err := process.Stat()
	if err != nil {
		return "", err
	}
	time.Sleep(m.length)
	after, err := process.Stat()
	if err != nil {
		return "", err
	}
	peak, err := process.NewStatus()
	if err != nil {
		return "", err
	}
	took := time.Since(began).Seconds()
	return fmt.Sprintf("bytes/s=%.0f cpu=%.2f%% rss=%.1fMB",
		float64(t.Written()-written)/took, 100*(after.CPUTime()-before.CPUTime())/took, float64(peak.VmHWM)/(1<<20)), nil
}
