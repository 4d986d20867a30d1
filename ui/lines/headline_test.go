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

// TestWatchNamesWhatHangsNow holds that a headline which is so no more is written over within 3 s, also where
// what comes after it changes all the time: another container hangs, first late, then hung, then for long.
func TestWatchNamesWhatHangsNow(t *testing.T) {
	at := func(n int, word, text string, s diagnose.Severity) diagnose.Update {
		u := second(n)
		u.Headline = diagnose.Headline{Word: word, Severity: s, Text: text}
		return u
	}
	updates := []diagnose.Update{
		at(0, "INSPECTION HANGS", "shop/cart-1: no reply for 17s", diagnose.Critical),
		at(3, "INSPECTION HANGS", "shop/cart-1: no reply for 20s", diagnose.Critical),
		at(4, "HEALTHY", "12 pods", diagnose.Info),
		at(5, "SLOW?", "the relist waits for shop/cart-2", diagnose.Warning),
		at(6, "INSPECTION HANGS", "shop/cart-2: no reply for 2s", diagnose.Warning),
		at(7, "INSPECTION HANGS", "shop/cart-2: no reply for 3s", diagnose.Warning),
		at(9, "INSPECTION HANGS", "shop/cart-2: no reply for 5s", diagnose.Critical),
	}
	want := `12:00:00.000 headline: INSPECTION HANGS: shop/cart-1: no reply for 17s
12:00:00.000 PLEG is healthy
12:00:07.000 headline: INSPECTION HANGS: shop/cart-2: no reply for 3s
12:00:09.000 headline: INSPECTION HANGS: shop/cart-2: no reply for 5s
`
	if diff := cmp.Diff(want, watch(t, Options{}, updates...)); diff != "" {
		t.Error(diff)
	}
}

// TestWatchTellsTheHeadline holds that it is written first, and again when it is
// another one: not for its figures, at once when it is worse, else when it has stayed.
func TestWatchTellsTheHeadline(t *testing.T) {
	at := func(n int, word, text string, s diagnose.Severity) diagnose.Update {
		u := second(n)
		u.Headline = diagnose.Headline{Word: word, Severity: s, Text: text, Clock: diagnose.Clock{What: "NotReady", In: time.Duration(120-n) * time.Second}}
		return u
	}
	updates := []diagnose.Update{
		at(0, "LISTS HANG", "lists hang for 3s (12 of 17)", diagnose.Warning),
		at(1, "LISTS HANG", "lists hang for 1m2s (13 of 18)", diagnose.Warning),
		at(2, "LISTS HANG", "lists hang for 1m3s, behind shop/cart-1", diagnose.Critical), // worse: at once
		at(3, "HEALTHY", "", diagnose.Info),                                               // for a moment
		at(4, "LISTS HANG", "lists hang for 1m3s, behind shop/cart-1", diagnose.Critical),
		at(5, "LISTS HANG", "lists hang, blocked by shop/cart-2", diagnose.Critical),
		at(9, "LISTS HANG", "lists hang, blocked by shop/cart-2", diagnose.Critical), // and has stayed so
		at(10, "LISTS HANG", "lists hang, blocked by shop/cart-2", diagnose.Critical),
		at(11, "HEALTHY", "", diagnose.Info),
		at(16, "HEALTHY", "", diagnose.Info),
		at(17, "HEALTHY", "1 warning", diagnose.Info),
		at(18, "NOT READY", "all is well again", diagnose.Warning),
		at(19, "HEALTHY", "", diagnose.Info), // it was posted
	}
	want := `12:00:00.000 headline: LISTS HANG: node NotReady in 2m; for 3s (12 of 17)
12:00:00.000 PLEG is healthy
12:00:02.000 headline: LISTS HANG: node NotReady in 1m58s; for 1m3s, behind shop/cart-1
12:00:09.000 headline: LISTS HANG: node NotReady in 1m51s; blocked by shop/cart-2
12:00:16.000 headline: HEALTHY: node NotReady in 1m44s
12:00:17.000 headline: HEALTHY: node NotReady in 1m43s; 1 warning
12:00:18.000 headline: NOT READY: node NotReady in 1m42s; all is well again
12:00:19.000 headline: HEALTHY: node NotReady in 1m41s
`
	if diff := cmp.Diff(want, watch(t, Options{}, updates...)); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	first, _, _ := strings.Cut(watch(t, Options{JSON: true}, updates...), "\n")
	const object = `"kind":"headline","headline":{"word":"LISTS HANG","severity":"warning","text":"lists hang for 3s (12 of 17)","clock":{"what":"NotReady","inSeconds":120}}}`
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
