//go:build linux

// Package e2e runs a program in a pseudo-terminal and reads the screen that it
// draws, for tests of the whole program and for measuring it.
package e2e
