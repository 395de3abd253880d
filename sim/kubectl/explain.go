//go:build !js || !nocel

package kubectl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/explain"
)

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
