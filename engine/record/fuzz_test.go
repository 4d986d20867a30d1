package record

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

// mostTaken is what one step of a reader may allocate, beside the window of zstd: what it keeps,
// what it makes and throws away, and some for the machine.
const mostTaken = 64<<20 + 32<<20

// FuzzPlay gives the reader what nobody has recorded: as a file, or as what a segment has within
// its frame, of which the lengths and checksums of blocks are mended, and which is not compressed:
// so what is changed comes through to what reads it.
func FuzzPlay(f *testing.F) {
	file := bytesOf(f, briefly(f))
	content := unpacked(f, file)
	f.Add(file, false)
	f.Add(append(bytes.Clone(file), file...), false)
	f.Add(content, true)
	f.Add(content[:len(content)*3/4], true)
	f.Fuzz(func(t *testing.T, b []byte, mend bool) {
		if mend {
			b = packed(mended(b))
		}
		readThrough(t, b)
	})
}

// briefly is what was recorded of the smallest node up to the third snapshot.
func briefly(t testing.TB) *Recorder {
	t.Helper()
	r := NewRecorder(Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	eng, err := engine.New(engine.Config{Runtime: newNode(1, 1), Tape: &ending{r, 3, cancel}})
	if err == nil {
		err = eng.Run(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func bytesOf(t testing.TB, r *Recorder) []byte {
	t.Helper()
	var file bytes.Buffer
	if _, err := r.Recording().WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// An ending tape ends the engine after so many snapshots.
type ending struct {
	*Recorder
	left int
	end  func()
}

func (e *ending) Shown(at time.Time, costs engine.Cost) {
	e.Recorder.Shown(at, costs)
	if e.left--; e.left == 0 {
		e.end()
	}
}

// unpacked is what the segments of a file have within their frames.
func unpacked(t testing.TB, file []byte) []byte {
	t.Helper()
	d, err := zstd.NewReader(bytes.NewReader(file)) // which passes over the heads
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	content, err := io.ReadAll(d)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// mended is a row of blocks whose lengths are at most what there is, and whose checksums are right.
func mended(b []byte) []byte {
	b = bytes.Clone(b)
	for rest := b; len(rest) > 8; {
		n := min(binary.LittleEndian.Uint32(rest), uint32(len(rest)-8))
		binary.LittleEndian.PutUint32(rest, n)
		binary.LittleEndian.PutUint32(rest[4:], crc32.Checksum(rest[8:8+n], castagnoli))
		rest = rest[8+n:]
	}
	return b
}

// packed is the file of one segment with that content, which is not compressed.
func packed(content []byte) []byte {
	file, _ := Head{Format: Format, Run: "fuzz", At: time.Unix(0, 0)}.append(nil)
	file = append(file, 0x28, 0xb5, 0x2f, 0xfd, 0, 0x50) // with a window of 1 MiB
	for len(content) > 0 {
		n := min(len(content), mostOfZstd)
		file = append(binary.LittleEndian.AppendUint32(file, uint32(n)<<3)[:len(file)+3], content[:n]...)
		content = content[n:]
	}
	return append(file, lastBlock...)
}

// readThrough reads all of a file that can be, and holds that no step takes too much memory.
func readThrough(t *testing.T, file []byte) {
	t.Helper()
	r := new(Recording)
	r.segments, _, r.damage = scan(bytes.NewReader(file), int64(len(file)))
	r.Heads()
	r.End()
	p := r.Play(time.Time{})
	defer p.Close()
	last, most := allocated(), uint64(0)
	step := func() {
		now := allocated()
		last, most = now, max(most, now-last)
	}
	for err := error(nil); err == nil; step() {
		_, _, err = p.advance()
	}
	if most > mostTaken {
		t.Errorf("%d bytes take %d MiB", len(file), most>>20)
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// A few bytes cannot take memory without bound, whatever they say is to come.
func TestAFileTakesNoMoreMemoryThanItMay(t *testing.T) {
	places := make([]int32, 1<<20) // a list of a single row, so many times
	for i := range places[1:] {
		places[i+1] = -1
	}
	r := briefly(t)
	r.entry(entry{At: r.at, In: engine.Returned{}, Containers: change[pleg.ListedContainer]{Places: places}})
	if r.err != nil {
		t.Fatal(r.err)
	}
	readThrough(t, bytesOf(t, r))

	for _, length := range []uint32{math.MaxUint32, mostBlock, 0} {
		head := binary.LittleEndian.AppendUint32(nil, length)
		head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(make([]byte, min(length, mostBlock)), castagnoli))
		file := packed(head)
		file = file[:len(file)-len(lastBlock)]
		for range 1 << 10 { // 128 MiB of zeroes
			file = append(file, 2|mostOfZstd<<3&0xff, mostOfZstd>>5&0xff, mostOfZstd>>13, 0)
		}
		readThrough(t, append(file, lastBlock...))
	}
}
