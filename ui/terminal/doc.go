// Package terminal runs a Bubble Tea program so that the terminal is always
// given back: after q and ^c, SIGTERM, SIGHUP and SIGINT, ^z, and a panic in the
// model, in one of its commands or in a goroutine that a [Guard] started. The
// process has ended 2 s after it was asked to, even if nobody reads the terminal
// any more.
//
// # A terminal that stops reading
//
// A write to a terminal that nobody reads blocks, and Bubble Tea holds a lock
// while it writes: keys, signals and quitting would wait with it. So [Run]
// opens the terminal once more without blocking, which does not change the mode
// of the file that the shell shares, and gives each write a short time. What
// cannot be written then is kept whole, frames after it are dropped, and when
// the terminal reads again the screen is drawn anew. Where the terminal cannot
// be opened again, as after su to another user, writes block as they do for
// every program; then, and when the model itself is stuck, a timer restores the
// terminal's modes and ends the process.
//
// # What cannot be caught
//
// A panic in a goroutine that nobody guards, a fatal error of the Go runtime
// and SIGKILL end the process with no code of ours run. Only a second process
// could restore the terminal after that; it would cost memory on every node for
// what the command reset does just as well, so there is none. The Go runtime's
// own report goes to standard error as ever.
package terminal
