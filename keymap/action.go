// Package keymap says which key means which action. Matching, the help screen,
// the footer, the table in docs/keys.md and the names in the config file all come
// from the one list in default.go.
//
// A [Map] is a value: the methods that change something return another one. A
// Map that nobody changes may be read from several goroutines at once.
package keymap

import (
	"strconv"
	"strings"
)

// An Action is what a key press asks for, by its name in the config file. Models handle
// actions, never keys.
type Action string

const (
	None Action = ""

	// Anywhere.
	Help       Action = "help"
	Quit       Action = "quit"
	Back       Action = "back"
	NextPane   Action = "next-pane"
	PrevPane   Action = "prev-pane"
	Node       Action = "node"
	Answer     Action = "answer"
	Commands   Action = "commands"
	HowPLEG    Action = "how-pleg"
	FullScreen Action = "full-screen"
	Suspend    Action = "suspend"
	Redraw     Action = "redraw"

	// The relist. None of these changes anything on a node.
	PauseRelist  Action = "pause-relist"
	RelistNow    Action = "relist-now"
	ReinspectPod Action = "reinspect-pod"
	Sweep        Action = "sweep"
	PeriodUp     Action = "period-up"
	PeriodDown   Action = "period-down"
	Freeze       Action = "freeze"
	EventSources Action = "event-sources"

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
	ZoomIn        Action = "zoom-in"
	ZoomOut       Action = "zoom-out"
	Detail        Action = "detail"
	Raw           Action = "raw"
	Copy          Action = "copy"
	Fold          Action = "fold"
	Toggle        Action = "toggle"
	Accept        Action = "accept"

	// Events.
	Follow     Action = "follow"
	MatchNext  Action = "match-next"
	MatchPrev  Action = "match-prev"
	TimeFormat Action = "time-format"
	Wrap       Action = "wrap"
	SaveTape   Action = "save-recording"

	// The past: what was recorded.
	RelistBefore Action = "relist-before"
	RelistAfter  Action = "relist-after"
	GoToTime     Action = "go-to-time"
	Play         Action = "play"
	PlaySlower   Action = "play-slower"
	PlayFaster   Action = "play-faster"

	// The demo: how its script goes on.
	Captions     Action = "captions"
	Director     Action = "director"
	World        Action = "world"
	Step         Action = "step"
	Slower       Action = "slower"
	Faster       Action = "faster"
	Restart      Action = "restart"
	NextScenario Action = "next-scenario"
	PrevScenario Action = "prev-scenario"
	Faults       Action = "faults"

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

// pane is what the names of the actions begin with that go to a pane by its number.
const pane = "pane-"

// mostPanes is how many panes have a key of their own.
const mostPanes = 9

// Pane returns the action that goes to pane n, counted from 1.
func Pane(n int) Action { return Action(pane + strconv.Itoa(n)) }

// Pane returns the number of the pane that a goes to; 0 if it goes to none.
func (a Action) Pane() int {
	digit, ok := strings.CutPrefix(string(a), pane)
	if n, err := strconv.Atoi(digit); ok && err == nil {
		return n
	}
	return 0
}
