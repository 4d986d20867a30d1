package lines

import "time"

// stamp appends the local time of day to milliseconds and a space.
func stamp(b []byte, at time.Time) []byte {
	return append(at.Local().AppendFormat(b, "15:04:05.000"), ' ')
}
