package fleet

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/terminal"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// A Look is how the screen looks, and which keys it has.
type Look struct {
	Keys   keymap.Map
	Theme  theme.Theme
	Follow bool // the theme follows the terminal's background
}

// A news is a round, or how far it is, or why there is none.
type news struct {
	Round
	err error
}

// A model is the live table. It is a Bubble Tea model: Update is called from one goroutine, View
// only reads.
type model struct {
	Look
	ctx     context.Context // of the screen that is run on a node
	kubectl kubectl
	rounds  <-chan news

	shown  Round // of which rows are the nodes that the filter leaves
	asking Counts
	err    error // why there is no newer round
	table  widget.Table[*Node, string]
	doc    *widget.Doc // the help, while that is open

	filter        string
	typing        bool
	said          string // the answer to a key, until the next one
	width, height int
}

func newModel(ctx context.Context, look Look, k kubectl, rounds <-chan news) *model {
	m := &model{Look: look, ctx: ctx, kubectl: k, rounds: rounds, width: 80, height: 24}
	m.table = widget.Table[*Node, string]{Key: (*Node).key, Columns: []widget.Column[*Node]{
		{Name: "node", Head: "NODE", Least: 12, Most: 60, Fair: 24, Fits: true, Value: func(p widget.Pen, n *Node) widget.Cell { return widget.Name(p.Strong, dash(n.Name)) }},
		{Name: "state", Head: "STATE", Least: 12, Most: 22, Fair: 18, Rank: 1, Fits: true, Value: func(p widget.Pen, n *Node) widget.Cell {
			symbol, word, look := n.word(p.Theme)
			return widget.Say(look, word).Signed(symbol)
		}},
		{Name: "culprit", Head: "CULPRIT", Least: 16, Most: 60, Fair: 24, Rank: 3, Fits: true, Gives: true, Value: func(p widget.Pen, n *Node) widget.Cell { return widget.Name(p.Text, n.Culprit) }},
		{Name: "what", Head: "WHAT", Least: 10, Most: text.Limit, Fair: 24, Rank: 2, Rest: true, Value: func(p widget.Pen, n *Node) widget.Cell { return widget.Say(p.Text, n.says()) }},
	}}
	return m
}

// Init waits for the first news.
func (m *model) Init() tea.Cmd { return m.next }

func (m *model) next() tea.Msg {
	if n, ok := <-m.rounds; ok {
		return n
	}
	return nil
}

// A returned says that the screen of a node has ended.
type returned struct {
	node string
	err  error
	said string // by kubectl
}

// String says why the screen ended; it is empty where that was well.
func (r returned) String() string {
	if r.err == nil {
		return ""
	}
	return fmt.Sprintf("the screen on %s ended: %v %s", r.node, r.err, r.said)
}

// Update routes a message.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.BackgroundColorMsg:
		m.background(msg.IsDark())
	case news:
		m.take(msg)
		if cmd = m.next; m.err != nil && m.shown.At.IsZero() {
			cmd = tea.Quit // there is nothing to be shown
		}
	case returned:
		m.said = msg.String()
	case tea.KeyPressMsg:
		cmd = m.press(msg)
	}
	m.arrange()
	return m, cmd
}

// background takes the theme that suits the terminal's background, unless one was chosen.
func (m *model) background(dark bool) {
	plain := m.Theme.Symbols.ASCII
	if !m.Follow {
		return
	}
	if m.Theme = theme.For(dark); plain {
		m.Theme = m.Theme.Plain()
	}
}

// take takes over news. Until the first round has ended it is shown as far as it is.
func (m *model) take(n news) {
	m.asking = Counts{}
	switch {
	case n.err != nil:
		m.err = n.err
	case n.Done || !m.shown.Done:
		m.shown, m.err = n.Round, nil
		if !n.Done {
			m.asking = n.counts()
		}
	default:
		m.asking = n.counts()
	}
}

// arrange brings the rows, and the help, into the room that there is.
func (m *model) arrange() {
	p := m.pen()
	m.table.Resize(p, m.width-2, m.height-around)
	rows := make([]*Node, 0, len(m.shown.Nodes))
	for _, n := range m.shown.Nodes {
		if n.matches(m.filter, p.Theme) {
			rows = append(rows, n)
		}
	}
	m.table.Set(rows)
	if m.doc != nil {
		m.doc.Write(p, m.width-2, m.height-around, m.help)
	}
}

// matches reports whether what is shown of a node has a text, in any case.
func (n *Node) matches(filter string, t *theme.Theme) bool {
	if filter == "" {
		return true
	}
	_, word, _ := n.word(t)
	shown := strings.Join([]string{n.Name, word, n.Culprit, n.says()}, "\n")
	return strings.Contains(strings.ToLower(shown), strings.ToLower(filter))
}

// press does what a key asks for.
func (m *model) press(k tea.KeyPressMsg) tea.Cmd {
	m.said = ""
	if m.typing && m.typed(k) {
		return nil
	}
	scope := theme.When(m.doc != nil, keymap.Over, keymap.Scope(0))
	switch a := m.Keys.Action(k, scope); a {
	case keymap.Quit:
		return tea.Quit
	case keymap.Help:
		m.doc = theme.When(m.doc == nil, new(widget.Doc), nil)
	case keymap.Back:
		if m.doc == nil {
			m.filter = ""
		}
		m.doc = nil
	case keymap.Filter:
		m.typing, m.doc = true, nil
	case keymap.Detail:
		return m.open()
	default:
		if m.doc != nil {
			m.doc.Do(a)
		} else {
			m.table.Do(a)
		}
	}
	return nil
}

// typed changes the filter that is being typed, and reports whether a key does.
func (m *model) typed(k tea.KeyPressMsg) bool {
	switch k.String() {
	case "enter":
		m.typing = false
	case "esc":
		m.filter, m.typing = "", false
	case "backspace":
		_, n := utf8.DecodeLastRuneInString(m.filter)
		m.filter, m.typing = m.filter[:len(m.filter)-n], m.filter != ""
	default:
		m.filter += text.Clean(k.Text)
		return k.Text != ""
	}
	return true
}

// open runs the screen on the node under the cursor.
func (m *model) open() tea.Cmd {
	n, ok := m.table.Current()
	switch {
	case !ok || m.doc != nil:
		return nil
	case n.Pod == "":
		m.said = "no pod of the DaemonSet is on " + n.Name
		return nil
	case n.State == NotRunning:
		m.said = "no screen there: the pod does not run (" + n.Why + ")"
		return nil
	}
	c, said := m.kubectl.screen(m.ctx, n.Namespace, n.Pod), new(bytes.Buffer)
	c.Stderr = said // what kubectl says of itself: the rest is the pod's
	return func() tea.Msg {
		return terminal.LendMsg{To: c, Ended: func(err error) tea.Msg { return returned{n.Name, err, last(said)} }}
	}
}
