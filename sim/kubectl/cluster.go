package kubectl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/client"
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
	output := c.Text("output")
	switch order := c.Text("sort-by"); {
	case len(c.Args) > 0:
		return c.usage("unexpected arguments: %v", c.Args)
	case order != "" && order != "name" && order != "kind":
		return fmt.Errorf("--sort-by accepts only name or kind")
	case output != "" && output != "name" && output != "wide":
		return errUnsimulated("api-resources --output=" + output)
	}
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
	head, wide := []string{"NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"}, output == "wide"
	if wide {
		head = append(head, "VERBS", "CATEGORIES")
	}
	for _, m := range list {
		if output == "name" {
			c.Printf("%s\n", m.GroupResource())
			continue
		}
		row := []string{m.Resource, strings.Join(m.ShortNames, ","), m.GroupVersion(), fmt.Sprint(m.Namespaced), m.Kind}
		if wide {
			row = append(row, strings.Join(m.Verbs, ","), strings.Join(m.Categories, ","))
		}
		rows = append(rows, row)
	}
	if output != "name" {
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
