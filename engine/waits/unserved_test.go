package waits

import (
	"testing"

	"github.com/plegtop/plegtop/engine/evidence"
)

// If nothing shows what an object waits for, it likely waits for a file system of its pod whose program has
// ended. It does not wait for one of another pod.
func TestAnObjectLikelyWaitsForWhatNobodyServes(t *testing.T) {
	volume := func(pod string) *evidence.Deep {
		return &evidence.Deep{Unserved: []evidence.Mount{{Point: "/var/lib/kubelet/pods/" + pod + "/volumes/v", Type: "fuse.s3fs", Device: "0:99"}}}
	}
	const call = "ContainerStatus of pay/api-0/app > pay/api-0/app"
	for _, tt := range []struct {
		name string
		f    Facts
		deep *evidence.Deep
		want string
	}{
		{"its pod's", facts(2).status(0), volume("uid-0"), call + " > mount /var/lib/kubelet/pods/uid-0/volumes/v?"},
		{"another pod's", facts(2).status(0), volume("uid-1"), call},
		{"a helper is known", facts(2).status(0).helper(9, 0, "update"), volume("uid-0"), call + " > shim 100 > runc update (1m)"},
	} {
		tt.f.Deep = tt.deep
		if got := names(Build(tt.f), ObjectKey(app(0).ObjectRef)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
