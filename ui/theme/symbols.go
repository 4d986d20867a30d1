package theme

// Symbols are the signs that stand beside words. Each is one cell wide.
type Symbols struct {
	ASCII bool // nothing outside ASCII may reach the screen

	Ellipsis string // where a text was cut

	Good, Warn, Bad, Unknown string // verdicts, and the states that count as such
	Risk                     string // a step that changes the node
	Running, Exited, Created string // states of sandboxes and containers
	Gone                     string // listed no longer
	Unseen                   string // an event that no relist has seen

	Folded, Unfolded string // of a pod in the tree
	Branch, Last     string // of what a pod holds
	Bullet           string // between facts on one line
	Step             string // from one step to the next
	Up, Down         string // the order of the column that sorts
	Mark             string // before a link of a chain to act on
	Bar              string // before the row under the cursor
	Horizontal       string // a rule
	Vertical         string

	TopLeft, TopRight       string // corners of a frame
	BottomLeft, BottomRight string
	Left, Right             string // from one frame to the next

	Full, Empty string   // cells of a bar; brackets stand round them
	Spark       []string // lowest first
	SparkFailed string   // relists or calls that failed
	SparkSome   string   // relists that failed in part; calls of which fewer than half failed

	Shades []string // how long calls took, the shortest first
	Made   string   // along the time that a container was created and not started
	Run    string   // along the time that it ran
	Ended  string   // along the time that it was there and had exited
	Lag    string   // from what happened to where it was seen
	Sight  string   // where an event source saw what the relist saw later, or before
	Blind  string   // while nothing could be seen
	Pause  string   // while the relist was paused
	Cursor string   // above the moment that the cursor is on
	Track  []string // a stretch of a recording, by how bad it was: not known, sound, warning, critical; each without and with events
}

// Unicode is the ordinary set, for terminal emulators. The fonts of the Linux
// console lack some of it; that wants [ASCII].
var Unicode = Symbols{
	Ellipsis: "…",
	Good:     "✔", Warn: "▲", Risk: "!", Bad: "✖", Unknown: "?",
	Running: "●", Exited: "○", Created: "◌", Gone: "−", Unseen: "◇",
	Folded: "▸", Unfolded: "▾", Branch: "├", Last: "└", Bullet: "·", Step: "›",
	Up: "↑", Down: "↓", Mark: "◆", Bar: "▌",
	Horizontal: "─", Vertical: "│",
	TopLeft: "┌", TopRight: "┐", BottomLeft: "└", BottomRight: "┘", Left: "←", Right: "→",
	Full: "█", Empty: "·",
	Spark:       []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
	SparkFailed: "✕",
	SparkSome:   "%",
	Shades:      []string{"░", "▒", "▓", "█"},
	Made:        "╌", Run: "━", Ended: "┈", Lag: "░", Sight: "◦", Blind: "╱", Pause: "║", Cursor: "▼",
	Track: []string{"·", "·", "─", "┴", "━", "┻", "█", "▓"},
}

// ASCII is the set for terminals and fonts that have nothing else.
var ASCII = Symbols{
	ASCII:    true,
	Ellipsis: "~",
	Good:     "+", Warn: "!", Risk: "!", Bad: "X", Unknown: "?",
	Running: "*", Exited: "o", Created: ".", Gone: "-", Unseen: "u",
	Folded: ">", Unfolded: "v", Branch: "|", Last: "`", Bullet: "-", Step: ">",
	Up: "^", Down: "v", Mark: "#", Bar: ">",
	Horizontal: "-", Vertical: "|",
	TopLeft: "+", TopRight: "+", BottomLeft: "+", BottomRight: "+", Left: "<", Right: ">",
	Full: "#", Empty: ".",
	Spark:       []string{"_", ".", ":", "-", "=", "+", "*", "#"},
	SparkFailed: "x",
	SparkSome:   "%",
	Shades:      []string{".", ":", "+", "#"},
	Made:        ".", Run: "=", Ended: "_", Lag: "%", Sight: "'", Blind: "/", Pause: "|", Cursor: "v",
	Track: []string{".", ".", "-", "'", "=", "\"", "#", "%"},
}
