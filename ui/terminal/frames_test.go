package terminal

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
)

// A frame is drawn at once where none was drawn for a while, all that is wanted meanwhile
// is in the next one, and nothing happens at rest.
func TestFramesAreDrawnWhenWanted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, settled := time.Now(), 0
		f := newFrames(func() { settled++ })
		done := make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() { f.run(done) })
		at := func(from time.Time) time.Duration { return (<-f.ticks).Sub(from) }
		time.Sleep(time.Hour)
		if settled != 0 || len(f.ticks) > 0 {
			t.Errorf("%d frames at rest", settled)
		}
		f.want()
		if d := at(began.Add(time.Hour)); d != 0 {
			t.Errorf("the first frame came after %v, want at once", d)
		}
		first := time.Now()
		for range 10 {
			f.want()
			time.Sleep(time.Millisecond)
		}
		if d := at(first); d != frameTime || settled != 2 {
			t.Errorf("ten wants: %d frames, the last after %v; want 2 and %v", settled, d, frameTime)
		}
		time.Sleep(time.Hour)
		if settled != 2 {
			t.Errorf("%d frames, want 2", settled)
		}
		close(done)
		all.Wait()
	})
}

// counting shows how many messages it got.
type counting struct {
	*session
	got int
}

func (c *counting) Init() tea.Cmd { return nil }
func (c *counting) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, is := msg.(tea.FocusMsg); is {
		c.got++
	}
	return c, nil
}

func (c *counting) View() tea.View { return tea.NewView(fmt.Sprintf("<%d>", c.got)) }

// A written is what a program writes.
type written struct {
	mu     sync.Mutex
	writes int
	text   bytes.Buffer
}

func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes++
	return w.text.Write(p)
}

func (w *written) state() (int, string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.writes, w.text.String()
}

// Bubble Tea draws by our clock alone: what the model shows is drawn in no time by the
// clock, also after the terminal was away, and an hour at rest writes nothing.
func TestBubbleTeaDrawsByOurClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := new(written)
		s := &session{told: &tea.WindowSizeMsg{}, ending: true} // no time to end in
		p := tea.NewProgram(guarded{&counting{session: s}, s}, tea.WithInput(nil), tea.WithOutput(w), tea.WithFilter(s.filter),
			tea.WithEnvironment([]string{"TERM=xterm", "TERM_PROGRAM=Apple_Terminal"}), tea.WithWindowSize(20, 2), tea.WithoutSignalHandler())
		s.program, s.frames = p, newFrames(func() { p.Send(settledMsg{}) })
		s.frames.drive(p)
		done := make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() { s.frames.run(done) })
		all.Go(func() { _, _ = p.Run() })
		time.Sleep(time.Hour)
		before, _ := w.state()
		for n := range 3 {
			p.Send(tea.FocusMsg{})
			synctest.Wait() // no time passes
			if got, text := w.state(); got != before+1 || !bytes.Contains([]byte(text), fmt.Append(nil, n+1)) {
				t.Errorf("message %d: %d writes, want one more than %d; all is %q", n+1, got, before, text)
			}
			time.Sleep(time.Hour)
			before, _ = w.state()
		}
		p.Quit()
		p.Wait()
		close(done)
		all.Wait()
	})
}
