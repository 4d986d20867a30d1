// Package keymap says which key means which action. Matching, the help screen,
// the footer, the table in docs/keys.md and the names in the config file all come
// from the one list in default.go.
//
// A [Map] is a value: the methods that change something return another one. A
// Map that nobody changes may be read from several goroutines at once.
package keymap
