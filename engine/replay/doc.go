// Package replay goes to any moment of a recording, with what was wrong then. A [Film] is a
// recording that was played once from its beginning, so that it is known when what happened:
// the screen rewinds with it, and steps from relist to relist and from problem to problem. It
// does no I/O but that of the recording, and reads no clock.
package replay
