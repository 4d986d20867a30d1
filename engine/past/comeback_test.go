package past_test

import (
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/past"
)

// After a minute it is forgotten that an object hung, whether or not others hang.
func TestThatAnObjectHungIsForgotten(t *testing.T) {
	var k past.Keeper
	start := time.Unix(1_000_000, 0)
	k.Hung("a", start)
	k.Read()
	for i := range 3 { // an hour later, as remembered.hears does
		at := start.Add(time.Hour + time.Duration(i)*time.Minute*10)
		if k.HasHung("a", at) {
			k.Hung("a", at)
			t.Errorf("%v: remembered", at.Sub(start))
		}
		k.Read()
	}
}
