package terminal

import (
	"os"
	"testing"

	"github.com/creack/pty"
)

func TestWidth(t *testing.T) {
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer slave.Close()
	for columns, want := range map[uint16]int{0: 80, 33: 33} {
		if err := pty.Setsize(slave, &pty.Winsize{Rows: 10, Cols: columns}); err != nil {
			t.Fatal(err)
		}
		if got := Width(slave); got != want {
			t.Errorf("a terminal of %d columns has width %d, want %d", columns, got, want)
		}
	}
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if got := Width(file); got != 0 {
		t.Errorf("a file has width %d", got)
	}
}
