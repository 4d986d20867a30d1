package cri

import "strings"

// A NotFoundError says that a search found no runtime to talk to, nor one to
// wait for. Its text is safe to print and has several lines: one for each
// candidate, with its source and the reason, and last what to try instead.
type NotFoundError struct {
	Tried []Candidate // in the order of the search
}

// Error returns the text.
func (e *NotFoundError) Error() string {
	var b strings.Builder
	b.WriteString("no container runtime found:\n")
	for _, c := range e.Tried {
		b.WriteString("  ")
		if c.Endpoint != "" {
			b.WriteString(printable(c.Endpoint) + " ")
		}
		b.WriteString("(" + printable(c.Source) + "): " + c.Reason + "\n")
	}
	b.WriteString("try: plegtop --demo")
	return b.String()
}
