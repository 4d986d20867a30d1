package lines

import (
	"errors"
	"strings"
	"testing"
)

func TestComplain(t *testing.T) {
	var b strings.Builder
	Complain(&b, nil)
	Complain(&b, errors.Join(errors.New("one \x1b[31m"), errors.New("two")))
	if got := b.String(); strings.Contains(got, "\x1b") || !strings.HasPrefix(got, "plegtop: one ") || !strings.HasSuffix(got, "\ntwo\n") || strings.Count(got, "\n") != 2 {
		t.Errorf("%q", got)
	}
}
