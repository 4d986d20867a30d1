// Package frozen writes plain values, with all that they point to, as bytes, and reads them
// again: the inputs of a machine, and a whole machine as it stands.
//
// What gob, CBOR and Protobuf lose is kept here: fields that are not exported, two pointers to
// one value, nil and empty slices, and the monotonic reading of a time, by which durations are
// right across a step of the clock. Functions and channels are left out, and so are fields with
// the tag `frozen:"-"`: they are zero when they are read.
//
// A stream describes its types by the names of their fields before it has values of them. A
// reader of another version leaves out the fields that it does not know, and has zero for
// those that it alone knows.
//
// A stream is the work of one [Writer] and is read by one [Reader] from its beginning: texts
// and types that were written once are not written again. Neither is safe for concurrent use.
package frozen
