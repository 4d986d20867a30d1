package sim

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// kernelAges returns how old the lines of the node's kernel log are that have that text, the
// oldest first.
func kernelAges(t *testing.T, s *Server, text string) (ages []time.Duration) {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(s.HostRoot(), "dev/kmsg"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(log)) {
		record := regexp.MustCompile(`^3,\d+,(\d+),-;(.*)\n$`).FindStringSubmatch(line)
		if record == nil {
			t.Fatalf("%q is no record", line)
		}
		if micros, _ := strconv.ParseInt(record[1], 10, 64); strings.Contains(record[2], text) {
			ages = append(ages, upBefore-time.Duration(micros)*time.Microsecond)
		}
	}
	return ages
}

// The kernel has said for minutes that the store fails, and goes on to, until the file
// system is mounted anew.
func TestFailingStore(t *testing.T) {
	const word = "(WRITE)"
	s, c := start(t, "failing-store")
	ages := kernelAges(t, s, word)
	if len(ages) != 5 || ages[0] != sickFor || ages[4] != 0 {
		t.Errorf("the log's lines are %v old", ages)
	}
	if got := answers(t, s, 0, basicCalls(c)); len(got) != len(basicCalls(c)) {
		t.Errorf("only these calls are answered: %v", got)
	}
	later, _ := begin(t, "failing-store", 10*time.Minute)
	if ages := kernelAges(t, later, word); ages[len(ages)-1] > 30*time.Second {
		t.Errorf("the last line is %v old", ages[len(ages)-1])
	}
	if n := len(later.scene.log); n > logRoom {
		t.Errorf("%d lines are kept", n)
	}
	if err := s.setFault("failing-store", false); err != nil {
		t.Fatal(err)
	}
	if ages := kernelAges(t, s, "mounted filesystem"); len(ages) != 1 {
		t.Errorf("the file system was mounted again %d times", len(ages))
	}
	if ages := kernelAges(t, s, word); len(ages) != 5 {
		t.Errorf("the log has %d lines, want what was said before", len(ages))
	}
}
