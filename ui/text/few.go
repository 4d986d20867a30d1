package text

import "strings"

// bytesPerCell is how many bytes of a text are looked at for each cell that it
// may take. Cleaning a text is what costs most, and a runtime's may be long; one
// of which a cell takes more than this on the average is no text to be read.
const bytesPerCell = 3

// Clip returns as much of s as may be seen in so many cells. What is left out is
// still seen to be missing: the rest is too wide for them, but for such a text.
func Clip(s string, cells int) string { return CutAt(s, (max(cells, 0)+1)*bytesPerCell) }

// leads are words that belong to the one behind them.
var leads = map[string]bool{
	"a": true, "an": true, "at": true, "by": true, "for": true, "from": true, "in": true, "of": true, "on": true, "the": true, "to": true, "with": true,
}

// Few breaks s into lines of w cells, at most most of them, none of which ends with a
// preposition or an article. Where something is left out the last ends in ellipsis.
func Few(s string, w, most int, ellipsis string) []string {
	lines := wrap(Clip(s, w*most), w, leads)
	if len(lines) > most {
		lines[most-1] = Fit(strings.Join(lines[most-1:], " "), w, ellipsis)
	}
	return lines[:min(len(lines), most)]
}
