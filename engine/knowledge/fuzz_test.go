package knowledge

import (
	"reflect"
	"strings"
	"testing"
)

// Whatever a table contains, it is parsed, each time into the same rows, or refused with an error that names the step:
// an SRE who adds a row gets no crash.
func FuzzParse(f *testing.F) {
	entries, err := files.ReadDir(".")
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range entries {
		text, err := files.ReadFile(e.Name())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text[:min(len(text), 4000)])
	}
	f.Add([]byte("- {id: x, variants: {'': {steps: [a]}}}\n- &a [*a]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		parsed[Finding](t, text)
		parsed[Remedy](t, text)
		parsed[KernelLine](t, text)
		parsed[Flavour](t, text)
		parsed[Bug](t, text)
	})
}

func parsed[Row any](t *testing.T, text []byte) {
	rows, err := parse[Row](text)
	again, errAgain := parse[Row](text)
	if (err == nil) != (errAgain == nil) || err == nil && !reflect.DeepEqual(rows, again) {
		t.Errorf("parsed twice: %v and %v", err, errAgain)
	}
	if err != nil && !strings.HasPrefix(err.Error(), "parse the table: ") {
		t.Errorf("the error does not name the step: %v", err)
	}
}
