// Package ui is the screen: one Bubble Tea model that shows what the engine publishes
// and asks the engine for what a key means.
//
// Data flows one way. A command waits for the feed; its answer is the only way in
// which a snapshot reaches the model, and the next wait starts only then, so at most
// one snapshot is ever under way, and what a slow terminal misses are older ones;
// events that it has missed are counted and shown as a gap. What is shown is worked
// out when a snapshot or a key arrives; drawing a frame only reads, and builds no
// more than the rows that are visible. The model does no I/O, reads no clock and
// blocks nowhere: time comes from the snapshots, slow answers come from commands.
//
// Texts from the runtime are cleaned by package text at the moment they are written
// to a line, and nothing is written to the screen in another way.
package ui
