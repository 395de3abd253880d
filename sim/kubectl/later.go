//go:build nocel

package kubectl

import (
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// The first engine of a page has the words that people begin with; with all of them it would be over its budget. The other
// engine has the rest: Session.Ready says that a line needs it.

var (
	moreWords = later("label: annotate: scale: rollout: wait: describe: explain: api-resources: api-versions: cluster-info: version: auth: run: logs: exec: attach: cp: " +
		"port-forward: debug: top: events: cordon: uncordon: drain: taint: config: options: kustomize: proxy: plugin: completion: replace: patch: " +
		"edit: autoscale: expose: diff: set:")
	moreGenerators = later("clusterrole: clusterrolebinding: cronjob:cj ingress:ing job: poddisruptionbudget:pdb priorityclass:pc " +
		"quota:resourcequota role: rolebinding: secret: service:svc token:")
	moreApply = later("view-last-applied:")
	tools     = map[string]func(s *Session, args []string, input []byte) int{"cat": cat, "echo": echo, "sleep": sleep}
)

// laterTools are commands of a shell that are left out.
const laterTools = " curl grep head tail wc sort ls jq true false "

// later makes words of NAME:ALIAS that are there by name only.
func later(names string) (out []word) {
	for _, text := range strings.Fields(names) {
		name, alias, _ := strings.Cut(text, ":")
		out = append(out, word{name: name, aliases: alias, later: true})
	}
	return out
}

// missing reports whether this build is without something that a command needs.
func (c *call) missing() bool {
	o := c.text("output")
	return c.word.later || c.on("watch") || c.on("watch-only") || c.given("sort-by") || c.on("prune") || c.on("server-side") || strings.HasPrefix(o, "jsonpath") || strings.HasPrefix(o, "custom-columns")
}

func toolNames() []string { return append([]string{"kubectl", "k"}, object.SortedKeys(tools)...) }

func (c *call) morePrinter(string, string) (printer, error)   { return nil, errLater }
func sortBy([]*target, string)                                {}
func sortRows(rows []object.Object, _ string) []object.Object { return rows }
func (c *call) prune([]*target) error                         { return errLater }

func (g *getting) watch() error               { return errLater }
func (c *call) applyServerSide(*target) error { return errLater }

// errLater is never met: Session.Ready is asked before.
const errLater = plainError("this needs the larger engine")
