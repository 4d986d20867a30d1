package ui

import "time"

// flashFor is how long the answer to a key stays.
const flashFor = 4 * time.Second

// A flash is the answer to a key, shown in the footer for a while. The time
// comes from the snapshots, so it goes with the first one after its end.
type flash struct {
	text  string
	until time.Time
}

// say shows an answer.
func (m *Model) say(text string) {
	m.flash = flash{text, m.latest.At.Add(flashFor)}
}

// pass lets time go by.
func (f *flash) pass(now time.Time) {
	if now.After(f.until) {
		f.text = ""
	}
}
