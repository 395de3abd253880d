package kubectl

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/printer"
	"github.com/kubesim/kubesim/sim/object"
)

// runEvents prints events, the last one at the end.
func runEvents(c *call) error {
	m, err := c.Find("events")
	if err != nil {
		return err
	}
	namespace := c.NamespaceOf(m, c.On("all-namespaces"))
	list, err := c.Get(m.Path(namespace, ""), client.Query("limit", client.PageSize))
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
	for _, e := range list.Objects("items") {
		about := e.At("involvedObject")
		if kind != "" && (about.Kind() != kind || about.String("name") != name) {
			continue
		}
		if types := c.List("types"); len(types) > 0 && !slices.Contains(types, e.String("type")) {
			continue
		}
		found = append(found, e)
	}
	slices.SortStableFunc(found, func(a, b object.Object) int { return strings.Compare(printer.LastSeen(a), printer.LastSeen(b)) })
	if len(found) == 0 {
		if namespace == "" {
			c.Complain("No events found.")
		} else {
			c.Complain("No events found in %s namespace.", namespace)
		}
		return nil
	}
	head := []string{"LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"}
	if namespace == "" {
		head = append([]string{"NAMESPACE"}, head...)
	}
	rows := [][]string{head}
	if c.On("no-headers") {
		rows = nil
	}
	for _, e := range found {
		row := []string{printer.Since(c.Now(), e), e.String("type"), e.String("reason"),
			e.String("involvedObject", "kind") + "/" + e.String("involvedObject", "name"), strings.TrimSpace(e.String("message"))}
		if namespace == "" {
			row = append([]string{e.Namespace()}, row...)
		}
		rows = append(rows, row)
	}
	printer.Table(c.Out, rows)
	return nil
}
