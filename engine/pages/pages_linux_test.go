package pages

import (
	"bytes"
	"os"
	"strconv"
	"testing"
)

// TestGiveBack holds that a program has fewer pages of its file after it has given them back, and
// goes on.
func TestGiveBack(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(program); err != nil || len(text) == 0 { // all of it is in the kernel's cache
		t.Fatal(err)
	}
	before := ofFiles(t)
	if err := GiveBack(); err != nil {
		t.Fatal(err)
	}
	if after := ofFiles(t); after >= before {
		t.Errorf("%d kB of files before, %d after", before, after)
	}
}

// ofFiles returns how much of the process's memory is pages of files, in kB.
func ofFiles(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(status, []byte("\nRssFile:"))
	kB, err := strconv.Atoi(string(bytes.Fields(rest)[0]))
	if err != nil {
		t.Fatal(err)
	}
	return kB
}
