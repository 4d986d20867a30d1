package record

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Format is the version of the form of recordings. It grows when what is written can no
// longer be read by those who know the present one.
const Format = 1

// A Head says what a segment is of. It stands before it as JSON, for people and other programs,
// with the CRC-32C of that text behind it, in all formats.
type Head struct {
	Format  int       `json:"plegrec"`
	Plegtop string    `json:"plegtop"` // the version that recorded
	Run     string    `json:"run"`     // of the engine: the same in all its segments
	Number  int       `json:"segment"` // from 0 on in each run
	At      time.Time `json:"at"`      // of the state that it begins with

	Node     string `json:"node,omitempty"`
	Source   string `json:"source,omitempty"`   // "cri" or "demo"
	Endpoint string `json:"endpoint,omitempty"` // of the runtime
	Scenario string `json:"scenario,omitempty"` // of a demo
	Runtime  string `json:"runtime,omitempty"`  // its name and version; empty until it has told
	Kubelet  string `json:"kubelet,omitempty"`  // whose relist was made
}

// headBegins is what the JSON of each head begins with.
var headBegins = []byte(`{"plegrec":`)

const (
	skippable = 0x184D2A5C // one of the sixteen magic numbers of a frame that readers of zstd pass over
	mostHead  = 1 << 16
	ofSum     = 4 // bytes of a checksum
)

// append appends the frame of a head.
func (h Head) append(b []byte) ([]byte, error) {
	text, err := json.Marshal(h)
	if err != nil {
		return b, fmt.Errorf("record: write the head: %w", err)
	}
	b = binary.LittleEndian.AppendUint32(b, skippable)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(text)+ofSum))
	return binary.LittleEndian.AppendUint32(append(b, text...), crc32.Checksum(text, castagnoli)), nil
}

var (
	// ErrNoRecording says that a file is something else than a recording.
	ErrNoRecording = errors.New("no plegtop recording")
	// ErrNewer says that a newer plegtop has written a recording, in another form.
	ErrNewer = errors.New("recorded in a newer format: a newer plegtop can play it")
)

// readHead reads the frame of a head, and returns it as it was written, too.
func readHead(in *bufio.Reader) (h Head, frame []byte, err error) {
	start, err := in.Peek(8)
	if err != nil && len(start) >= 4 && binary.LittleEndian.Uint32(start) == skippable {
		return h, nil, ErrCut
	}
	if err != nil || binary.LittleEndian.Uint32(start) != skippable {
		return h, nil, ErrNoRecording
	}
	n := binary.LittleEndian.Uint32(start[4:])
	if n < ofSum || n > mostHead {
		return h, nil, ErrNoRecording
	}
	frame = make([]byte, 8+n)
	if got, err := io.ReadFull(in, frame); err != nil {
		if !bytes.HasPrefix(frame[8:max(got, 8)], headBegins[:min(max(got-8, 0), len(headBegins))]) {
			return h, nil, ErrNoRecording
		}
		return h, nil, ErrCut
	}
	text, sum := frame[8:8+n-ofSum], frame[8+n-ofSum:]
	switch sound := crc32.Checksum(text, castagnoli) == binary.LittleEndian.Uint32(sum); {
	case !bytes.HasPrefix(text, headBegins):
		return h, nil, ErrNoRecording
	case !sound, json.Unmarshal(text, &h) != nil, h.Format == 0:
		return h, nil, errDamaged
	}
	if h.Format > Format {
		return h, nil, fmt.Errorf("%w (format %d, plegtop %s)", ErrNewer, h.Format, h.Plegtop)
	}
	return h, frame, nil
}

// passFrame passes over a frame of zstd, and returns how long its whole blocks are and whether
// the last one is among them. After an error the next one is not whole.
func passFrame(in *bufio.Reader) (size int64, whole bool, err error) {
	start, _ := in.Peek(zstd.HeaderMaxSize)
	var h zstd.Header
	if err := h.Decode(start); err != nil || h.Skippable {
		return 0, false, ErrCut
	}
	if err := pass(in, int64(h.HeaderSize)); err != nil {
		return 0, false, ErrCut
	}
	for size = int64(h.HeaderSize); ; {
		b, err := in.Peek(3)
		if len(b) == 0 {
			return size, false, nil
		} else if err != nil {
			return size, false, ErrCut
		}
		block := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
		length := 3 + int64(block>>3)
		switch kind := block >> 1 & 3; {
		case kind == 3, block>>3 > mostOfZstd:
			return size, false, errDamaged
		case kind == 1: // one byte, so many times
			length = 4
		}
		if pass(in, length) != nil {
			return size, false, ErrCut
		}
		size += length
		if block&1 == 1 {
			return size, true, nil
		}
	}
}

// mostOfZstd is the largest block of zstd.
const mostOfZstd = 128 << 10

func pass(in *bufio.Reader, n int64) error {
	_, err := io.CopyN(io.Discard, in, n)
	return err
}

// lastBlock ends a frame: a block of zstd that is the last, not compressed, and holds 8 bytes in
// the place of the length and the sum of one of ours. So much is found by chance nowhere else: an
// empty block of zstd, which would do, is 1, 0, 0, and so ends the length of many of our blocks.
var lastBlock = append([]byte{8<<3 | 1, 0, 0}, endOfBlocks...)

// endOfBlocks stands where another block of ours would begin, of which none has no bytes.
var endOfBlocks = []byte("\x00\x00\x00\x00end.")

// A segment is one of a recording.
type segment struct {
	Head
	began time.Time // as Head.At, with a monotonic reading; zero in a file
	head  []byte
	data  []byte // in memory; of the last one the last frame may be unfinished

	file io.ReaderAt // else
	at   int64
	size int64
	cut  bool // the frame is unfinished
}

// length returns how many bytes it takes, after compression.
func (s *segment) length() int64 { return int64(len(s.head)) + s.frame() }

// frame returns how many bytes lie behind the head.
func (s *segment) frame() int64 { return int64(len(s.data)) + s.size }

// open returns what lies behind the head.
func (s *segment) open() io.Reader {
	if s.file == nil {
		return bytes.NewReader(s.data)
	}
	return io.NewSectionReader(s.file, s.at, s.size)
}

// unfinished reports whether the frame has not got its last block.
func (s *segment) unfinished() bool {
	if s.file != nil {
		return s.cut
	}
	_, whole, _ := passFrame(bufio.NewReader(s.open()))
	return !whole
}
