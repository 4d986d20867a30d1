package rewind

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/record"
)

func TestOpen(t *testing.T) {
	path := filepath.Join(testdata, "flaky.plegrec")
	_, last := night(t, "flaky.plegrec").Span()
	for _, tt := range []struct {
		path, at string
		through  pleg.Release
		want     time.Time
		notes    string // the begin of the note
		fails    string // in the error
	}{
		{path: path},
		{path: path, at: "-10s", want: last.Add(-10 * time.Second)},
		{path: path, at: "noon", fails: "--at: want -10m, 2am"},
		{path: path, at: "noon", through: 28, notes: "a kubelet 1.28 would have made 14 ", fails: "--at: want -10m, 2am"},
		{path: path, through: 28, notes: "a kubelet 1.28 would have made 14 "},
		{path: "open_test.go", fails: record.ErrNoRecording.Error()},
	} {
		notes := ""
		r, at, err := Open(t.Context(), tt.path, tt.at, tt.through, func(s string) { notes += s })
		switch {
		case !at.Equal(tt.want) || !strings.HasPrefix(notes, tt.notes) || tt.notes == "" && notes != "":
			t.Errorf("%+v: %v, notes %q", tt, at, notes)
		case tt.fails != "" && (r != nil || err == nil || !strings.Contains(err.Error(), tt.fails)):
			t.Errorf("%+v: %v", tt, err)
		case tt.fails == "" && err != nil:
			t.Errorf("%+v: %v", tt, err)
		case r != nil:
			r.Close()
		}
	}
}
