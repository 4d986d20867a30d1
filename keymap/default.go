package keymap

import (
	"strconv"

	"charm.land/bubbles/v2/key"
)

// Default returns the keys that plegtop starts with.
func Default() Map {
	m := Map{[]Entry{
		bind(Help, Global, General, "help", "show or hide this help", "?", "f1"),
		bind(Commands, Global, General, "commands", "list all commands with their keys; type a part of one, enter runs it", ":"),
		bind(Quit, Global, General, "quit", "quit; a plain key closes what is open first", "q", "ctrl+c"),
		bind(Back, Global, General, "back", "close what is open, drop the filter", "esc"),
		bind(NextPane, Global, General, "next pane", "go to the next pane", "tab"),
		bind(PrevPane, Global, General, "previous pane", "go to the previous pane", "shift+tab"),
		bind(Node, Global, General, "node", "show or hide the node: health chain, who holds it up, kubelet, cost", "v"),
		bind(Answer, Global, General, "answer", "go back to the answer to what is wrong: who waits for whom, what to do, which pods are affected", "x"),
		bind(HowPLEG, Global, General, "how PLEG works", "how PLEG works, as a picture with the figures of now", "H"),
		bind(FullScreen, Global, General, "full screen", "give the whole screen to this pane, or take it back", "f"),
		bind(Suspend, Global, General, "suspend", "suspend to the shell; fg comes back", "ctrl+z"),
		bind(Redraw, Global, General, "redraw", "draw the whole screen again", "ctrl+l"),

		bind(PauseRelist, Global, Relist, "pause relist", "pause or resume the relist; the list age goes on growing", "p"),
		bind(RelistNow, Global, Relist, "relist", "relist once now, also while paused", "ctrl+r"),
		bind(ReinspectPod, Global, Relist, "reinspect", "inspect this pod again", "r"),
		bind(Sweep, Global, Relist, "check all", "ask for every sandbox and container, 4 at a time; again: cancel", "R"),
		bind(PeriodUp, Global, Relist, "longer period", "relist less often", "K"),
		bind(PeriodDown, Global, Relist, "shorter period", "relist more often", "J"),
		bind(EventSources, Global, Relist, "event sources", "switch the event sources on or off: those of --events, else cri", "e"),
		bind(Freeze, Global, Relist, "freeze screen", "freeze or thaw the screen; the engine goes on", "Z"),

		bind(Filter, Global, View, "filter", "filter, or search in a text", "/"),
		bind(Namespaces, Global, View, "namespaces", "pick namespaces", "o"),
		bind(AllNamespaces, Global, View, "all namespaces", "show all namespaces", "0"),
		bind(ProblemsOnly, Global, View, "problems", "show only pods with a problem, or all", "W"),
		bind(NextProblem, Global, View, "problem", "go to the pod whose call hangs, or to the next with a problem", "]"),
		bind(PrevProblem, Global, View, "previous problem", "go to the pod whose call hangs, or to the one before with a problem", "["),
		bind(SortPrev, Global, View, "sort", "sort by the column to the left", "<"),
		bind(SortNext, Global, View, "sort", "sort by the column to the right", ">"),
		bind(SortInvert, Global, View, "invert", "sort in reverse order", "I"),
		bind(ZoomIn, Global, View, "zoom in", "draw less time across, in more detail", "+", "="),
		bind(ZoomOut, Global, View, "zoom out", "draw more time across", "-"),
		bind(Detail, Global, View, "detail", "show all that is known of what the cursor is on", "enter"),
		bind(Raw, Global, View, "raw", "show the runtime's answer as JSON; of the node its goroutines", "y"),
		bind(Copy, Global, View, "copy", "copy the name, id or next command (OSC 52)", "c"),
		bind(Play, Replaying, Past, "play/pause", "play the recording, or stand still", "space"),
		bind(PlaySlower, Replaying, Past, "speed", "play half as fast", ","),
		bind(PlayFaster, Replaying, Past, "speed", "play twice as fast", "."),
		bind(RelistBefore, Global, Past, "relist", "rewind by one relist; esc returns to live", "("),
		bind(RelistAfter, Global, Past, "relist", "go on by one relist", ")"),
		bind(GoToTime, Global, Past, "time", "go to a time: -10m, 2am, 02:13, 02:13:05", "b"),

		bind(Fold, Folding, View, "fold", "fold or unfold what the cursor is on", "space"),
		bind(Toggle, Picking, View, "on/off", "switch the row under the cursor", "space"),
		bind(Accept, Picking, View, "show", "show what is switched on", "enter"),

		bind(Follow, Following, Events, "follow", "follow the newest event, or stay", "F"),
		bind(MatchNext, Matching|Wrapping, Events, "match", "go to the next match, or event in time", "n"),
		bind(MatchPrev, Matching|Wrapping, Events, "previous match", "go to the previous match, or event in time", "N"),
		bind(TimeFormat, Global, Events, "time", "times as clock, age or full", "t"),
		bind(Wrap, Wrapping, Events, "wrap", "wrap long lines, or cut them", "w"),
		bind(SaveTape, Global, Events, "save recording", "save the last minutes as a recording, which --replay shows", "S"),

		bind(Captions, Global, Demo, "captions", "say what happens, what to watch and what to press, or not", "C"),
		bind(Director, Global, Demo, "director", "direct the demo, in a line at the foot", "D"),
		bind(World, Directing, Demo, "freeze world", "freeze the world of the demo, or let it go on", "P"),
		bind(Step, Directing, Demo, "step", "one step of the script", "s"),
		bind(Slower, Directing, Demo, "speed", "half as fast", ","),
		bind(Faster, Directing, Demo, "speed", "twice as fast", "."),
		bind(Restart, Directing, Demo, "begin again", "the same scenario from its start", "B"),
		bind(NextScenario, Directing, Demo, "scenario", "the next scenario", "a"),
		bind(PrevScenario, Directing, Demo, "scenario", "the scenario before", "A"),
		bind(Faults, Directing, Demo, "faults", "switch faults on and off", "i"),

		bind(Up, Global, Moving, "up", "up", "k", "up"),
		bind(Down, Global, Moving, "down", "down", "j", "down"),
		bind(Left, Global, Moving, "left", "left; fold", "h", "left"),
		bind(Right, Global, Moving, "right", "right; unfold", "l", "right"),
		bind(Top, Global, Moving, "top", "to the top", "g", "home"),
		bind(Bottom, Global, Moving, "bottom", "to the bottom", "G", "end"),
		bind(HalfUp, Global, Moving, "half page up", "half a page up", "ctrl+u"),
		bind(HalfDown, Global, Moving, "half page down", "half a page down", "ctrl+d"),
		bind(PageUp, Global, Moving, "page up", "a page up", "ctrl+b", "pgup"),
		bind(PageDown, Global, Moving, "page down", "a page down", "ctrl+f", "pgdown", "space"),
	}}
	for n := 1; n <= mostPanes; n++ {
		digit := strconv.Itoa(n)
		m.entries = append(m.entries, bind(Pane(n), Global, General, "pane "+digit, "go to pane "+digit, digit))
	}
	return m
}

func bind(a Action, in Scope, g Group, short, long string, keys ...string) Entry {
	return Entry{
		Action: a, Scope: in, Group: g, Short: short,
		Binding: key.NewBinding(key.WithKeys(keys...), key.WithHelp(labelAll(keys), long)),
	}
}
