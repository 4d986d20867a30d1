package options

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/cri/sim"
	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/pods"
)

// into returns what sets a field to what parse makes of a text.
func into[T any](field *T, parse func(string) (T, error)) func(string) error {
	return func(s string) error {
		v, err := parse(s)
		if err == nil {
			*field = v
		}
		return err
	}
}

// listOf returns what reads values with commas between them, at least one.
func listOf[T any](parse func(string) (T, error)) func(string) ([]T, error) {
	return func(s string) (all []T, err error) {
		for one := range strings.SplitSeq(s, ",") {
			v, wrong := parse(strings.TrimSpace(one))
			all, err = append(all, v), cmp.Or(err, wrong)
		}
		return all, err
	}
}

// eventSources are those that --events opens.
var eventSources = []sources.Source{sources.FromCRI, sources.FromCgroup}

func eventSource(s string) (sources.Source, error) {
	for _, source := range eventSources {
		if s == source.String() {
			return source, nil
		}
	}
	return 0, fmt.Errorf("want off, or one or more of cri, cgroup with commas between them, not %q", s)
}

// benchSource reads a source of bench; the relist stands for none beside it.
func benchSource(s string) (sources.Source, error) {
	if s == "none" {
		return sources.FromRelist, nil
	}
	source, err := eventSource(s)
	if err != nil {
		err = fmt.Errorf("want one or more of none, cri, cgroup with commas between them, not %q", s)
	}
	return source, err
}

// word reads any text but a blank one: that is mostly a variable of a script that nobody has set.
func word(s string) (string, error) {
	if strings.TrimSpace(s) == "" {
		return "", fmt.Errorf("want a value, not %q: leave the flag out where there is none", s)
	}
	return s, nil
}

// moment reads a time of a recording, which alone knows whether it has it.
func moment(s string) (string, error) {
	if strings.TrimSpace(s) == "" {
		return "", fmt.Errorf("want %s, not %q", times, s)
	}
	return s, nil
}

// aNamespace is a name that a namespace can have: a label of DNS.
var aNamespace = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

func namespace(s string) (string, error) {
	if !aNamespace.MatchString(s) {
		return "", fmt.Errorf("want names of namespaces with commas between them, such as default,kube-system, not %q: leave the flag out to see all", s)
	}
	return s, nil
}

func oneOf(known []string) func(string) (string, error) {
	return func(s string) (string, error) {
		if !slices.Contains(known, s) {
			return "", fmt.Errorf("want one of %s, not %q", strings.Join(known, ", "), s)
		}
		return s, nil
	}
}

// column reads the name of a column of the pods, or its head, in any case.
func column(s string) (string, error) {
	name, known := pods.Column(s)
	if name == "" {
		return oneOf(known)(s)
	}
	return name, nil
}

// either returns what tells which of two words it reads.
func either(no, yes string) func(string) (bool, error) {
	return func(s string) (bool, error) {
		if s != no && s != yes {
			return false, fmt.Errorf("want %s or %s, not %q", no, yes, s)
		}
		return s == yes, nil
	}
}

func truth(s string) (bool, error) {
	if s != "true" && s != "false" {
		return false, fmt.Errorf("want true or false, not %q", s)
	}
	return s == "true", nil
}

func duration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("want a duration of more than 0, such as 1s or 500ms, not %q", s)
	}
	return d, nil
}

// leastFile is what a recording needs at least: the state of a node, twice.
const leastFile = 1 << 20

// size reads bytes, such as 64MiB.
func size(s string) (int64, error) {
	for i, unit := range []string{"KiB", "MiB", "GiB", "TiB"} {
		number, has := strings.CutSuffix(s, unit)
		n, err := strconv.ParseInt(number, 10, 64)
		if has && err == nil && n > 0 && n < 1<<20 && n<<(10*(i+1)) >= leastFile {
			return n << (10 * (i + 1)), nil
		}
	}
	return 0, fmt.Errorf("want a size of 1MiB at least, such as 64MiB or 1GiB, not %q", s)
}

func durationOrNone(s string) (time.Duration, error) {
	if s == "0" {
		return 0, nil
	}
	return duration(s)
}

func period(s string) (time.Duration, error) {
	d, err := duration(s)
	if err == nil && (d < engine.MinPeriod || d > engine.MaxPeriod) {
		err = fmt.Errorf("want periods from %v to %v, not %q", engine.MinPeriod, engine.MaxPeriod, s)
	}
	return d, err
}

func speed(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= sim.MinSpeed && v <= sim.MaxSpeed) {
		return 0, fmt.Errorf("want a figure from 0.25 to 8, not %q", s)
	}
	return v, nil
}

func filterText(s string) (string, error) {
	_, err := model.ParseFilter(s)
	return s, err
}

func version(s string) (View, error) {
	if s != "true" {
		return Screen, errors.New("takes no value")
	}
	return Version, nil
}

// DemoList in the place of a scenario asks which there are.
const DemoList = "list"

func scenario(s string) (string, error) {
	if s != DemoList && !sim.Known(s) {
		return "", fmt.Errorf("no scenario is called %q%s", s, cmp.Or(keymap.Meant(keymap.Nearest(s, scenarios())), ": "+listing))
	}
	return s, nil
}

// scenarios returns the names of those that people can choose.
func scenarios() []string {
	var names []string
	for _, s := range sim.Scenarios() {
		names = append(names, s.Name)
	}
	return names
}
