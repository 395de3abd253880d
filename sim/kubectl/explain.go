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
		return err
	}
	doc, err := c.Get("/openapi/v3"+strings.TrimSuffix(m.Path("", ""), "/"+m.Resource), nil)
	if err != nil {
		return err
	}
	if format := c.Text("output"); format == "plaintext-openapiv2" {
		return errUnsimulated("explain --output=" + format)
	} else if format != "" && format != "plaintext" {
		return fmt.Errorf("unrecognized format: %s", format)
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
		return nil, nil, client.PlainError(err.Error())
	}
	if apiVersion != "" {
		d, err := c.Discover()
		if err != nil {
			return nil, nil, err
		}
		wanted := &client.Mapping{Version: apiVersion, Resource: m.Resource}
		if group, version, ok := strings.Cut(apiVersion, "/"); ok {
			wanted.Group, wanted.Version = group, version
		}
		at := slices.IndexFunc(d.All, func(o *client.Mapping) bool { return o.GroupVersionResource() == wanted.GroupVersionResource() })
		switch {
		case !slices.Contains(d.Versions, apiVersion):
			return nil, nil, fmt.Errorf("couldn't find resource for %q", wanted.GroupVersionResource())
		case at < 0:
			return nil, nil, client.PlainError("error: GVR (" + wanted.GroupVersionResource() + ") not found in OpenAPI schema")
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
