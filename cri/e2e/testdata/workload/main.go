//go:build linux

// Command workload is the only program in the test image. Without arguments it
// is the pause process of a pod; otherwise its first argument says how to live
// and how to end:
//
//	sleep [SECONDS]        exit 0 after that time (without: never), 143 on SIGTERM
//	exit CODE [SECONDS]    exit with CODE after that time (without: at once)
//	stubborn               ignore SIGTERM and SIGINT: only SIGKILL ends it
//	hog [MIB]              hold that much memory, touched (without: ever more)
//	read                   read a file of the volume, exit 1 if that fails
package main

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) < 2 {
		pause()
		return
	}
	live, ok := lives[os.Args[1]]
	if !ok {
		fmt.Fprintf(os.Stderr, "workload: no such way to live: %q\n", os.Args[1])
		os.Exit(64)
	}
	os.Exit(live(numbers(os.Args[2:])))
}

// lives maps the first argument to what it does. Each takes the numbers that
// follow, absent ones as 0, and returns the exit code.
var lives = map[string]func(a, b int) int{
	"sleep":    sleep,
	"exit":     exit,
	"stubborn": stubborn,
	"hog":      hog,
	"read":     read,
}

func numbers(args []string) (a, b int) {
	var n [2]int
	for i := range min(len(args), len(n)) {
		var err error
		if n[i], err = strconv.Atoi(args[i]); err != nil {
			fmt.Fprintln(os.Stderr, "workload:", err)
			os.Exit(64)
		}
	}
	return n[0], n[1]
}

// pause holds the namespaces of a pod and, as their first process, reaps what
// other processes leave behind.
func pause() {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGCHLD, syscall.SIGTERM, syscall.SIGINT)
	for s := range signals {
		if s != syscall.SIGCHLD {
			return
		}
		reap()
	}
}

func reap() {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if err != nil || pid <= 0 {
			return
		}
	}
}

func sleep(seconds, _ int) int {
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	var done <-chan time.Time
	if seconds > 0 {
		done = time.After(time.Duration(seconds) * time.Second)
	}
	select {
	case <-terminated:
		return 128 + int(syscall.SIGTERM)
	case <-done:
		return 0
	}
}

func exit(code, seconds int) int {
	time.Sleep(time.Duration(seconds) * time.Second)
	return code
}

func stubborn(_, _ int) int {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
	for {
		time.Sleep(time.Hour)
	}
}

// hog touches every page, because memory that nobody wrote to is not charged.
func hog(mib, _ int) int {
	var held [][]byte
	for mib == 0 || len(held) < mib {
		block := make([]byte, 1<<20)
		for i := 0; i < len(block); i += 4096 {
			block[i] = 1
		}
		held = append(held, block)
	}
	return sleep(0, len(held))
}

func read(_, _ int) int {
	if _, err := os.ReadFile("/volume/file"); err != nil {
		fmt.Fprintln(os.Stderr, "workload:", err)
		return 1
	}
	return 0
}
