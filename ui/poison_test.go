package ui

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/ui/text"
)

// poison puts hostile text into every text below v, and fills what is empty. Why
// something is missing stays empty unless all is missing.
func poison(v reflect.Value, missing bool) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(Nasty)
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		poison(v.Elem(), missing)
	case reflect.Slice:
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		}
		for i := range v.Len() {
			poison(v.Index(i), missing)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if f := v.Field(i); f.CanSet() && f.Type() != reflect.TypeFor[time.Time]() && (missing || name != "Missing" && name != "Partial") {
				poison(f, missing)
			}
		}
	}
}

// Whatever the node says of itself, no view lets it act on the terminal.
func TestHostileNodes(t *testing.T) {
	for _, missing := range []bool{false, true} {
		for name, report := range map[string]func() evidence.Report{"looked": Looked, "in vain": LookedInVain, "empty": func() evidence.Report { return evidence.Report{} }} {
			t.Run(fmt.Sprint(name, missing), func(t *testing.T) {
				r := report()
				poison(reflect.ValueOf(&r).Elem(), missing)
				snap := Hostile()
				snap.Evidence = &r
				s := newStage(t, 120, 40)
				s.find(diagnose.Diagnose(diagnose.Input{Snapshot: snap, Evidence: &r, Endpoint: Nasty})...).show(snap).report(r)
				seen := false
				for _, key := range []string{"1", "2", "3", "4", "enter", "esc", "v", "down", "esc", "1", "enter", "esc", "?"} {
					s.press(key)
					checkFrame(t, s.m.frame(), 120, 40)
					seen = seen || key == "v" && strings.Contains(s.m.frame(), text.Clean(Nasty)[:6])
				}
				if !seen {
					t.Error("the node sheet shows nothing of it")
				}
			})
		}
	}
}
