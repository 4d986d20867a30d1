package record

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// scan returns the segments of a file, and up to where they are whole. The error says what is wrong
// with what comes after that; nil if nothing is.
func scan(file io.ReaderAt, size int64) (all []*segment, whole int64, err error) {
	in := bufio.NewReaderSize(io.NewSectionReader(file, 0, size), 1<<16)
	for whole < size && err == nil {
		var s *segment
		if s, err = readSegment(in); s != nil && s.size > 0 {
			s.file, s.at = file, whole+int64(len(s.head))
			all, whole = append(all, s), s.at+s.size
		}
	}
	if errors.Is(err, ErrCut) && !isCut(file, whole, size) || errors.Is(err, ErrNoRecording) && len(all) > 0 {
		err = errDamaged
	}
	last := len(all) - 1
	if last < 0 || !all[last].cut || err != nil && !errors.Is(err, ErrCut) {
		return all, whole, err
	}
	if !all[last].trim() {
		return all[:last], all[last].at - int64(len(all[last].head)), ErrCut
	}
	return all, all[last].at + all[last].size, ErrCut
}

// readSegment reads the head of a segment, and passes over what is whole of the rest. It returns
// the segment also with an error, which says what comes after it.
func readSegment(in *bufio.Reader) (*segment, error) {
	h, head, err := readHead(in)
	if err != nil {
		return nil, err
	}
	n, ended, err := passFrame(in)
	return &segment{Head: h, head: head, size: n, cut: !ended}, err
}

var (
	// ErrCut says that a recording ends within a segment. What is before that is whole.
	ErrCut     = errors.New("the file ends in the middle: its writer was killed, or it still writes")
	errDamaged = errors.New("the file is damaged: what follows is no part of a recording")
)

// isCut reports whether what follows the whole part of a file may be the beginning of a head, whose
// text begins at byte 8, or of a block of zstd: no other segment is behind it, and not the end of one.
func isCut(file io.ReaderAt, whole, size int64) bool {
	rest := make([]byte, min(size-whole, mostCut+1))
	if n, err := file.ReadAt(rest, whole); n < len(rest) && err != nil || n > mostCut {
		return false
	}
	return bytes.LastIndex(rest, headBegins) <= 8 && !bytes.HasSuffix(rest, lastBlock)
}
