// Package flags reads plegtop's command line: the flags that all views share and
// the name of the view. It starts nothing.
package flags
