package engine

// A Request is what somebody can ask an engine for.
type Request uint8

// The requests. Each is a method of [Engine].
const (
	Pause Request = iota
	Resume
	RelistNow
	Reinspect // one pod
	CheckAll  // ask for every sandbox and container
	CancelCheckAll
	SetPeriod
	SetStreams
	HoldStreams    // close all event sources for a while
	ReleaseStreams // open those that are wanted
	Follow         // relist as another release does, from the first relist on
)
