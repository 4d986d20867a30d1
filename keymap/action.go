package keymap

// An Action is what a key press asks for. Models handle actions, never keys.
type Action uint8

const (
	None Action = iota

	// Anywhere.
	Help
	Quit
	Back
	NextPane
	PrevPane
	PodsPane
	EventsPane
	CallsPane
	FindingsPane
	Node
	FullScreen
	Suspend
	Redraw

	// The relist. None of these changes anything on a node.
	PauseRelist
	RelistNow
	ReinspectPod
	Sweep
	PeriodUp
	PeriodDown
	Freeze
	Faults

	// What is shown.
	Filter
	Namespaces
	AllNamespaces
	ProblemsOnly
	NextProblem
	PrevProblem
	SortPrev
	SortNext
	SortInvert
	Detail
	Raw
	Copy
	Fold

	// Events.
	Follow
	Mark
	MatchNext
	MatchPrev
	TimeFormat
	Wrap
	Save

	// Moving.
	Up
	Down
	Left
	Right
	Top
	Bottom
	HalfUp
	HalfDown
	PageUp
	PageDown
)
