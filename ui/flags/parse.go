package flags

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/plegtop/plegtop/engine/pleg"
)

// ErrHelp is returned by [Parse] when help was asked for.
var ErrHelp = pflag.ErrHelp

// Parse reads the arguments, without the program's name. The error says what is
// wrong with them and where to look; it is [ErrHelp] for --help and -h. With an error
// only NPD of the options holds.
func Parse(args []string) (Options, error) {
	var o Options
	var r raw
	f := o.set(&r)
	f.Usage = func() {}
	err := f.Parse(args)
	if err == nil {
		err = errors.Join(o.view(f.Args()), o.words(f, r), o.sense())
	}
	switch {
	case errors.Is(err, ErrHelp):
		return o, ErrHelp
	case err != nil:
		return Options{NPD: asksNPD(args)}, fmt.Errorf("%w (see plegtop --help)", first(err))
	}
	return o, nil
}

// asksNPD reports whether arguments that cannot be parsed are those of a plugin.
func asksNPD(args []string) bool {
	at := slices.Index(args, "--exit-codes")
	return slices.Contains(args, "--exit-codes=npd") || at >= 0 && at+1 < len(args) && args[at+1] == "npd"
}

// first returns the first of errors that were joined: one at a time is enough.
func first(err error) error {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		return all.Unwrap()[0]
	}
	return err
}

func (o *Options) view(verbs []string) error {
	switch {
	case len(verbs) > 1:
		return fmt.Errorf("%q: one view at a time", verbs[1])
	case len(verbs) == 1:
		o.View = View(verbs[0])
	}
	if !slices.Contains([]View{Screen, Check, Watch, Version}, o.View) {
		return fmt.Errorf("no view is called %q: want check, watch, version or none", o.View)
	}
	return nil
}

// words reads the flags that take one word of several.
func (o *Options) words(f *pflag.FlagSet, r raw) (err error) {
	o.PeriodGiven, o.ReleaseGiven = f.Changed("relist-period"), r.release != ""
	o.JSON, o.NPD = r.output == "json", r.exitCodes == "npd"
	o.Release = pleg.Newest
	if o.ReleaseGiven {
		o.Release, err = pleg.ParseRelease(r.release)
	}
	switch {
	case err != nil:
		return err
	case !o.JSON && r.output != "text":
		return fmt.Errorf("--output %q: want text or json", r.output)
	case !o.NPD && r.exitCodes != "plegtop":
		return fmt.Errorf("--exit-codes %q: want plegtop or npd", r.exitCodes)
	}
	return nil
}

// sense says which flags make none.
func (o *Options) sense() error {
	switch {
	case o.Timeout <= 0 || o.Period <= 0 || o.Threshold <= 0:
		return errors.New("--timeout, --relist-period and --relist-threshold must be more than 0")
	case o.CheckTimeout <= 0 || o.Deadline <= 0:
		return errors.New("--check-timeout and --deadline must be more than 0")
	case o.NPD && o.View != Check:
		return errors.New("--exit-codes npd: only check has them")
	case o.NPD && o.JSON:
		return errors.New("--exit-codes npd writes one line of text: leave --output json out")
	case o.Demo != "" && o.Endpoint != "":
		return errors.New("--demo brings its own runtime: leave --runtime-endpoint out")
	}
	return nil
}

const usage = `plegtop is top for the kubelet's PLEG: which call on which container hangs.

  plegtop [flags]            the screen
  plegtop [flags] check      one look at everything: verdict, findings, exit code
  plegtop [flags] watch      events, findings and changes of health, one line each
  plegtop [flags] version    the version of plegtop

`

// Usage returns what --help prints.
func Usage() string {
	var o Options
	var r raw
	return usage + o.set(&r).FlagUsages()
}
