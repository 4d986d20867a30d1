package cri

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"google.golang.org/grpc"
)

// What is taken of an answer at most. A runtime that is broken, or hostile, must
// cost plegtop no more memory than the largest node there is.
const (
	// messageLimit is the kubelet's own, in bytes: see maxMsgSize in its
	// cri-client.
	messageLimit = 16 << 20
	// listLimit is how many bytes a streaming list may have in all. The kubelet
	// has no limit there, and runs out of memory by a stream that never ends.
	// 10,000 pods of 3 containers are 20 to 30 MiB.
	listLimit = 4 * messageLimit
	// entriesLimit is how many sandboxes or containers a list may have: three
	// times as many as fit in a message with the kubelet's labels. An empty one
	// takes 2 bytes there, and 150 in memory.
	entriesLimit = 100_000
	// statusLimit is for all other answers and for errors, in bytes. The largest
	// thing in them are the annotations, of which Kubernetes takes 256 KiB.
	statusLimit = 1 << 20
	// textLimit is how much is kept of one text, in bytes: as long as a path may
	// be, and as a termination message. No runtime has a longer id: it is the
	// name of a folder.
	textLimit = 4096
)

// small is the option of a call whose answer is no list.
var small = grpc.MaxCallRecvMsgSize(statusLimit)

// frame is what stands before each message on the wire: an endless row of empty
// ones ends, too.
const frame = 5

// weigh counts one answer of a list, and fails when all of them together are too
// large.
func (l *list[T]) weigh(bytes, entries int) error {
	l.bytes += bytes + frame
	l.entries += entries
	switch {
	case l.entries > entriesLimit:
		return fmt.Errorf("%s of plegtop: %dk entries", tooMuch, entriesLimit/1000)
	case l.bytes > listLimit:
		return fmt.Errorf("%s of plegtop: %d MiB", tooMuch, listLimit>>20)
	}
	return nil
}

// tooMuch is how gRPC puts it, too.
const tooMuch = "larger than max"

// cut returns s without its middle if it is too long: an error's cause is at the
// end of it. What it returns keeps no more of s in memory.
func cut(s string) string {
	if len(s) <= textLimit {
		return s
	}
	const half = textLimit/2 - 32
	head, tail := half, len(s)-half
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return strings.Join([]string{s[:head], fmt.Sprintf("(%d bytes cut)", tail-head), s[tail:]}, " ... ")
}
