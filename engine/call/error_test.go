package call

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"
)

// A kind means the same after it was written down, and no other kind has its words.
func TestKindsSurviveBeingWritten(t *testing.T) {
	said := make(map[string]Kind)
	for k := range ErrClosed + 1 {
		text, err := json.Marshal(&Error{Op: Status, Kind: k, Code: "Code", Text: "why"})
		if err != nil {
			t.Fatal(err)
		}
		var read *Error
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatal(err)
		}
		wrapped := fmt.Errorf("inspect: %w", read)
		for other := range ErrClosed + 1 {
			want := other == k || k == ErrSilent && other == ErrUnavailable
			if errors.Is(wrapped, other) != want {
				t.Errorf("%v is %v: %v, want %v", k, other, !want, want)
			}
		}
		if was, ok := said[k.Error()]; ok || k.Error() == "" || k.Error() == "unknown" {
			t.Errorf("kind %d says %q, as %d does", k, k.Error(), was)
		}
		said[k.Error()] = k
	}
	if (ErrClosed + 1).Error() != "unknown" {
		t.Error("there is a kind that has no test")
	}
}

func TestErrorOf(t *testing.T) {
	own := &Error{Op: Status, Kind: ErrDeadline, Code: "DeadlineExceeded", Text: "late"}
	for _, tt := range []struct {
		err  error
		kind Kind
		says string
		code string
	}{
		{own, ErrDeadline, "Status: DeadlineExceeded: late", "DeadlineExceeded"},
		{fmt.Errorf("ask: %w", own), ErrDeadline, "Status: DeadlineExceeded: late", "DeadlineExceeded"},
		{fmt.Errorf("open the socket: %w", ErrPermission), ErrPermission, "open the socket: permission denied", "no code"},
		{fmt.Errorf("read: %w", io.EOF), ErrClosed, "read: EOF", "no code"},
		{errors.New("boom"), ErrOther, "boom", "no code"},
	} {
		got := ErrorOf(Version, tt.err)
		if got.Kind != tt.kind || KindOf(tt.err) != tt.kind || got.Error() != tt.says || Code(got) != tt.code {
			t.Errorf("%v is %+v, says %q with code %q", tt.err, got, got, Code(got))
		}
	}
	if ErrorOf(Version, nil) != nil {
		t.Error("no error is one")
	}
}
