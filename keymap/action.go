package keymap

// An Action is what a key press asks for, by its name in the config file. Models handle
// actions, never keys.
type Action string

const (
	None Action = ""

	// Anywhere.
	Help         Action = "help"
	Quit         Action = "quit"
	Back         Action = "back"
	NextPane     Action = "next-pane"
	PrevPane     Action = "prev-pane"
	PodsPane     Action = "pods-pane"
	EventsPane   Action = "events-pane"
	CallsPane    Action = "calls-pane"
	FindingsPane Action = "findings-pane"
	Node         Action = "node"
	FullScreen   Action = "full-screen"
	Suspend      Action = "suspend"
	Redraw       Action = "redraw"

	// The relist. None of these changes anything on a node.
	PauseRelist  Action = "pause-relist"
	RelistNow    Action = "relist-now"
	ReinspectPod Action = "reinspect-pod"
	Sweep        Action = "sweep"
	PeriodUp     Action = "period-up"
	PeriodDown   Action = "period-down"
	Freeze       Action = "freeze"
	Faults       Action = "faults"

	// What is shown.
	Filter        Action = "filter"
	Namespaces    Action = "namespaces"
	AllNamespaces Action = "all-namespaces"
	ProblemsOnly  Action = "problems-only"
	NextProblem   Action = "next-problem"
	PrevProblem   Action = "prev-problem"
	SortPrev      Action = "sort-prev"
	SortNext      Action = "sort-next"
	SortInvert    Action = "sort-invert"
	Detail        Action = "detail"
	Raw           Action = "raw"
	Copy          Action = "copy"
	Fold          Action = "fold"

	// Events.
	Follow     Action = "follow"
	Mark       Action = "mark"
	MatchNext  Action = "match-next"
	MatchPrev  Action = "match-prev"
	TimeFormat Action = "time-format"
	Wrap       Action = "wrap"
	Save       Action = "save"

	// Moving.
	Up       Action = "up"
	Down     Action = "down"
	Left     Action = "left"
	Right    Action = "right"
	Top      Action = "top"
	Bottom   Action = "bottom"
	HalfUp   Action = "half-up"
	HalfDown Action = "half-down"
	PageUp   Action = "page-up"
	PageDown Action = "page-down"
)
