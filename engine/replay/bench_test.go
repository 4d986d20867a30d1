package replay

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/record"
)

// hour is the recording of an hour of 110 pods.
var hour = sync.OnceValue(func() *record.Recording {
	var recording *record.Recording
	all := func(string, string) (bool, error) { return true, nil }
	testing.RunTests(all, []testing.InternalTest{{Name: "hour", F: func(t *testing.T) { // time of synctest is a test's alone
		recorder, _ := recordNight(t, night{Pods: 110, For: time.Hour, Changes: 10 * time.Second})
		recording = recorder.Recording()
	}}})
	return recording
})

// BenchmarkSeek is a seek to anywhere in an hour of 110 pods with 2 containers each.
func BenchmarkSeek(b *testing.B) {
	f, err := New(hour(), "")
	if err != nil {
		b.Fatal(err)
	}
	if err := f.Scan(b.Context()); err != nil {
		b.Fatal(err)
	}
	chance := rand.New(rand.NewPCG(1, 2))
	marks, worst := marksOf(f), time.Duration(0)
	b.ReportAllocs()
	for b.Loop() {
		began := time.Now()
		if _, err := f.show(b.Context(), chance.IntN(len(marks))); err != nil {
			b.Fatal(err)
		}
		worst = max(worst, time.Since(began))
	}
	b.ReportMetric(float64(worst.Milliseconds()), "ms/worst")
}

// BenchmarkScan is the scan of that hour.
func BenchmarkScan(b *testing.B) {
	r := hour()
	b.ReportAllocs()
	for b.Loop() {
		f, err := New(r, "")
		if err == nil {
			err = f.Scan(b.Context())
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
