// Package record writes down what an engine goes by, and plays it again: the machine's inputs in
// their order are the whole of what plegtop decides by, so that the same machine, stepped with
// them, shows the same snapshots and events.
//
// A recording is a row of segments. Each begins with a whole state of the machine, so that it can
// be played by itself: a seek plays one segment at most, a ring drops the oldest, a file is
// continued by more of them. As bytes a segment is
//
//   - a skippable frame of zstd (RFC 8878, section 3.1.2) with a [Head] in JSON,
//   - one frame of zstd, flushed every second, so that a crash takes no more than that;
//   - in which lie blocks: length, CRC-32C, and values of one stream of package frozen: first
//     what the machine began with and its state, then its inputs. Eight bytes that are no block
//     say that the segment was ended, and not cut off.
//
// A list that is as the one before is not written again, and of one that has changed only which
// rows are new and where the others stand.
//
// Recorder and Recording are safe for concurrent use, Player is not.
package record
