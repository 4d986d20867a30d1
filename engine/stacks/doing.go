package stacks

import (
	"strings"

	"github.com/plegtop/plegtop/engine/knowledge"
)

// doingOf returns what a goroutine does. A call of another program says more than any other function.
func doingOf(g *goroutine) (doing knowledge.Sign) {
	signs := knowledge.Signs()
	protocol, row := "", len(signs)
	for _, f := range g.frames {
		if over, asks := strings.CutPrefix(f.role, "asks "); asks {
			protocol = over
		} else if protocol != "" && strings.HasSuffix(f.owner, "Client)") {
			lasts := f.method == "Wait" || f.method == "WaitSandbox" || f.method == "Subscribe" // such a call lasts as long as the thing that it is about
			return knowledge.Sign{Doing: protocol + " " + serviceOf(f.owner) + "." + f.method, Asks: true, Open: !lasts}
		}
		row = min(row, f.sign)
	}
	if protocol != "" {
		return knowledge.Sign{Doing: protocol + " call", Asks: true, Open: true}
	}
	if row == len(signs) {
		row = knowledge.SignOf(g.State)
	}
	if row < len(signs) {
		doing = signs[row]
	}
	if doing.Polled != "" && g.State == "IO wait" {
		doing.Doing = doing.Polled
	}
	return doing
}

// serviceOf returns the service of a client that protoc has generated: "Task" for "task/v3.(*ttrpctaskClient)".
func serviceOf(owner string) string {
	_, name, _ := strings.Cut(strings.TrimSuffix(owner, "Client)"), "(*")
	name = strings.TrimPrefix(strings.TrimPrefix(name, "ttrpc"), "grpc")
	if name == "" {
		return "client"
	}
	return strings.ToUpper(name[:1]) + name[1:]
}
