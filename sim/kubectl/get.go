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
		switch {
		case c.On("watch") || c.On("watch-only") || c.Given("selector"):
			return fmt.Errorf("--raw may not be specified with other flags that filter the server request or alter the output")
		case c.Given("output"):
			return fmt.Errorf("--raw and --output are mutually exclusive")
		}
		return c.raw(wire.MethodGet, raw)
	}
	if len(c.Args) == 0 && !c.Given("filename") && !c.Given("kustomize") {
		c.Complain("You must specify the type of resource to get. %s\n\n", useResources)
		return c.usage("Required resource not specified.\nUse \"kubectl explain <resource>\" for a detailed description of that resource (e.g. kubectl explain pods).")
	}
	output := c.Text("output")
	human := output == "" || output == "wide"
	switch {
	case c.On("show-labels") && !human:
		return fmt.Errorf("--show-labels option cannot be used with %s printer", output)
	case c.On("output-watch-events") && !c.On("watch") && !c.On("watch-only"):
		return fmt.Errorf("--output-watch-events option can only be used with --watch or --watch-only")
	}
	infos, err := c.Infos(c.Args, client.Selection{Types: true, AnyScope: c.On("all-namespaces"), Subresource: c.Given("subresource")})
	if err != nil {
		return err
	}
	g := &getter{call: c, infos: infos, options: printer.PrintOptions{Wide: output == "wide", WithNamespace: c.On("all-namespaces"),
		WithKind: c.On("show-kind"), ShowLabels: c.On("show-labels"), NameAndAge: c.Off("server-print"), ColumnLabels: c.List("label-columns")}}
	switch {
	case c.On("watch") || c.On("watch-only"):
		return g.watch()
	case human && c.Text("template") == "":
		return g.tables()
	}
	return g.print()
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
func (g *getter) print() error {
	found, errs := g.read()
	single := len(g.infos) == 1 && g.infos[0].Name != "" && g.infos[0].Err == nil
	if len(found) == 0 && (single || g.On("ignore-not-found")) {
		return errors.Join(errs...)
	}
	p, err := g.printFlags().Printer()
	if err != nil {
		return err
	}
	if order := g.Text("sort-by"); order != "" && !single {
		if err := printer.SortObjects(found, order); err != nil {
			return errors.Join(append(errs, err)...)
		}
	}
	if format, _, _ := strings.Cut(g.Text("output"), "="); format == "name" || single {
		for _, info := range found {
			if err := p(g.Out, info); err != nil {
				return err
			}
		}
		return errors.Join(errs...)
	}
	items := make([]any, len(found))
	for i, info := range found {
		items[i] = map[string]any(g.printFlags().Visible(info.Object))
	}
	list := object.Object{"apiVersion": "v1", "kind": "List", "items": items, "metadata": map[string]any{"resourceVersion": ""}}
	return errors.Join(append(errs, p(g.Out, &client.Info{Object: list}))...)
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
