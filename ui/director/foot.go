// Package director shows an audience what a demo does, and steers it: a line at the
// foot of the screen, with the panes above it in view.
package director

import (
	"cmp"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/cri/sim/script"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// Foot is the layer at the foot of the screen from which a demo is directed. Keys that
// have no meaning here it leaves to the panes above.
type Foot struct {
	demo Director
	keys []keymap.Entry
	view *pane.View
	now  script.State
}

// named is what the foot names: all that it does.
var named = []keymap.Action{
	keymap.World, keymap.Step, keymap.Slower, keymap.Faster, keymap.Restart, keymap.NextScenario, keymap.PrevScenario, keymap.Faults, keymap.Captions,
	keymap.Back,
}

// New returns a foot for a director, in which these keys are pressed.
func New(d Director, keys keymap.Map) *Foot {
	return &Foot{demo: d, keys: keys.Entries(named), now: d.State()}
}

// Info says that the layer is a line at the foot.
func (f *Foot) Info() pane.Info {
	return pane.Info{Name: "Director", Scope: keymap.Over | keymap.Directing, Least: 1, Wanted: 1, Foot: true}
}

// Observe sees how far the script is.
func (f *Foot) Observe(v *pane.View, _, _ int) {
	f.view = v
	f.see()
}

// Subject returns nothing.
func (f *Foot) Subject() pane.Subject { return pane.Subject{} }

// Do directs the script, and shows at once what became of it.
func (f *Foot) Do(a keymap.Action, h pane.Host) (tea.Cmd, bool) {
	f.see()
	switch a {
	case keymap.World:
		f.demo.Freeze(!f.now.Frozen)
	case keymap.Step:
		f.step(h)
	case keymap.Slower:
		f.setSpeed(f.now.Speed/2, h)
	case keymap.Faster:
		f.setSpeed(f.now.Speed*2, h)
	case keymap.Restart:
		f.demo.Restart()
	case keymap.NextScenario:
		f.demo.Next(1)
	case keymap.PrevScenario:
		f.demo.Next(-1)
	case keymap.Faults:
		h.Open(f.faults())
	case keymap.Back, keymap.Director:
		h.Close(f)
	default:
		return nil, false
	}
	return nil, true
}

// step has the next thing happen, and says what that was.
func (f *Foot) step(h pane.Host) {
	what, moved := f.demo.Step()
	if !moved {
		what = "nothing happens next in " + f.now.Scenario + ": switch a fault on"
	}
	h.Say(cmp.Or(what, "one thing has happened"))
}

// see reads how far the script is, and what each key does then.
func (f *Foot) see() {
	f.now = f.demo.State()
	if i := slices.IndexFunc(f.keys, func(e keymap.Entry) bool { return e.Action == keymap.World }); i >= 0 {
		f.keys[i].Short = theme.When(f.now.Frozen, "thaw world", "freeze world")
	}
}

func (f *Foot) setSpeed(times float64, h pane.Host) {
	f.demo.SetSpeed(times)
	if f.demo.State().Speed == f.now.Speed {
		h.Say(f.now.Scenario + " goes no " + map[bool]string{true: "faster", false: "slower"}[times > f.now.Speed])
	}
}

func (f *Foot) faults() *layer.Picker {
	var all []widget.Choice
	for _, fault := range f.demo.Faults() {
		all = append(all, widget.Choice{Name: fault.Name, Note: fault.Summary, On: fault.On})
	}
	p := layer.NewPicker("Faults of the demo", all)
	p.Switched = func(_ pane.Host, c widget.Choice) { f.demo.SetFault(c.Name, c.On) }
	return p
}

// Draw draws how the script goes, and all keys.
func (f *Foot) Draw(l *text.Line, _ int, _ bool) {
	t, s := f.view.Theme, f.now
	l.Put(t.Strong, s.Scenario)
	if s.Frozen {
		l.Put(t.Warn, "  world frozen")
	}
	if s.Speed != 1 {
		l.Put(t.Text, "  x"+speed(s.Speed))
	}
	if s.Acts > 0 {
		l.Put(t.Text, "  "+strconv.Itoa(s.Act)+"/"+strconv.Itoa(s.Acts))
	}
	if s.Next > 0 && !s.Frozen {
		l.Put(t.Dim, " next ")
		l.Cell(t.Dim, text.Age(s.Next), 5)
	}
	if s.Faults > 0 {
		l.Put(t.Bad, "  faults "+strconv.Itoa(s.Faults))
	}
	l.Space(2)
	widget.Hints(l, f.view.Pen(), f.keys, true)
}

// speed returns a speed as a figure of two or three characters: 8, 1, 1/4.
func speed(times float64) string {
	if times < 1 {
		return "1/" + strconv.FormatFloat(1/times, 'f', -1, 64)
	}
	return strconv.FormatFloat(times, 'f', -1, 64)
}

// A Caption is what an audience is told of an act.
type Caption = script.Caption

// A Director steers the scenario that a demo's runtime plays, while its clients stay
// connected. All its methods return at once and are safe for concurrent use; what
// they ask for shows in the next [script.State].
type Director interface {
	// State returns how far the script is now.
	State() script.State
	// Faults returns all faults, in a fixed order.
	Faults() []script.Fault
	// Freeze has the script stand still, or go on. The clocks and the calls go on.
	Freeze(frozen bool)
	// Step freezes the script and has the next thing in it happen now. It says what that was, and reports
	// whether there was any.
	Step() (what string, moved bool)
	// SetSpeed has the script go so many times as fast as the runtime's clock: from
	// 1/4 to 8, to which it is cut.
	SetSpeed(times float64)
	// Restart plays the scenario from its beginning.
	Restart()
	// Next plays the scenario that is so many places further in the list of them;
	// negative: back.
	Next(places int)
	// SetFault switches a fault on or off. A name that none has changes nothing.
	SetFault(name string, on bool)
}
