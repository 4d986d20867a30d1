package pleg

import (
	"fmt"
	"time"
)

// What every kubelet from 1.25 on is built with. None of it can be configured
// on a node.
const (
	DefaultCapacity  = 1000            // events that the channel holds
	DefaultThreshold = 3 * time.Minute // list age above which PLEG is unhealthy
	DefaultPeriod    = time.Second     // from the end of one relist to the start of the next
)

// NoCapacity as [Config.Capacity] makes a channel that takes no event at all.
const NoCapacity = -1

// Config says how a [Core] decides. The zero value is the newest kubelet with
// its own figures.
type Config struct {
	Release   Release       // whose relist; 0 means Newest
	Capacity  int           // of the event channel; 0 means DefaultCapacity, negative means none
	Threshold time.Duration // of Healthy; 0 means DefaultThreshold
}

// Validate reports a release whose relist is not known, or a threshold that no
// relist could keep.
func (c Config) Validate() error {
	if c.Release != 0 && (c.Release < Oldest || c.Release > Newest) {
		return fmt.Errorf("kubelet release %v: want %v to %v", c.Release, Oldest, Newest)
	}
	if c.Threshold < 0 {
		return fmt.Errorf("relist threshold %v: want more than 0", c.Threshold)
	}
	return nil
}

func (c Config) withDefaults() Config {
	if c.Release == 0 {
		c.Release = Newest
	}
	if c.Capacity == 0 {
		c.Capacity = DefaultCapacity
	}
	if c.Threshold == 0 {
		c.Threshold = DefaultThreshold
	}
	c.Capacity = max(c.Capacity, 0)
	return c
}
