package terminal

import (
	"errors"
	"os"
	"syscall"
)

// They are none, and never come: no shell stops a program here, and the console itself tells its size.
const stopSignal, contSignal, sizeSignal = syscall.Signal(-1), syscall.Signal(-1), syscall.Signal(-1)

// kill fails: a process can only be ended.
func kill(int, syscall.Signal) error { return errors.ErrUnsupported }

// stoodIn is false: what is closed stays so.
func stoodIn(*os.File) bool { return false }

// An input is the console, whose events Bubble Tea reads by itself: keys, and that its size is
// another one, which no signal tells here. So no ^c ends a model that is busy.
type input struct {
	file        *os.File
	interrupted func() // never called
}

func (i *input) start() error                { return nil }
func (i *input) stop()                       {}
func (i *input) Read(p []byte) (int, error)  { return i.file.Read(p) }
func (i *input) Write(p []byte) (int, error) { return i.file.Write(p) }
func (i *input) Close() error                { return nil }
func (i *input) Fd() uintptr                 { return i.file.Fd() }
func (i *input) Name() string                { return i.file.Name() }
