package kubectl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/explain"
	"github.com/kubesim/kubesim/sim/kubectl/flags"
	"github.com/kubesim/kubesim/sim/kubectl/printer"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// kustomizeVersion is the version of kustomize in this version of kubectl.
const kustomizeVersion = "v5.8.1"

func runVersion(c *call) error {
	own := map[string]any{"gitVersion": client.Version, "major": "1", "minor": strings.TrimPrefix(schema.Default, "1.")}
	out := map[string]any{"clientVersion": own, "kustomizeVersion": kustomizeVersion}
	var server object.Object
	if !c.On("client") {
		var err error
		if server, err = c.Get("/version", nil); err != nil {
			return err
		}
		out["serverVersion"] = map[string]any(server)
	}
	switch c.Text("output") {
	case "json":
		c.Printf("%s", printer.JSON(object.JSON(out), 2))
	case "yaml":
		c.Printf("%s", printer.YAML(object.JSON(out)))
	case "":
		c.Printf("Client Version: %s\nKustomize Version: %s\n", client.Version, kustomizeVersion)
		if server != nil {
			c.Printf("Server Version: %s\n", server.String("gitVersion"))
		}
	default:
		return fmt.Errorf("--output must be 'yaml' or 'json'")
	}
	return nil
}

func runClusterInfo(c *call) error {
	c.Printf("Kubernetes control plane is running at %s\n\nTo further debug and diagnose cluster problems, use 'kubectl cluster-info dump'.\n", c.config.Server)
	return nil
}

func runAPIVersions(c *call) error {
	s, err := c.Discover()
	if err != nil {
		return err
	}
	for _, v := range s.Versions {
		c.Printf("%s\n", v)
	}
	return nil
}

func runAPIResources(c *call) error {
	s, err := c.Discover()
	if err != nil {
		return err
	}
	var list []*client.Mapping
	for _, m := range s.All {
		known := slices.ContainsFunc(list, func(o *client.Mapping) bool { return o.Is(m.Resource, m.Group) })
		if !known && len(m.Verbs) > 0 && matchesFlags(c.Set, m) {
			list = append(list, m)
		}
	}
	slices.SortStableFunc(list, func(a, b *client.Mapping) int {
		switch c.Text("sort-by") {
		case "name":
			return strings.Compare(a.Resource, b.Resource)
		case "kind":
			return strings.Compare(a.Kind, b.Kind)
		}
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Resource, b.Resource))
	})
	var rows [][]string
	head, wide := []string{"NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"}, c.Text("output") == "wide"
	if wide {
		head = append(head, "VERBS", "CATEGORIES")
	}
	for _, m := range list {
		if c.Text("output") == "name" {
			c.Printf("%s\n", m.GroupResource())
			continue
		}
		row := []string{m.Resource, strings.Join(m.ShortNames, ","), m.GroupVersion(), fmt.Sprint(m.Namespaced), m.Kind}
		if wide {
			row = append(row, strings.Join(m.Verbs, ","), strings.Join(m.Categories, ","))
		}
		rows = append(rows, row)
	}
	if c.Text("output") != "name" {
		c.printTable(head, rows)
	}
	return nil
}

// matchesFlags reports whether a resource matches the flags of api-resources.
func matchesFlags(f *flags.Set, m *client.Mapping) bool {
	if f.Given("namespaced") && f.On("namespaced") != m.Namespaced || f.Given("api-group") && f.Text("api-group") != m.Group {
		return false
	}
	for _, v := range f.List("verbs") {
		if !slices.Contains(m.Verbs, v) {
			return false
		}
	}
	for _, v := range f.List("categories") {
		if !slices.Contains(m.Categories, v) {
			return false
		}
	}
	return true
}

// runOptions prints the flags that all commands accept.
func runOptions(c *call) error {
	c.Printf("The following options can be passed to any command:\n\n")
	for _, f := range flags.Of(everywhere) {
		c.Printf("    %s\n", f.Named())
	}
	return nil
}

// runExplain prints the documentation of a kind or of one of its fields.
func runExplain(c *call) error {
	if len(c.Args) == 0 {
		return fmt.Errorf("You must specify the type of resource to explain. %s", useResources)
	}
	if len(c.Args) > 1 {
		return fmt.Errorf("We accept only this format: explain RESOURCE")
	}
	m, path, err := explained(c.Client, strings.TrimSuffix(c.Args[0], "."), c.Text("api-version"))
	if err != nil {
		return client.PlainError(err.Error())
	}
	doc, err := c.Get("/openapi/v3"+strings.TrimSuffix(m.Path("", ""), "/"+m.Resource), nil)
	if err != nil {
		return err
	}
	d := &explain.Document{Schemas: doc.At("components", "schemas"), Recursive: c.On("recursive"), Out: c.Out}
	return d.Explain(m, path)
}

// explained parses RESOURCE.field.field and returns the resource and the field path. The resource may include its group. It returns
// an error if there is no such resource.
func explained(c *client.Client, text, apiVersion string) (*client.Mapping, []string, error) {
	parts := strings.Split(text, ".")
	m, err := c.Find(parts[0])
	if err != nil {
		return nil, nil, err
	}
	if apiVersion != "" {
		d, err := c.Discover()
		if err != nil {
			return nil, nil, err
		}
		at := slices.IndexFunc(d.All, func(o *client.Mapping) bool { return o.GroupVersion() == apiVersion && o.Resource == m.Resource })
		if at < 0 {
			return nil, nil, fmt.Errorf("couldn't find resource for %q", apiVersion+", Resource="+m.Resource)
		}
		return d.All[at], parts[1:], nil
	}
	for n := len(parts); n > 1; n-- {
		if q, err := c.Find(strings.Join(parts[:n], ".")); err == nil && strings.HasPrefix(q.Group, parts[1]) {
			return q, parts[n:], nil
		}
	}
	return m, parts[1:], nil
}
