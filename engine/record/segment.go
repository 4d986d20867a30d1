package record

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"regexp"
	"strconv"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/klauspost/compress/zstd"

	"github.com/plegtop/plegtop/engine"
)

// Format is the version of the format of recordings. It grows when a reader of the previous
// format cannot read new recordings.
const Format = 2

// fileHead is the start of a file.
var fileHead = fmt.Appendf(nil, "{\"plegrec\":%d}\n", Format)

// first is the start of a file of format 1: a skippable frame of zstd.
var first = []byte{0x5C, 0x2A, 0x4D, 0x18}

// headSize is how many bytes of a file say what it is.
const headSize = 32

var anyHead = regexp.MustCompile(`^\{"plegrec":(\d{1,9})\}\n`)

var (
	// ErrNoRecording says that a file is not a recording.
	ErrNoRecording = errors.New("no plegtop recording")
	// ErrFormat says that a recording has another format than this plegtop plays.
	ErrFormat = errors.New("recorded in another format")
	// ErrCut says that a recording ends in the middle of a segment. A recording that is still written
	// does so.
	ErrCut = errors.New("the file ends in the middle: its writer was killed, or it still writes")

	errDamaged = errors.New("the recording is damaged")
)

// checkHead returns nil if a file begins as a recording of this format does.
func checkHead(b []byte) error {
	found := 0
	if m := anyHead.FindSubmatch(b); m != nil {
		found, _ = strconv.Atoi(string(m[1]))
	} else if bytes.HasPrefix(b, first) {
		found = 1
	}
	switch {
	case found == 0:
		return ErrNoRecording
	case found < Format:
		return fmt.Errorf("%w: it has format %d, which an older plegtop plays; this one plays format %d", ErrFormat, found, Format)
	case found > Format:
		return fmt.Errorf("%w: it has format %d, which a newer plegtop plays; this one plays format %d", ErrFormat, found, Format)
	}
	return nil
}

// A Head says where a segment is from.
type Head struct {
	Plegtop  string // the version that recorded
	Node     string
	Source   string // "cri" or "demo"
	Endpoint string // of the runtime
	Scenario string // of a demo
	Runtime  string // its name and version; empty until they are known
	Kubelet  string // the release whose relist was made
}

// An opening is the first item of a segment.
type opening struct {
	Head       Head
	Start      engine.Start
	At         time.Duration // since the start
	Steps      []step        // of the wall clock up to now
	Checkpoint cbor.RawMessage
	state      any // which becomes the checkpoint
}

// encode returns the opening as it is recorded.
func (o *opening) encode() (b []byte, err error) {
	if o.Checkpoint, err = encodes.Marshal(o.state); err == nil {
		b, err = encodes.Marshal(o)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("record: write the state of the engine: %w", err)
	case tooLarge(b):
		return nil, fmt.Errorf("record: the state of this engine takes %d MiB, more than can be played: this node has too many pods", len(b)>>20)
	}
	return b, nil
}

// A segment is written in parts: whole blocks of one frame of zstd. A part has a head of 20 bytes:
// its kind, the length of the blocks, the CRC-32C of the moment and the blocks, and the moment:
// that of the last observation in it, in nanoseconds since 1970.
type partHead struct {
	Kind   [4]byte
	Length uint32
	Sum    uint32
	At     int64
}

const (
	partHeadSize = 20
	// mostPart is the longest part, before and after compression.
	mostPart = 96 << 20
	// window is how far back zstd finds repeated bytes. A reader takes no more than mostWindow.
	window, mostWindow = 1 << 20, 8 << 20
)

var (
	begins = [4]byte{'S', 'E', 'G', 'M'} // a segment, with its opening
	goesOn = [4]byte{'M', 'O', 'R', 'E'}
	ends   = [4]byte{'E', 'N', 'D', 'S'}

	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	lastBlock  = []byte{1, 0, 0} // an empty block, which ends a frame (RFC 8878, section 3.1.1.2)
)

func appendPart(to []byte, kind [4]byte, at time.Time, b []byte) []byte {
	h := partHead{Kind: kind, Length: uint32(len(b)), At: at.UnixNano()}
	h.Sum = sum(h.At, b)
	to, _ = binary.Append(to, binary.LittleEndian, h) // of a fixed size, so it never fails
	return append(to, b...)
}

func sum(at int64, b []byte) uint32 {
	return crc32.Update(crc32.Checksum(binary.LittleEndian.AppendUint64(nil, uint64(at)), castagnoli), castagnoli, b)
}

// readHead reads the head of a part. The error is io.EOF if there is none.
func readHead(in io.Reader) (h partHead, err error) {
	switch err := binary.Read(in, binary.LittleEndian, &h); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return h, ErrCut
	case err != nil:
		return h, err
	case h.Kind != begins && h.Kind != goesOn && h.Kind != ends, h.Length > mostPart:
		return h, errDamaged
	}
	return h, nil
}

// A segment is one segment of a recording.
type segment struct {
	began, last time.Time // by the wall clock
	ended       bool      // it has its last part
	bytes       io.ReaderAt
	at, size    int64 // in bytes
}

// scan returns the segments of a file as far as their parts are whole. The error says what is wrong
// with the rest.
func scan(file io.ReaderAt, size int64) (all []*segment, err error) {
	var s *segment // the last one; nil for none, or after its last part
	for at := int64(len(fileHead)); ; {
		h, err := readHead(io.NewSectionReader(file, at, size-at))
		length := partHeadSize + int64(h.Length)
		switch {
		case errors.Is(err, io.EOF) && s == nil && at > int64(len(fileHead)):
			return all, nil
		case errors.Is(err, io.EOF) || err == nil && length > size-at:
			return all, ErrCut
		case err != nil || (h.Kind == begins) != (s == nil):
			return all, cmp.Or(err, errDamaged)
		case s == nil:
			s = &segment{began: time.Unix(0, h.At), bytes: file, at: at}
			all = append(all, s)
		}
		at += length
		if s.size, s.last, s.ended = at-s.at, time.Unix(0, h.At), h.Kind == ends; s.ended {
			s = nil
		}
	}
}

// parts reads the contents of a segment's parts.
type parts struct {
	in   io.Reader
	left []byte // of the present one
	err  error
}

func (p *parts) Read(b []byte) (int, error) {
	for len(p.left) == 0 && p.err == nil {
		var h partHead
		if h, p.err = readHead(p.in); p.err != nil {
			break
		}
		var part bytes.Buffer
		if _, p.err = io.CopyN(&part, p.in, int64(h.Length)); p.err == nil && sum(h.At, part.Bytes()) != h.Sum {
			p.err = errDamaged
		}
		p.left = part.Bytes()
	}
	if p.err != nil {
		return 0, p.err
	}
	n := copy(b, p.left)
	p.left = p.left[n:]
	return n, nil
}

// items reads the CBOR of one segment after the other. It takes no more memory than the largest
// item. Not safe for concurrent use.
type items struct {
	parts parts
	zstd  *zstd.Decoder
	cbor  *cbor.Decoder
	taken int64 // of the present item
	ended bool  // the segment has its last part
}

// open goes to the first item of a segment.
func (i *items) open(s *segment) (err error) {
	i.parts, i.ended = parts{in: io.NewSectionReader(s.bytes, s.at, s.size)}, s.ended
	if i.zstd == nil { // without its own goroutines it reads no further than we ask
		i.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(mostWindow))
	}
	if err == nil {
		err = i.zstd.Reset(&i.parts)
	}
	i.cbor = decodes.NewDecoder(i)
	return err
}

func (i *items) close() {
	if i.zstd != nil {
		i.zstd.Close()
	}
}

var errLong = fmt.Errorf("an item is longer than %d MiB", mostItem>>20)

// Read gives the decoder what is left of the segment.
func (i *items) Read(b []byte) (int, error) {
	if i.taken > mostItem {
		return 0, errLong
	}
	n, err := i.zstd.Read(b)
	i.taken += int64(n)
	return n, err
}

// next decodes the next item. At the end of the segment it returns io.EOF, even if the last
// part is missing.
func (i *items) next(to any) error {
	var raw cbor.RawMessage
	i.taken = 0
	switch err := i.cbor.Decode(&raw); {
	case err == nil:
	case i.parts.err != nil && !errors.Is(i.parts.err, io.EOF):
		return i.parts.err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF) && !i.ended:
		return io.EOF
	default:
		return fmt.Errorf("%w: %v", errDamaged, err) //nolint:errorlint // it may be io.EOF, and this is no end
	}
	if err := unmarshal(raw, to); err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	return nil
}
