//go:build unix

package terminal

import (
	"bytes"
	"errors"
	"io"
	"os"
	"regexp"

	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/cancelreader"
)

// waiting is how many reads of the keyboard are kept for a model that is busy. A
// person does not type so many; of what is pasted the kernel keeps the rest.
const waiting = 64

// An input is the keyboard as Bubble Tea reads it. What reads the terminal runs
// ahead of Bubble Tea, which takes no key while the model is busy, so that ^c is
// seen in any case. It has no name, lest Bubble Tea wait for the terminal itself.
type input struct {
	file        *os.File
	interrupted func() // called for each ^c that is typed

	reader  cancelreader.CancelReader
	stopped chan struct{} // closed to end both sides
	ended   chan struct{} // closed when nothing comes any more
	err     error         // why; valid when ended is closed
	chunks  chan []byte
	rest    []byte // of the chunk that is being read
	tail    []byte // of what was watched, where a mark may have begun
	pasting bool
}

// start begins to read, anew after a stop. What nobody has read is dropped.
func (i *input) start() error {
	reader, err := cancelreader.NewReader(i.file)
	if err != nil {
		return err
	}
	i.reader, i.rest, i.tail, i.pasting = reader, nil, nil, false
	i.stopped, i.ended, i.chunks = make(chan struct{}), make(chan struct{}), make(chan []byte, waiting)
	go i.pump()
	return nil
}

// stop leaves the terminal to others. Whoever waits for a key is told that there
// will be none.
func (i *input) stop() {
	close(i.stopped)
	if i.reader.Cancel() {
		<-i.ended
	}
	_ = i.reader.Close()
}

func (i *input) pump() {
	defer close(i.ended)
	for {
		chunk := make([]byte, 1024)
		n, err := i.reader.Read(chunk)
		if err != nil {
			if i.err = err; errors.Is(err, cancelreader.ErrCanceled) {
				i.err = io.EOF
			}
			return
		}
		i.watch(chunk[:n])
		select {
		case i.chunks <- chunk[:n]:
		case <-i.stopped:
			i.err = io.EOF
			return
		}
	}
}

// marks are the ways in which terminals send ^c, as ever, by the protocol of kitty,
// where caps lock and num lock count, and as xterm's modifyOtherKeys has it; and where
// what is pasted begins and ends.
var marks = regexp.MustCompile(`\x03|\x1b\[(?:99;(?:5|69|133|197)u|27;5;99~|20[01]~)`)

// longest is as long as a mark may be.
const longest = len("\x1b[27;5;99~")

// watch looks for ^c in what was read. What is pasted is no key.
func (i *input) watch(p []byte) {
	p = append(i.tail, p...)
	end := 0
	for _, at := range marks.FindAllIndex(p, -1) {
		end = at[1]
		switch string(p[at[0]:end]) {
		case ansi.BracketedPasteStart:
			i.pasting = true
		case ansi.BracketedPasteEnd:
			i.pasting = false
		default:
			if !i.pasting {
				i.interrupted()
			}
		}
	}
	i.tail = bytes.Clone(p[max(end, len(p)-longest+1):])
}

// Read returns what was typed, io.EOF after a stop.
func (i *input) Read(p []byte) (int, error) {
	if len(i.rest) == 0 {
		select {
		case <-i.stopped:
			return 0, io.EOF
		case i.rest = <-i.chunks:
		case <-i.ended:
			select {
			case i.rest = <-i.chunks: // typed before the end
			default:
				return 0, i.err
			}
		}
	}
	n := copy(p, i.rest)
	i.rest = i.rest[n:]
	return n, nil
}

// Fd returns the terminal, for its modes.
func (i *input) Fd() uintptr { return i.file.Fd() }

// Write is here for Bubble Tea to see a terminal in i; nothing calls it.
func (i *input) Write(p []byte) (int, error) { return i.file.Write(p) }

// Close is here for the same reason and leaves the file open.
func (i *input) Close() error { return nil }
