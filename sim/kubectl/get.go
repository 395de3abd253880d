package kubectl

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// readWords read objects.
var readWords = []word{
	{name: "get", help: "Display one or many resources", run: (*call).getWord,
		flags: "all-namespaces|A? chunk-size# field-selector ignore-not-found? label-columns|L, no-headers? output-watch-events? raw " +
			"selector|l server-print? show-kind? show-labels? sort-by subresource watch|w? watch-only?" + printed + ofFiles},
}

// getting is one get on its way.
type getting struct {
	*call
	targets []*target
	rows    tableRows
	errs    []error
	headed  bool // a table has been printed
	several bool // there is more than one resource
}

func (c *call) getWord() error {
	if raw := c.text("raw"); raw != "" {
		return c.raw(wire.MethodGet, raw)
	}
	if len(c.args) == 0 && !c.given("filename") && !c.given("kustomize") {
		c.complain("You must specify the type of resource to get. %s\n\n", useResources)
		return c.usage("Required resource not specified.\nUse \"kubectl explain <resource>\" for a detailed description of that resource (e.g. kubectl explain pods).")
	}
	p, err := c.printer()
	if err != nil {
		return err
	}
	targets, err := c.targets(c.args, selection{types: true, anyScope: c.on("all-namespaces")})
	if err != nil {
		return err
	}
	if c.given("subresource") && slices.ContainsFunc(targets, func(t *target) bool { return t.name == "" }) {
		return fmt.Errorf("subresource cannot be used when bulk resources are specified")
	}
	g := &getting{call: c, targets: targets}
	for _, t := range targets {
		g.several = g.several || t.m != nil && t.m.resource != targets[0].m.resource
	}
	if c.on("watch") || c.on("watch-only") {
		return g.watch()
	}
	if p != nil {
		return g.print(p)
	}
	return g.table()
}

const useResources = `Use "kubectl api-resources" for a complete list of supported resources.`

// raw prints what a path answers.
func (c *call) raw(method, path string) error {
	if len(c.args) > 0 {
		return fmt.Errorf("arguments may not be passed when --raw is specified")
	}
	u, err := url.ParseRequestURI(path)
	if err != nil {
		return err
	}
	var body []byte
	if len(c.list("filename")) > 0 && method != wire.MethodGet {
		if body, err = c.readFile(c.text("filename")); err != nil {
			return fmt.Errorf("the path %q does not exist", c.text("filename"))
		}
	}
	contentType := ""
	if body != nil {
		contentType = "application/json"
	}
	a, err := c.send(c.request(method, u.Path, u.Query(), contentType, body))
	if err != nil {
		return err
	}
	c.printf("%s", a.Body)
	return nil
}

// print prints objects in the format of --output: one as it is, more than one as a list.
func (g *getting) print(p printer) error {
	found, errs := g.read()
	if order := g.text("sort-by"); order != "" {
		sortBy(found, order)
	}
	single := len(g.targets) == 1 && g.targets[0].name != "" && g.targets[0].err == nil
	format, _, _ := strings.Cut(g.text("output"), "=")
	switch {
	case single && len(found) == 0:
	case format == "name" || single:
		for _, t := range found {
			if err := p(t); err != nil {
				return err
			}
		}
	case len(found) > 0 || len(errs) == 0:
		items := make([]any, len(found))
		for i, t := range found {
			obj := t.obj
			if !g.on("show-managed-fields") {
				obj = obj.Copy()
				obj.Remove("metadata", "managedFields")
			}
			items[i] = map[string]any(obj)
		}
		list := object.Object{"apiVersion": "v1", "kind": "List", "items": items, "metadata": map[string]any{"resourceVersion": ""}}
		if err := p(&target{obj: list}); err != nil {
			return err
		}
	}
	return together(errs)
}

// read returns the objects of all targets; with --ignore-not-found those that are not there are no error.
func (g *getting) read() ([]*target, []error) {
	for _, t := range g.targets {
		if t.name != "" && g.given("subresource") {
			t.name += "/" + g.text("subresource")
		}
	}
	found, errs := g.objects(g.targets)
	for _, t := range found {
		t.name = t.obj.Name()
	}
	if g.on("ignore-not-found") {
		errs = slices.DeleteFunc(errs, isNotFound)
	}
	return found, errs
}
