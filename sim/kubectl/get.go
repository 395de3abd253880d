package kubectl

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/printer"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// getter is a running get command.
type getter struct {
	*call
	infos   []*client.Info
	options printer.PrintOptions
	pending resourceRows
	printed int // the number of printed rows
	headed  bool
}

// resourceRows holds the rows of one resource. They are printed as one table.
type resourceRows struct {
	mapping *client.Mapping
	rows    [][]string
}

const useResources = `Use "kubectl api-resources" for a complete list of supported resources.`

// runGet prints objects as the server's tables or in the format of --output.
func runGet(c *call) error {
	if raw := c.Text("raw"); raw != "" {
		return c.raw(wire.MethodGet, raw)
	}
	if len(c.Args) == 0 && !c.Given("filename") && !c.Given("kustomize") {
		c.Complain("You must specify the type of resource to get. %s\n\n", useResources)
		return c.usage("Required resource not specified.\nUse \"kubectl explain <resource>\" for a detailed description of that resource (e.g. kubectl explain pods).")
	}
	p, err := c.printFlags().Printer()
	if err != nil {
		return err
	}
	infos, err := c.Infos(c.Args, client.Selection{Types: true, AnyScope: c.On("all-namespaces")})
	if err != nil {
		return err
	}
	if c.Given("subresource") && slices.ContainsFunc(infos, func(info *client.Info) bool { return info.Name == "" }) {
		return fmt.Errorf("subresource cannot be used when bulk resources are specified")
	}
	g := &getter{call: c, infos: infos, options: printer.PrintOptions{Wide: c.Text("output") == "wide", WithNamespace: c.On("all-namespaces"),
		WithKind: c.On("show-kind"), ShowLabels: c.On("show-labels"), NameAndAge: c.Off("server-print"), ColumnLabels: c.List("label-columns")}}
	for _, info := range infos {
		if info.Mapping != nil && info.Mapping.Resource != infos[0].Mapping.Resource {
			g.options.WithKind = true
		}
	}
	switch {
	case c.On("watch") || c.On("watch-only"):
		return g.watch()
	case p != nil:
		return g.print(p)
	}
	return g.tables()
}

// raw sends a request to a path and prints the response.
func (c *call) raw(method, path string) error {
	if len(c.Args) > 0 {
		return fmt.Errorf("arguments may not be passed when --raw is specified")
	}
	u, err := url.ParseRequestURI(path)
	if err != nil {
		return err
	}
	var body []byte
	contentType := ""
	if c.Given("filename") && method != wire.MethodGet {
		if body, err = c.ReadFile(c.Text("filename")); err != nil {
			return fmt.Errorf("the path %q does not exist", c.Text("filename"))
		}
		contentType = "application/json"
	}
	a, err := c.Send(c.Request(method, u.Path, u.Query(), contentType, body))
	if err != nil {
		return err
	}
	c.Printf("%s", a.Body)
	return nil
}

// print prints objects in the format of --output. It prints a single object on its own, and several objects as a list.
func (g *getter) print(p printer.Printer) error {
	found, errs := g.read()
	if order := g.Text("sort-by"); order != "" {
		printer.SortObjects(found, order)
	}
	single := len(g.infos) == 1 && g.infos[0].Name != "" && g.infos[0].Err == nil
	format, _, _ := strings.Cut(g.Text("output"), "=")
	switch {
	case single && len(found) == 0:
	case format == "name" || single:
		for _, info := range found {
			if err := p(g.Out, info); err != nil {
				return err
			}
		}
	case len(found) > 0 || len(errs) == 0:
		items := make([]any, len(found))
		for i, info := range found {
			items[i] = map[string]any(g.printFlags().Visible(info.Object))
		}
		list := object.Object{"apiVersion": "v1", "kind": "List", "items": items, "metadata": map[string]any{"resourceVersion": ""}}
		if err := p(g.Out, &client.Info{Object: list}); err != nil {
			return err
		}
	}
	return errors.Join(errs...)
}

// read returns the objects of all infos. With --ignore-not-found a missing object is not an error.
func (g *getter) read() ([]*client.Info, []error) {
	for _, info := range g.infos {
		if info.Name != "" && g.Given("subresource") {
			info.Name += "/" + g.Text("subresource")
		}
	}
	found, errs := g.Objects(g.infos)
	for _, info := range found {
		info.Name = info.Object.Name()
	}
	if g.On("ignore-not-found") {
		errs = slices.DeleteFunc(errs, client.IsNotFound)
	}
	return found, errs
}
