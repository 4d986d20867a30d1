// Package text is where text from outside becomes fit for the screen: cleaned
// of everything that a terminal would obey, measured in cells, cut and padded.
//
// Whatever a container runtime, a config file or a person at the keyboard
// supplied is hostile until [Clean] has seen it. [Fit], [Append] and [Line] clean
// on their own account, so a caller who draws with them cannot forget to.
// Everything here is pure and safe for concurrent use, except a [Line], which
// belongs to the frame that it is written for.
package text
