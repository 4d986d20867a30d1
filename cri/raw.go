package cri

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/plegtop/plegtop/engine/call"
)

// Raw asks the runtime once more and returns its answer to PodSandboxStatus or
// ContainerStatus as JSON: indented, with the names that CRI gives, fields that
// are not set included. It returns an error for any other operation.
//
// The texts are the original ones. What a terminal might act on, or not show,
// is written as \u escapes, so the bytes are safe to print.
func (c *Client) Raw(ctx context.Context, op call.Operation, id string) ([]byte, error) {
	var answer proto.Message
	var err error
	switch op {
	case call.PodSandboxStatus:
		answer, err = c.sandboxStatus(ctx, id, small)
	case call.ContainerStatus:
		answer, err = c.containerStatus(ctx, id, small)
	default:
		return nil, fmt.Errorf("raw answer of %v: only PodSandboxStatus and ContainerStatus have one", op)
	}
	if err != nil {
		return nil, err
	}
	return rawJSON(answer)
}

// rawJSON indents by itself because protojson varies its white space from build
// to build, on purpose.
func rawJSON(m proto.Message) ([]byte, error) {
	compact, err := protojson.MarshalOptions{EmitDefaultValues: true}.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("write the answer as JSON: %w", err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, compact, "", "  "); err != nil {
		return nil, fmt.Errorf("indent the answer: %w", err)
	}
	return escapeUnprintable(indented.Bytes()), nil
}

// escapeUnprintable escapes what does not print and is not ASCII. JSON itself
// escapes the ASCII controls except DEL.
func escapeUnprintable(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r < 0x7F || unicode.IsPrint(r):
			out = append(out, text[:n]...)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		text = text[n:]
	}
	return out
}
