package pleg

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

const (
	kubeletSchema = "plegtop-oracle/1"
	cacheSchema   = "plegtop-cache-oracle/1"
)

// eachTrace calls f for every trace of one schema in testdata and in the folder
// that PLEGTOP_GOLDEN names, where set. A file may hold several schemas, but
// none that is not known.
func eachTrace[T any](t *testing.T, schema string, f func(*testing.T, T)) {
	t.Helper()
	for _, name := range goldenFiles(t) {
		if err := readTraces(name, schema, func(trace T) { f(t, trace) }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func goldenFiles(t *testing.T) []string {
	t.Helper()
	folders := []string{"testdata"}
	if more := os.Getenv("PLEGTOP_GOLDEN"); more != "" {
		folders = append(folders, more)
	}
	var files []string
	for _, folder := range folders {
		if _, err := os.ReadDir(folder); err != nil {
			t.Fatal(err)
		}
		found, err := filepath.Glob(filepath.Join(folder, "*.jsonl.gz"))
		if err != nil || len(found) == 0 {
			t.Fatalf("no traces in %s: %v", folder, err)
		}
		files = append(files, found...)
	}
	return files
}

func readTraces[T any](name, schema string, f func(T)) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(bufio.NewReader(file))
	if err != nil {
		return err
	}
	for lines := json.NewDecoder(unzipped); ; {
		var line json.RawMessage
		switch err := lines.Decode(&line); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		trace, ok, err := readTrace[T](line, schema)
		if err != nil {
			return err
		}
		if ok {
			f(trace)
		}
	}
}

// readTrace reads one trace, if it is of the schema; ok tells.
func readTrace[T any](line []byte, schema string) (trace T, ok bool, err error) {
	var head struct{ Schema string }
	if err := json.Unmarshal(line, &head); err != nil {
		return trace, false, err
	}
	switch head.Schema {
	case schema:
		return trace, true, json.Unmarshal(line, &trace)
	case kubeletSchema, cacheSchema:
		return trace, false, nil
	default:
		return trace, false, fmt.Errorf("schema %q is not known", head.Schema)
	}
}

var engineName = regexp.MustCompile(`^kubernetes v?(1\.[0-9]+)`)

// engineRelease returns the release that a trace was recorded from; of a range
// the first.
func engineRelease(engine string) (Release, error) {
	m := engineName.FindStringSubmatch(engine)
	if m == nil {
		return 0, fmt.Errorf("engine %q names no release", engine)
	}
	return ParseRelease(m[1])
}

// A clock is a trace's time: milliseconds since its start.
type clock struct {
	start time.Time
	ms    int64
}

func (c *clock) now() time.Time            { return c.start.Add(time.Duration(c.ms) * time.Millisecond) }
func (c *clock) offset(at time.Time) int64 { return at.Sub(c.start).Milliseconds() }
func (c *clock) advance(ms int64)          { c.ms += ms }
func (c *clock) at(ms int64) time.Time     { return c.start.Add(time.Duration(ms) * time.Millisecond) }
func (c *clock) offsetOrNever(at time.Time) int64 {
	if at.IsZero() {
		return -1
	}
	return c.offset(at)
}
