package knowledge

import (
	"slices"
	"strings"
)

// An ErrorText is a meaning of errors, and the words by which it is recognised.
type ErrorText struct {
	Means  string
	Words  []string // in lower case; one of them is in the text
	Source string
}

var errorTexts = lazy[ErrorText]("errors.yaml")

// These are what the text of an error may mean.
const (
	NoInotify    = "no inotify"   // the user has no inotify instance left
	NoSpace      = "no space"     // no room or no inode is left
	Disconnected = "disconnected" // the program that served a path has ended
	StoreFails   = "store fails"  // the disk or its file system fails
	UsedUp       = "used up"      // open files, threads or memory are used up
)

// Means returns what the text of an error means; empty if no row has a word of the text.
func Means(text string) string {
	text = strings.ToLower(text)
	all := errorTexts()
	if i := slices.IndexFunc(all, func(e ErrorText) bool {
		return slices.ContainsFunc(e.Words, func(w string) bool { return strings.Contains(text, w) })
	}); i >= 0 {
		return all[i].Means
	}
	return ""
}
