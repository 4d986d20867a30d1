package keymap

// actionNames holds what the config file calls each action.
var actionNames = map[Action]string{
	None: "none",

	Help: "help", Quit: "quit", Back: "back", NextPane: "next-pane", PrevPane: "prev-pane",
	PodsPane: "pods-pane", EventsPane: "events-pane", CallsPane: "calls-pane",
	FindingsPane: "findings-pane", Node: "node",
	FullScreen: "full-screen", Suspend: "suspend", Redraw: "redraw",

	PauseRelist: "pause-relist", RelistNow: "relist-now", ReinspectPod: "reinspect-pod",
	Sweep: "sweep", PeriodUp: "period-up", PeriodDown: "period-down",
	Freeze: "freeze", Faults: "faults",

	Filter: "filter", Namespaces: "namespaces", AllNamespaces: "all-namespaces",
	ProblemsOnly: "problems-only", NextProblem: "next-problem", PrevProblem: "prev-problem",
	SortPrev: "sort-prev", SortNext: "sort-next", SortInvert: "sort-invert", Detail: "detail", Raw: "raw", Copy: "copy", Fold: "fold",

	Follow: "follow", Mark: "mark", MatchNext: "match-next", MatchPrev: "match-prev",
	TimeFormat: "time-format", Wrap: "wrap", Save: "save",

	Up: "up", Down: "down", Left: "left", Right: "right", Top: "top", Bottom: "bottom",
	HalfUp: "half-up", HalfDown: "half-down", PageUp: "page-up", PageDown: "page-down",
}

// String returns the action's name in the config file, such as "relist-now",
// and "unknown" for a value that is no action.
func (a Action) String() string {
	if name, ok := actionNames[a]; ok {
		return name
	}
	return "unknown"
}
