package diagnose

import (
	"fmt"
	"path/filepath"
)

// RecordingEnded is a recording of ours that ended before plegtop did.
const RecordingEnded ID = "recording-ended"

var recordingEndedKind = &kind{
	id: RecordingEnded, find: recordingEnded,
	severity: "warning",
	when:     "plegtop could not go on writing its recording: the disk is full, fails or does not answer",
}

// recordingEnded tells that what happens is not recorded any more, which stays so.
func recordingEnded(v *view) []Finding {
	r := v.Recording
	if r.Ended == "" {
		return nil
	}
	f := Finding{
		ID: RecordingEnded, Severity: Warning,
		Summary: "the recording in memory ended: " + r.Ended,
		Next: []Step{
			{Text: "how much memory plegtop takes", Command: "ps -o rss,args -C plegtop"},
			{Text: "start plegtop again: it records again", Ends: true},
		},
	}
	if r.File != "" {
		dir := quote(filepath.Dir(r.File))
		f.Summary = fmt.Sprintf("the recording to %s ended: %s", r.File, r.Ended)
		f.Next = []Step{
			{Text: "is the disk full or read-only, and is the file there", Command: fmt.Sprintf("df -h %s; df -i %s; ls -l %s", dir, dir, quote(r.File))},
			{Text: "make room, then start plegtop again with --record " + quote(r.File) + ", which continues the file; what happens until then is lost", Ends: true},
		}
		if r.Span > 0 {
			f.say(fmt.Sprintf("the last %s are in memory: kill -USR2 of plegtop, or its key for that, saves them to a new file", span(r.Span)))
		}
	}
	f.say("it ended at " + v.clock(r.EndedAt))
	return []Finding{f}
}
