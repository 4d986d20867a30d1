package lines

import (
	"fmt"
	"io"
	"strings"

	"github.com/plegtop/plegtop/ui/text"
)

// Complain writes an error, if there is one, to w for a person. It may hold words of the runtime's
// or of a file's.
func Complain(w io.Writer, err error) {
	if err == nil {
		return
	}
	for line := range strings.SplitSeq("plegtop: "+err.Error(), "\n") {
		fmt.Fprintln(w, text.Clean(line))
	}
}
