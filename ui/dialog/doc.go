// Package dialog has what lies over the panes or in the footer for a while: a
// [Picker], the [Help], a [Viewer] of long texts, a [Prompt] and a [Confirm].
//
// Each is a plain value that its owner feeds with key presses and asks for
// lines. It does no I/O, starts nothing and knows nothing of the screen around
// it. Lines are exactly as wide as asked for, and every text in them has been
// cleaned. None may be used by two goroutines at once.
package dialog

// An Answer says what a key press meant for a dialog.
type Answer uint8

const (
	Open     Answer = iota // go on showing it
	Toggled                // the row under the cursor was switched on or off; go on showing it
	Changed                // what was typed has changed; go on showing it
	Accepted               // close it and take what it holds
	Closed                 // close it and forget what it holds
)
