package stacks

import (
	"bytes"
	"strconv"
)

// A goroutine is the one that is being read.
type goroutine struct {
	open    bool // its header was read, and its end was not
	broken  bool // something in it is not as Go writes it
	done    bool // what follows is of those that started it
	created bool // the line of who started it was read
	place   bool // the last function's file and line were read: each line of a function has one
	number  int
	parent  int // the number of who started it; 0 if that is not known: before Go 1.21
	minutes int32
	state   string
	frames  []frame // the innermost first
}

// A frame is one function of a stack, and what it works on.
type frame struct {
	function int32 // by its place in the table
	on       address
}

// An address is an argument of a function, 0 if it is not known.
type address struct {
	at      uint64
	inexact bool // Go marks it: it may be of what stood there before
}

// line takes one line of the dump, without its end.
func (d *dump) line(line []byte) {
	g := &d.reading
	switch {
	case bytes.HasPrefix(line, []byte("goroutine ")) && d.header(line):
	case !g.open:
	case len(line) == 0:
		d.end()
	case g.done:
	case line[0] == '\t':
		g.broken = g.broken || g.place
		g.place = true
	case !g.place && len(g.frames) > 0, g.created && line[0] != '[':
		g.broken = true
	case bytes.HasPrefix(line, []byte("created by ")):
		g.created, g.place = true, false
		if _, number, told := bytes.Cut(line, []byte(" in goroutine ")); told {
			g.parent, _ = strconv.Atoi(string(number))
		}
	case bytes.HasPrefix(line, []byte("[originating from goroutine ")):
		g.done = true
	case bytes.HasPrefix(line, []byte("...")) && bytes.HasSuffix(line, []byte("frames elided...")):
	default:
		d.function(line)
	}
}

// header begins a goroutine if line is as Go writes one:
//
//	goroutine 7 [select, 12 minutes, locked to thread]:
//	goroutine 7 gp=0xc000002380 m=nil [sync.Mutex.Lock (scan), synctest bubble 3 labels:{"a": "b"}]:
func (d *dump) header(line []byte) bool {
	rest, colon := bytes.CutSuffix(line[len("goroutine "):], []byte("]:"))
	before, state, found := bytes.Cut(rest, []byte(" ["))
	digits, _, _ := bytes.Cut(before, []byte(" "))
	number, err := strconv.Atoi(string(digits))
	if !colon || !found || err != nil || number <= 0 {
		return false
	}
	g := &d.reading
	if d.outermost() { // else the text goes on after a gap
		d.end()
	}
	*g = goroutine{open: true, number: number, frames: g.frames[:0]}
	state, _, _ = bytes.Cut(state, []byte(" labels:{"))
	state, rest, _ = bytes.Cut(state, []byte(", "))
	for len(rest) > 0 {
		var part []byte
		part, rest, _ = bytes.Cut(rest, []byte(", "))
		if n, is := bytes.CutSuffix(part, []byte(" minutes")); is {
			waited, err := strconv.ParseInt(string(n), 10, 24) // 2^23 minutes are 16 years
			g.minutes, g.broken = int32(max(waited, 0)), g.broken || err != nil
		}
	}
	for _, mark := range [...]string{" (durable)", " (scan)", " (leaked)"} {
		state = bytes.TrimSuffix(state, []byte(mark))
	}
	g.state = d.stateOf(state)
	return true
}

// stateOf is a state as a string of its own; the very many that no Go has are one.
func (d *dump) stateOf(state []byte) string {
	if s, known := d.states[string(state)]; known {
		return s
	}
	if len(d.states) == maxStates || len(state) > maxName {
		return "???" // as Go says where it does not know
	}
	s := string(state)
	d.states[s] = s
	return s
}

// function takes the line of a function, name(arguments). The name may have parentheses,
// the arguments have none.
func (d *dump) function(line []byte) {
	g := &d.reading
	open := bytes.LastIndexByte(line, '(')
	if open <= 0 || line[len(line)-1] != ')' {
		g.broken = true
		return
	}
	g.place = false
	if g.broken || len(g.frames) == maxFrames {
		return
	}
	id, readable := d.functionOf(line[:open])
	if !readable {
		g.broken = true
		return
	}
	f := frame{function: id}
	if id >= 0 && d.functions[id].works != onNothing {
		f.on = argument(line[open+1:len(line)-1], d.functions[id].works == onArgument)
	}
	g.frames = append(g.frames, f)
}

// argument finds an address among the arguments of a function, such as
//
//	0xc000166690, {0x1a84598, 0xc0001f}, 0xc00001?, ...
//
// It is the first argument, or with after the first one that is a number of its own after
// that.
func argument(text []byte, after bool) address {
	for first := true; len(text) > 0; first = false {
		depth, end := 0, 0
		for ; end < len(text) && (depth > 0 || text[end] != ','); end++ {
			switch text[end] {
			case '{':
				depth++
			case '}':
				depth--
			}
		}
		if first != after {
			if a := parseAddress(text[:end]); a.at != 0 || !after {
				return a
			}
		}
		text = bytes.TrimLeft(text[end:], ", ")
	}
	return address{}
}

// parseAddress reads "0xc000166690?". What is too low for an address is none.
func parseAddress(text []byte) address {
	text, inexact := bytes.CutSuffix(text, []byte("?"))
	digits, hex := bytes.CutPrefix(text, []byte("0x"))
	at, err := strconv.ParseUint(string(digits), 16, 64)
	if !hex || err != nil || at < 64<<10 {
		return address{}
	}
	return address{at, inexact}
}

// outermost reports whether the goroutine that is being read has been read to the
// function that started it: where the text ends, nothing else tells that it is whole.
func (d *dump) outermost() bool {
	g := &d.reading
	if !g.place || g.created || len(g.frames) == 0 {
		return g.created && g.place
	}
	last := g.frames[len(g.frames)-1].function
	return last >= 0 && (d.functions[last].name == "main.main" || d.functions[last].is(ofRuntime))
}
