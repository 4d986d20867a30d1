package engine

import "time"

// Due returns when the model must be told that time has passed.
func (m *Model) Due() time.Time { return m.due() }

// RealTime returns the clock of an engine that is given none.
func RealTime() Clock { return &realTime{} }
