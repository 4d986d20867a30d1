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

// counting shows how many messages it got.
type counting struct{ got int }

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

// Bubble Tea draws by our clock alone: what the model shows is drawn at once, what it shows soon
// after that is drawn together, and an hour at rest writes nothing.
func TestBubbleTeaDrawsByOurClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := new(written), &session{ending: true} // no time to end in
		p := tea.NewProgram(shown{&counting{}, s}, tea.WithInput(nil), tea.WithOutput(w), tea.WithFilter(s.filter),
			tea.WithEnvironment([]string{"TERM=xterm", "TERM_PROGRAM=Apple_Terminal"}), tea.WithWindowSize(20, 2), tea.WithoutSignalHandler())
		s.program, s.clock = p, newClock(p)
		done := make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() { s.clock.run(done) })
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
		for range 10 {
			p.Send(tea.FocusMsg{})
			time.Sleep(frameTime / 20)
		}
		time.Sleep(time.Hour)
		if got, _ := w.state(); got != before+2 {
			t.Errorf("ten messages within a frame's time: %d writes, want 2", got-before)
		}
		p.Quit()
		p.Wait()
		close(done)
		all.Wait()
	})
}
