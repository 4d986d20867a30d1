package pleg

import "time"

// Time returns the global time, and whether there is one: there is none until
// the first relist has ended.
func (c *Cache) Time() (time.Time, bool) { return c.time, c.timed }

// Waiting returns how many wait.
func (c *Cache) Waiting() int {
	n := 0
	for _, list := range c.waiting {
		n += len(list)
	}
	return n
}

// LastSeen returns the kubelet's metric pleg_last_seen_seconds.
func (c *Core) LastSeen() time.Time { return c.lastSeen }

// Gauges returns the kubelet's metrics of what runs.
func (c *Core) Gauges() Gauges { return c.gauges }
