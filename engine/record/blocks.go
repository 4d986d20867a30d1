package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zstd"
)

// A blockReader reads the blocks of one segment after the other. Not safe for concurrent use.
type blockReader struct {
	segment *segment
	zstd    *zstd.Decoder
	in      counted
}

// A counted reader counts what was read.
type counted struct {
	io.Reader
	n int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n += int64(n)
	return n, err
}

// begin goes to the first block of a segment.
func (r *blockReader) begin(s *segment) (err error) {
	if r.zstd == nil { // without goroutines of its own it reads no further than it is asked for
		r.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(mostWindow))
	}
	if err != nil {
		return err
	}
	r.segment, r.in = s, counted{Reader: s.open()}
	return r.zstd.Reset(&r.in)
}

// close frees what the reader has. It is of no use after that.
func (r *blockReader) close() {
	if r.zstd != nil {
		r.zstd.Close()
	}
}

// next returns the next block. It returns io.EOF at the end of the segment; of one whose frame
// is unfinished also where a block is not whole.
func (r *blockReader) next() ([]byte, error) {
	var head [8]byte
	if n, err := io.ReadFull(r.zstd, head[:]); err != nil {
		return nil, r.ended(err, n > 0)
	}
	if bytes.Equal(head[:], endOfBlocks) {
		return nil, io.EOF
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n == 0 || n > mostBlock {
		return nil, fmt.Errorf("a block of %d bytes", n)
	}
	block, err := readAll(r.zstd, int(n))
	if err != nil {
		return nil, r.ended(err, true)
	}
	if crc32.Checksum(block, castagnoli) != binary.LittleEndian.Uint32(head[4:]) {
		return nil, errors.New("a block does not have its checksum")
	}
	return block, nil
}

// ended returns io.EOF where an error of zstd is the end of the segment, and not damage: zstd
// says of many damaged frames that they end too soon.
func (r *blockReader) ended(err error, within bool) error {
	if errors.Is(err, io.EOF) && !within {
		return io.EOF
	}
	soon := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if soon && r.in.n == r.segment.frame() && r.segment.unfinished() {
		return io.EOF
	}
	return errors.New("a block cannot be read: " + err.Error()) // not wrapped: it is not the end
}

// readAll reads so many bytes, and takes memory only for those that are there.
func readAll(in io.Reader, n int) ([]byte, error) {
	var b []byte
	for len(b) < n {
		at := len(b)
		b = append(b, make([]byte, min(n-at, max(at, 1<<16)))...)
		if _, err := io.ReadFull(in, b[at:]); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// trim leaves out of a segment that was cut off what is no whole block, so that it can be
// continued. It reports whether there is a whole one. Nothing is left out of one that is damaged.
func (s *segment) trim() bool {
	var r blockReader
	defer r.close()
	if r.begin(s) != nil {
		return true
	}
	for whole := int64(0); ; whole = r.in.n {
		switch _, err := r.next(); {
		case errors.Is(err, io.EOF):
			s.size = whole
			return whole > 0
		case err != nil:
			return true
		}
	}
}
