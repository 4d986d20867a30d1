package record

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// scan returns the segments of a file, and up to where they are whole. What is damaged between two
// of them is passed over. The error says what comes after them; nil if nothing does.
func scan(file io.ReaderAt, size int64) (all []*segment, whole int64, err error) {
	in, from, torn := readerAt(file, 0, size), int64(0), false
	for whole < size && err == nil {
		var s *segment
		if s, err = readSegment(in); s != nil {
			s.file, s.at, s.torn = file, whole+int64(len(s.head)), torn
			from = s.at
		}
		if s != nil && s.size > 0 {
			all, whole, torn = append(all, s), s.at+s.size, false
		}
		if err == nil || errors.Is(err, ErrNewer) || len(all) == 0 && !begins(file) {
			continue
		}
		if next, found := nextHead(file, from, size); found {
			if n := len(all) - 1; n >= 0 { // it is damaged, and not cut off; a length that is wrong leads beyond
				all[n].size, all[n].cut = min(all[n].size, next-all[n].at), false
			}
			in, whole, from, torn, err = readerAt(file, next, size), next, next+1, true, nil
		}
	}
	if errors.Is(err, errCut) && (torn || !isCut(file, whole, size)) || errors.Is(err, ErrNoRecording) && len(all) > 0 {
		err = errDamaged
	}
	if n := len(all) - 1; n >= 0 && all[n].cut && (err == nil || errors.Is(err, errCut)) {
		last := all[n]
		if !last.trim() {
			return all[:n], last.at - int64(len(last.head)), errCut
		}
		whole = last.at + last.size
	}
	return all, whole, err
}

func readerAt(file io.ReaderAt, at, size int64) *bufio.Reader {
	return bufio.NewReaderSize(io.NewSectionReader(file, at, size-at), 1<<16)
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
	// errCut says that whoever wrote a file was ended: it ends with a part of a head or block.
	errCut     = errors.New("whoever wrote it was ended there")
	errDamaged = errors.New("the file is damaged: what follows is no part of a recording")
)

// isCut reports whether what follows the whole part of a file may be the beginning of a head or
// of a block of zstd: no other segment is behind it, and not the end of one.
func isCut(file io.ReaderAt, whole, size int64) bool {
	rest := make([]byte, min(size-whole, mostCut+1))
	if n, err := file.ReadAt(rest, whole); n < len(rest) && err != nil || n > mostCut {
		return false
	}
	return bytes.LastIndex(rest, headBegins) <= beforeText && !bytes.HasSuffix(rest, lastBlock)
}

const (
	beforeText = 8       // bytes of a head that stand before its text
	page       = 1 << 12 // what a disk cannot read at least, where it cannot read a byte
)

// begins reports whether a file begins as a recording does, but for some damage: in others nobody
// looks for one, for who records would take them for its own and replace them.
func begins(file io.ReaderAt) bool {
	start := make([]byte, beforeText+len(headBegins))
	if n, err := file.ReadAt(start, 0); n < len(start) && err != nil {
		return false
	}
	return binary.LittleEndian.Uint32(start) == skippable || bytes.HasSuffix(start, headBegins)
}

// nextHead returns where the first head that is whole begins in a file from some byte on. Its
// checksum says that it is one. What the disk cannot read is passed over.
func nextHead(file io.ReaderAt, from, size int64) (at int64, found bool) {
	chunk := make([]byte, 1<<16)
	for from < size {
		n, err := file.ReadAt(chunk[:min(int64(len(chunk)), size-from)], from)
		for i := 0; ; i++ {
			next := bytes.Index(chunk[i:n], headBegins)
			if next < 0 {
				break
			}
			i += next
			if at := from + int64(i-beforeText); i >= beforeText && isHead(file, at, size) {
				return at, true
			}
		}
		switch unread := err != nil && !errors.Is(err, io.EOF); {
		case unread:
			from = (from + int64(n) + page) / page * page
		case from+int64(n) >= size:
			return 0, false
		default:
			from += int64(n - beforeText - len(headBegins) + 1) // a head may lie across
		}
	}
	return 0, false
}

func isHead(file io.ReaderAt, at, size int64) bool {
	_, _, err := readHead(bufio.NewReaderSize(io.NewSectionReader(file, at, size-at), page))
	return err == nil || errors.Is(err, ErrNewer)
}
