package lines

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/replay"
	"github.com/plegtop/plegtop/ui/jsonline"
)

var whatIfSchema = compiled("whatif.schema.json")

// fits fails the test where an object is not of a schema.
func fits(t *testing.T, schema *jsonschema.Schema, object []byte) {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(object))
	if err == nil {
		err = schema.Validate(v)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, object)
	}
}

// narrowed fails the test where a text is wider than 80 cells.
func narrowed(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if len([]rune(strings.TrimRight(line, "\n"))) > 80 {
			t.Errorf("wider than 80 cells: %s", line)
		}
	}
}

// A check of a recording with other releases says whether they would have saved the node.
func TestCheckOfOtherReleases(t *testing.T) {
	n := hungNight(28)
	n.Troubles[0].ID = "app-000"
	path, _ := recorded(t, n)
	for _, o := range []CheckOptions{{Width: 80}, {JSON: true}} {
		var out bytes.Buffer
		code, err := opened(t, path, "").Check(t.Context(), &out, o, 25, 34, 36)
		if code != ExitOK || err != nil {
			t.Errorf("exit code %d, %v", code, err)
		}
		const want = "1.34 and 1.36 would have kept the node Ready: 1.34 inspects a failing pod once a relist, 1.28 twice"
		if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
		if o.JSON {
			fits(t, whatIfSchema, out.Bytes())
			continue
		}
		narrowed(t, out.String())
		t.Log("\n" + out.String())
	}
	if _, err := opened(t, path, "-2m").Check(t.Context(), new(bytes.Buffer), CheckOptions{}, 36); err == nil || !strings.Contains(err.Error(), "leave --at") {
		t.Errorf("of a moment: %v", err)
	}
}

// The verdict says in one sentence who does better.
func TestWhatIfVerdict(t *testing.T) {
	of := func(r pleg.Release, unhealthy, notReady time.Duration) replay.Account {
		a := replay.Account{Release: r}
		if unhealthy > 0 {
			a.Unhealthy = []replay.Spell{{For: unhealthy}}
		}
		if notReady > 0 {
			a.NotReady = []replay.Spell{{For: notReady}}
		}
		return a
	}
	for _, tt := range []struct {
		recorded replay.Account
		others   []replay.Account
		want     string
	}{
		{of(28, time.Minute, time.Minute), []replay.Account{of(36, 0, 0)}, "1.36 would have kept the node Ready: 1.36 inspects a failing pod once a relist, 1.28 twice"},
		{of(28, 5*time.Second, 0), []replay.Account{of(25, 5*time.Second, 0), of(34, 0, 0), of(36, 0, 0)}, "1.34 and 1.36 would have kept PLEG healthy: 1.34 inspects a failing pod once a relist, 1.28 twice"},
		{of(36, 0, 0), []replay.Account{of(28, time.Minute, time.Minute), of(37, 0, 0)}, "1.36 kept the node Ready; 1.28 would have had the node NotReady for 1m: 1.36 inspects a failing pod once a relist, 1.28 twice"},
		{of(36, 0, 0), []replay.Account{of(28, 0, 0)}, "PLEG was healthy all the time, and would have been with each of these releases"},
		{of(28, 2*time.Hour, 2*time.Hour), []replay.Account{of(36, time.Minute, time.Minute)}, "1.36 would have had the node NotReady for 1m in place of 2h: 1.36 inspects a failing pod once a relist, 1.28 twice"},
		{of(34, time.Hour, time.Hour), []replay.Account{of(36, time.Hour, time.Hour)}, "none of these releases would have saved the node: each has the node NotReady for about 1h"},
	} {
		if got := whatIfVerdict(replay.WhatIf{Recorded: tt.recorded, Others: tt.others}); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

// Relists of which none ended took no time that could be said.
func TestQuantilesOfNoRelist(t *testing.T) {
	recorded := replay.Account{Release: 37, Relists: 1, P50: time.Millisecond, P99: time.Millisecond}
	other := replay.Account{Release: 25, Longest: time.Minute}
	o := newWhatIf(replay.WhatIf{Recorded: recorded, Control: recorded, Others: []replay.Account{other}}, "")
	text := strings.Join(strings.Fields(string(CheckOptions{Width: 80}.write(nil, o.write))), " ")
	for _, want := range []string{"1.37 was - - 1 1ms 1ms", "1.25 - - 0 - - 1m"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	fits(t, whatIfSchema, jsonline.Append(nil, o))
}
