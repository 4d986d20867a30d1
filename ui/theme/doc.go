// Package theme says how the screen looks: styles as ready-made escape
// sequences, and the symbols that stand beside every colour. It computes
// nothing while a frame is drawn and holds no state; all its values may be
// shared between goroutines.
//
// A theme uses the terminal's own 16 colours, so it fits light and dark
// screens alike. What the terminal cannot show is taken out on the way to it.
// Nothing is told by colour alone: each state has a word and a symbol too.
package theme
