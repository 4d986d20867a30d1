package host

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/procfs/blockdevice"

	"github.com/plegtop/plegtop/engine/evidence"
)

// A disk stands still for as long as it has requests and answers none.
func TestDevicesThatAnswerNothing(t *testing.T) {
	var m deviceMeter
	for second, tt := range []struct {
		waits, answered uint64
		want            time.Duration // -1 if it has nothing to do
	}{{2, 10, 0}, {2, 10, 1}, {3, 10, 2}, {3, 11, 0}, {1, 11, 1}, {0, 12, -1}, {1, 12, 0}, {1, 12, 1}} {
		s := blockdevice.Diskstats{Info: blockdevice.Info{MajorNumber: 8, MinorNumber: 1, DeviceName: "sda1"}}
		s.IOsInProgress, s.ReadIOs, s.FlushRequestsCompleted = tt.waits, tt.answered-5, 5
		var want []evidence.Device
		if tt.want >= 0 {
			want = []evidence.Device{{Number: "8:1", Name: "sda1", InFlight: int(tt.waits), Still: tt.want * time.Second}}
		}
		if diff := cmp.Diff(want, m.busy([]blockdevice.Diskstats{s}, time.Unix(int64(second), 0))); diff != "" {
			t.Errorf("second %d (-want +got):\n%s", second, diff)
		}
	}
}
