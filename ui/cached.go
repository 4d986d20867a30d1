package ui

import (
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/text"
)

// status adds what the pod cache holds.
func (d *detail) status(b pen, s *engine.Snapshot) {
	d.section(b, "Cached status")
	st := d.pod.Status
	if st == nil {
		d.add(slot{b.Dim, pick(d.pod.StatusErr != nil, "  the cache holds the error above in its place", "  none: the pod has not been inspected yet"), 0})
		return
	}
	for _, ip := range st.IPs {
		d.field(b, "ip", b.Text, ip)
	}
	d.field(b, "as of", b.Text, text.AgeCoarse(s.At.Sub(d.pod.StatusAt))+" ago")
	for _, sb := range st.Sandboxes {
		symbol, look := stateLook(b, sb.State)
		d.field(b, "sandbox", look, fmt.Sprintf("%s %s  attempt %d  %s", symbol, sandboxWord(sb.State), sb.Attempt, short(sb.ID)))
	}
	for i := range st.Containers {
		d.container(b, s, &st.Containers[i])
	}
}

func (d *detail) container(b pen, s *engine.Snapshot, c *pleg.ContainerStatus) {
	symbol, look := stateLook(b, c.State)
	line := fmt.Sprintf("%s %s  attempt %d  %s", symbol, c.State, c.Attempt, short(c.ID))
	if c.State == pleg.Exited {
		line = fmt.Sprintf("%s %s %d  attempt %d  %s", symbol, c.State, c.ExitCode, c.Attempt, short(c.ID))
		look = pick(c.ExitCode != 0, b.Bad, look)
	}
	d.add(slot{b.Text, "  " + c.Name, labelWidth}, slot{look, line, 0})
	d.field(b, "", b.Text, c.Image)
	d.field(b, "", b.Text, times(s.At, c))
	d.field(b, "", b.Warn, joined(c.Reason, c.Message))
}

// times lists the moments of a container's life that the runtime gave.
func times(at time.Time, c *pleg.ContainerStatus) string {
	out := ""
	for _, t := range []struct {
		what string
		at   time.Time
	}{{"created", c.CreatedAt}, {"started", c.StartedAt}, {"finished", c.FinishedAt}} {
		if !t.at.IsZero() {
			out += fmt.Sprintf("%s %s ago  ", t.what, text.AgeCoarse(at.Sub(t.at)))
		}
	}
	return out
}

func joined(reason, message string) string {
	if reason == "Completed" {
		return message
	}
	if reason != "" && message != "" {
		return reason + ": " + message
	}
	return reason + message
}
