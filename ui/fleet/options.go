package fleet

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"
)

// Called reports whether the program was started under the name by which kubectl finds it.
func Called(arg0 string) bool {
	return strings.TrimSuffix(filepath.Base(arg0), ".exe") == "kubectl-plegtop"
}

// options are what the command line asks for.
type options struct {
	kubectl
	json bool
	node string // whose screen is to be shown; empty for the table of all
}

const usage = `kubectl plegtop shows the headline of every node on which plegtop runs as a DaemonSet, the worst first.

  kubectl plegtop [flags]         a table: live on a terminal, else once
  kubectl plegtop [flags] NODE    the screen on that node, by kubectl exec

      --context NAME       the context of kubectl
      --kubeconfig FILE    the kubeconfig of kubectl
  -n, --namespace NAME     the namespace of the DaemonSet (all are searched if none is named)
  -o, --output json        one object, once; docs/fleet.schema.json describes it
  -h, --help               this help

The pods are those with the label ` + Label + `; docs/deploy/daemonset.yaml makes them, docs/deploy/rbac.yaml has the
rights that are needed.

Exit codes: 0 nothing worse than info, 1 a warning or a node without an answer, 2 something critical, 3 no node has answered.
`

// parse reads the arguments. The error is [pflag.ErrHelp] if help was asked for.
func parse(args []string) (o options, err error) {
	given := pflag.NewFlagSet("kubectl plegtop", pflag.ContinueOnError)
	given.Usage = func() {}
	given.StringVar(&o.context, "context", "", "")
	given.StringVar(&o.kubeconfig, "kubeconfig", "", "")
	given.StringVarP(&o.namespace, "namespace", "n", "", "")
	form := given.StringP("output", "o", "", "")
	err = given.Parse(args)
	o.json, o.node = *form == "json", given.Arg(0)
	switch {
	case err != nil && !errors.Is(err, pflag.ErrHelp):
		err = fmt.Errorf("%w (see kubectl plegtop --help)", err)
	case err != nil:
	case *form != "" && !o.json:
		err = fmt.Errorf("--output %s: only json is known", *form)
	case given.NArg() > 1:
		err = errors.New("one node at a time: kubectl plegtop NODE")
	case o.json && o.node != "":
		err = errors.New("--output json is of all nodes: leave the node out")
	}
	return o, err
}
