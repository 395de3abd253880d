package kubectl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/describe"
	"github.com/kubesim/kubesim/sim/kubectl/printer"
	"github.com/kubesim/kubesim/sim/object"
)

// runDescribe prints details of objects.
func runDescribe(c *call) error {
	if len(c.Args) == 0 && !c.Given("filename") && !c.Given("kustomize") {
		return fmt.Errorf("You must specify the type of resource to describe. %s", useResources)
	}
	list, err := c.Infos(c.Args, client.Selection{Types: true, AnyScope: c.On("all-namespaces")})
	if err != nil {
		return err
	}
	found, errs := c.Objects(list)
	after := "" // what follows each description
	if len(c.Args) == 2 && !strings.Contains(c.Args[0], "/") && len(errs) > 0 && client.IsNotFound(errs[0]) {
		if found = c.withPrefix(list[0]); len(found) > 0 {
			errs, after = nil, "\n"
		}
	}
	if len(errs) > 0 && len(c.Args) > 0 && strings.Contains(c.Args[0], "/") {
		return errors.Join(errs...)
	}
	events := c.On("show-events")
	if !c.Given("show-events") {
		events = len(found) == 1 && len(errs) == 0 && after == ""
	}
	for i, info := range found {
		if i > 0 && after == "" {
			c.Printf("\n\n")
		}
		if err := describe.Describe(c.Out, c.Client, info, events); err != nil {
			return err
		}
		c.Printf("%s", after)
	}
	switch {
	case len(found) > 0 || len(errs) > 0:
	case c.On("all-namespaces"):
		c.Complain("No resources found")
	default:
		c.Complain("No resources found in %s namespace.", c.Namespace)
	}
	return errors.Join(errs...)
}

// withPrefix returns the objects whose names begin with info's name. describe uses it if no object has exactly that name.
func (c *call) withPrefix(info *client.Info) (out []*client.Info) {
	all, err := c.Listed(&client.Info{Mapping: info.Mapping, Namespace: info.Namespace})
	if err != nil {
		return nil
	}
	for _, x := range all {
		if strings.HasPrefix(x.Name, info.Name) {
			out = append(out, x)
		}
	}
	return out
}

// runEvents prints events, sorted by the time when they were last seen.
func runEvents(c *call) error {
	m, err := c.Find("events")
	if err != nil {
		return err
	}
	namespace := c.NamespaceOf(m, c.On("all-namespaces"))
	all, err := c.Listed(&client.Info{Mapping: m, Namespace: namespace})
	if err != nil {
		return err
	}
	kind, name, _ := strings.Cut(c.Text("for"), "/")
	if kind != "" {
		of, err := c.Find(kind)
		if err != nil {
			return err
		}
		kind = of.Kind
	}
	var found []object.Object
	for _, info := range all {
		e := info.Object
		about := e.At("involvedObject")
		if kind != "" && (about.Kind() != kind || about.String("name") != name) {
			continue
		}
		if types := c.List("types"); len(types) > 0 && !slices.Contains(types, e.String("type")) {
			continue
		}
		found = append(found, e)
	}
	slices.SortFunc(found, func(a, b object.Object) int { return printer.LastSeen(a).Compare(printer.LastSeen(b)) }) // not stable, as in kubectl
	if len(found) == 0 {
		if namespace == "" {
			c.Complain("No events found.")
		} else {
			c.Complain("No events found in %s namespace.", namespace)
		}
		return nil
	}
	if c.Text("output") != "" {
		return c.printEvents(found)
	}
	head := []string{"LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"}
	if namespace == "" {
		head = append([]string{"NAMESPACE"}, head...)
	}
	var rows [][]string
	for _, e := range found {
		row := []string{printer.Since(c.Now(), e), e.String("type"), e.String("reason"),
			e.String("involvedObject", "kind") + "/" + e.String("involvedObject", "name"), strings.TrimSpace(e.String("message"))}
		if namespace == "" {
			row = append([]string{e.Namespace()}, row...)
		}
		rows = append(rows, row)
	}
	c.printTable(head, rows)
	return nil
}

// printEvents prints events in the format of --output.
func (c *call) printEvents(events []object.Object) error {
	p, err := c.printFlags().Printer()
	if err != nil {
		return err
	}
	items := make([]any, len(events))
	for i, e := range events {
		items[i] = map[string]any(e)
	}
	list := object.Object{"apiVersion": "v1", "kind": "EventList", "items": items, "metadata": map[string]any{}}
	return p(c.Out, &client.Info{Object: list})
}
