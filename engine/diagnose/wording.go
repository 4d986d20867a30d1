package diagnose

import (
	"strings"

	"github.com/plegtop/plegtop/engine/pleg"
)

// excerptMost is how many characters of a runtime's text fit in a summary; the
// evidence has all of it.
const excerptMost = 60

// excerpt returns the beginning of a text.
func excerpt(s string) string {
	n := 0
	for i := range s {
		if n == excerptMost {
			return s[:i] + "..."
		}
		n++
	}
	return s
}

// shortIDLength is how much of an id crictl shows, and takes for the whole.
const shortIDLength = 13

// shortID returns the beginning of an id.
func shortID(id string) string {
	n := 0
	for i := range id {
		if n == shortIDLength {
			return id[:i]
		}
		n++
	}
	return id
}

// objectName returns namespace/pod and the container, as far as they have names.
func objectName(pod pleg.PodRef, container string) string {
	return strings.TrimSpace(pod.String() + " " + container)
}
