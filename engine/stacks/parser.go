package stacks

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

// A goroutine is what the dump says of one goroutine.
type goroutine struct {
	evidence.Goroutine         // without Frames
	parent             int     // the number of the goroutine that started it; 0 before Go 1.21
	frames             []frame // the innermost first
	group              *group  // group and lock are set by dump.add
	lock               *lock   // the lock that it waits for; nil if it waits for none
}

// A frame is a function of a stack, and the address of what it works on.
type frame struct {
	*function        // nil if there are too many functions
	at        uint64 // 0 if the dump does not say it
	inexact   bool   // Go marks the address: it may be an older value
}

// A parser cuts the text into goroutines.
type parser struct {
	found     func(*goroutine) // called with each whole goroutine, which it must copy
	functions map[string]*function

	goroutine      // the goroutine that is being read
	open      bool // its header was read, its end was not
	broken    bool // it has a line that Go does not write
	placed    bool // the file and line of the last function were read
	created   bool // the line of the function that started it was read
}

// read reads all lines. A line that is too long breaks its goroutine. At the end of the text a goroutine counts
// only if it is whole.
func (p *parser) read(r io.Reader) error {
	lines := bufio.NewReaderSize(r, maxLine)
	for {
		line, tooLong, err := lines.ReadLine()
		for more := tooLong; more && err == nil; {
			_, more, err = lines.ReadLine()
		}
		p.broken = p.broken || tooLong
		switch {
		case errors.Is(err, io.EOF):
			p.end(true)
			return nil
		case err != nil:
			return fmt.Errorf("read a dump of goroutines: %w", err)
		case !tooLong:
			p.line(line)
		}
	}
}

// line reads one line. A function has two: its name with arguments, and after a tab its file and line.
func (p *parser) line(line []byte) {
	switch {
	case bytes.HasPrefix(line, []byte("goroutine ")) && p.header(line):
	case !p.open:
	case len(line) == 0:
		p.end(false)
	case line[0] == '\t':
		p.broken = p.broken || p.placed
		p.placed = true // "stack unavailable" is such a line, without a function before it
	case !p.placed && len(p.frames) > 0, p.created && line[0] != '[':
		p.broken = true
	case bytes.HasPrefix(line, []byte("created by ")):
		p.created, p.placed = true, false
		_, number, _ := bytes.Cut(line, []byte(" in goroutine "))
		p.parent, _ = strconv.Atoi(string(number))
	case p.created && bytes.HasPrefix(line, []byte("[originating from goroutine ")):
		p.end(false) // what follows is about the goroutines that started it
	case bytes.HasPrefix(line, []byte("...")) && bytes.HasSuffix(line, []byte("frames elided...")):
	default:
		p.frame(line)
	}
}

// header begins a goroutine if line is one of
//
//	goroutine 7 [select, 12 minutes, locked to thread]:
//	goroutine 7 gp=0xc000002380 m=nil [sync.Mutex.Lock (scan), synctest bubble 3 labels:{"a": "b"}]:
func (p *parser) header(line []byte) bool {
	rest, closed := bytes.CutSuffix(line[len("goroutine "):], []byte("]:"))
	before, state, opened := bytes.Cut(rest, []byte(" ["))
	digits, _, _ := bytes.Cut(before, []byte(" "))
	number, err := strconv.Atoi(string(digits))
	if !closed || !opened || err != nil || number <= 0 {
		return false
	}
	p.end(true)
	p.goroutine = goroutine{Goroutine: evidence.Goroutine{Number: number}, frames: p.frames[:0]}
	p.open, p.broken, p.placed, p.created = true, false, false, false

	state, _, _ = bytes.Cut(state, []byte(" labels:{"))
	state, details, _ := bytes.Cut(state, []byte(", "))
	for detail := range bytes.SplitSeq(details, []byte(", ")) {
		if n, is := bytes.CutSuffix(detail, []byte(" minutes")); is {
			minutes, err := strconv.ParseUint(string(n), 10, 23) // 2^23 minutes are 16 years
			p.For, p.broken = time.Duration(minutes)*time.Minute, p.broken || err != nil
		}
	}
	for _, mark := range []string{" (durable)", " (scan)", " (leaked)"} {
		state = bytes.TrimSuffix(state, []byte(mark))
	}
	if p.broken = p.broken || len(state) > maxState; !p.broken {
		p.State = string(state)
	}
	return true
}

// frame reads name(arguments). The name may have parentheses, the arguments have none.
func (p *parser) frame(line []byte) {
	open := bytes.LastIndexByte(line, '(')
	if open <= 0 || line[len(line)-1] != ')' {
		p.broken = true
		return
	}
	p.placed = false
	if p.broken || len(p.frames) == maxFrames {
		return
	}
	name, arguments := line[:open], line[open+1:len(line)-1]
	f, known := p.functions[string(name)]
	switch {
	case known:
	case len(name) > maxName || bytes.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\uFFFD' }):
		p.broken = true
		return
	case len(p.functions) < maxNames:
		f = newFunction(string(name))
		f.id = uint16(len(p.functions))
		p.functions[f.name] = f
	}
	at, inexact := f.worksOn(arguments)
	p.frames = append(p.frames, frame{f, at, inexact})
}

// end passes the goroutine on if it is whole. cut says that there is no blank line after it. Then the text may
// be cut off, so its last line must be about the function that started the goroutine.
func (p *parser) end(cut bool) {
	whole := p.placed || len(p.frames) == 0 && !cut
	if cut && !p.created {
		var last frame
		if n := len(p.frames); n > 0 {
			last = p.frames[n-1]
		}
		whole = whole && last.function != nil && (last.name == "main.main" || last.pkg == "runtime")
	}
	if p.open && !p.broken && whole {
		p.found(&p.goroutine)
	}
	p.open = false
}
