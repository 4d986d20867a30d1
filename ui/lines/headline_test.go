package lines

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/diagnose"
)

// TestWatchTellsTheHeadline holds that it is written first, and again when it is
// another one: not for its figures.
func TestWatchTellsTheHeadline(t *testing.T) {
	at := func(word, text, what string, in time.Duration) diagnose.Update {
		u := second(0)
		u.Headline = diagnose.Headline{Word: word, Severity: diagnose.Critical, Text: text, Clock: diagnose.Clock{What: what, In: in}}
		return u
	}
	updates := []diagnose.Update{
		at("LISTS HANG", "for 3s, behind shop/cart-0", "NotReady", 2*time.Minute),
		at("LISTS HANG", "for 1m2s, behind shop/cart-0", "NotReady", time.Minute),
		at("LISTS HANG", "for 1m3s, behind shop/cart-1", "NotReady", time.Minute),
		at("UNHEALTHY", "for 1m3s (12 of 17), behind shop/cart-1", "", 0),
		at("UNHEALTHY", "for 1m4s (13 of 17), behind shop/cart-1", "", 0),
	}
	want := `12:00:00.000 headline: LISTS HANG: for 3s, behind shop/cart-0; NotReady in 2m
12:00:00.000 PLEG is healthy
12:00:00.000 headline: LISTS HANG: for 1m3s, behind shop/cart-1; NotReady in 1m
12:00:00.000 headline: UNHEALTHY: for 1m3s (12 of 17), behind shop/cart-1
`
	if diff := cmp.Diff(want, watch(t, Options{}, updates...)); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	first, _, _ := strings.Cut(watch(t, Options{JSON: true}, updates...), "\n")
	const object = `"kind":"headline","headline":{"word":"LISTS HANG","severity":"critical","text":"for 3s, behind shop/cart-0","clock":{"what":"NotReady","inSeconds":120}}}`
	if !strings.HasSuffix(first, object) {
		t.Errorf("line %s, want it to end with %s", first, object)
	}
}

// TestWatchLeavesAWriteBehind holds that a pipe that nobody reads does not keep
// watch from ending, and that one that is read late gets its line whole.
func TestWatchLeavesAWriteBehind(t *testing.T) {
	for name, tt := range map[string]struct{ read, gone time.Duration }{
		"never read": {time.Hour, lastWrite},
		"read late":  {lastWrite / 2, lastWrite / 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			r, w := io.Pipe()
			ended := make(chan error)
			go func() {
				feed := script{second(0)}
				ended <- Watch(ctx, w, &feed, Options{})
			}()
			synctest.Wait()
			cancel()
			began := time.Now()
			time.AfterFunc(tt.read, func() { _, _ = r.Read(make([]byte, 1<<10)) })
			if err := <-ended; err != nil || time.Since(began) != tt.gone {
				t.Errorf("%s: %v after %v, want none after %v", name, err, time.Since(began), tt.gone)
			}
			_ = r.CloseWithError(errors.New("over"))
			time.Sleep(time.Hour)
		})
	}
}
