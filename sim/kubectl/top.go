package kubectl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

// measured returns the metrics of nodes or pods.
func (c *call) measured(resource, namespace string) ([]object.Object, error) {
	const group = "metrics.k8s.io"
	s, err := c.discover()
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(s.all, func(m *mapping) bool { return m.group == group }) {
		return nil, fmt.Errorf("Metrics API not available")
	}
	m := mapping{group: group, version: "v1beta1", resource: resource, namespaced: namespace != ""}
	path := m.path(namespace, "")
	if len(c.args) > 0 {
		one, err := c.get(path+"/"+c.args[0], nil)
		return []object.Object{one}, err
	}
	list, err := c.get(path, query("labelSelector", c.text("selector"), "fieldSelector", c.text("field-selector")))
	if err != nil {
		return nil, err
	}
	items := list.Objects("items")
	slices.SortStableFunc(items, func(a, b object.Object) int {
		switch c.text("sort-by") {
		case "cpu", "memory":
			return amount(b, c.text("sort-by")).Cmp(amount(a, c.text("sort-by")))
		}
		return cmp.Or(strings.Compare(a.Namespace(), b.Namespace()), strings.Compare(a.Name(), b.Name()))
	})
	return items, nil
}

// amount is how much of a resource something uses: of a pod, all its containers together.
func amount(obj object.Object, name string) quantity.Quantity {
	if v, ok := obj.Get("usage", name); ok {
		return quantity.Of(v)
	}
	sum := quantity.MustParse("0")
	for _, one := range obj.Objects("containers") {
		if v, ok := one.Get("usage", name); ok {
			sum = sum.Add(quantity.Of(v))
		}
	}
	return sum
}

func milli(q quantity.Quantity) string { return fmt.Sprintf("%dm", q.MilliValue()) }
func mebi(q quantity.Quantity) string  { return fmt.Sprintf("%dMi", q.Value()/(1<<20)) }

func (c *call) topNodes() error {
	used, err := c.measured("nodes", "")
	if err != nil {
		return err
	}
	m, err := c.find("nodes")
	if err != nil {
		return err
	}
	rows := [][]string{{"NAME", "CPU(cores)", "CPU(%)", "MEMORY(bytes)", "MEMORY(%)", ""}}
	for _, u := range used {
		node, err := c.get(m.path("", u.Name()), nil)
		if err != nil {
			return err
		}
		share := func(name string) string {
			v, _ := node.Get("status", "allocatable", name)
			all := quantity.Of(v)
			if all.IsZero() {
				return "<unknown>"
			}
			return fmt.Sprintf("%d%%", amount(u, name).MilliValue()*100/all.MilliValue())
		}
		rows = append(rows, []string{u.Name(), milli(amount(u, "cpu")), share("cpu"), mebi(amount(u, "memory")), share("memory"), ""})
	}
	c.topTable(rows)
	return nil
}

func (c *call) topPods() error {
	namespace := c.namespace()
	all := c.on("all-namespaces")
	if all {
		namespace = ""
	}
	used, err := c.measured("pods", namespace)
	if err != nil {
		return err
	}
	if len(used) == 0 {
		if all {
			return toldError("No resources found")
		}
		c.complain("No resources found in %s namespace.", namespace)
		return nil
	}
	head := []string{"NAME", "CPU(cores)", "MEMORY(bytes)", ""}
	if c.on("containers") {
		head = []string{"POD", "NAME", "CPU(cores)", "MEMORY(bytes)", ""}
	}
	if all {
		head = append([]string{"NAMESPACE"}, head...)
	}
	rows := [][]string{head}
	for _, u := range used {
		var start []string
		if all {
			start = append(start, u.Namespace())
		}
		start = append(start, u.Name())
		if !c.on("containers") {
			rows = append(rows, append(start, milli(amount(u, "cpu")), mebi(amount(u, "memory")), ""))
			continue
		}
		for _, one := range u.Objects("containers") {
			rows = append(rows, append(slices.Clone(start), one.String("name"), milli(amount(one, "cpu")), mebi(amount(one, "memory")), ""))
		}
	}
	c.topTable(rows)
	return nil
}

// topTable prints rows whose last cell is padded, too.
func (c *call) topTable(rows [][]string) {
	if c.on("no-headers") {
		rows = rows[1:]
	}
	c.table(rows)
}

// events prints events, the last one at the end.
func (c *call) events() error {
	m, err := c.find("events")
	if err != nil {
		return err
	}
	namespace := c.namespaceOf(m, c.on("all-namespaces"))
	list, err := c.get(m.path(namespace, ""), query("limit", pageSize))
	if err != nil {
		return err
	}
	kind, name, _ := strings.Cut(c.text("for"), "/")
	if kind != "" {
		of, err := c.find(kind)
		if err != nil {
			return err
		}
		kind = of.kind
	}
	var found []object.Object
	for _, e := range list.Objects("items") {
		about := e.At("involvedObject")
		if kind != "" && (about.Kind() != kind || about.String("name") != name) {
			continue
		}
		if types := c.list("types"); len(types) > 0 && !slices.Contains(types, e.String("type")) {
			continue
		}
		found = append(found, e)
	}
	slices.SortStableFunc(found, func(a, b object.Object) int { return strings.Compare(lastSeen(a), lastSeen(b)) })
	if len(found) == 0 {
		if namespace == "" {
			c.complain("No events found.")
		} else {
			c.complain("No events found in %s namespace.", namespace)
		}
		return nil
	}
	head := []string{"LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"}
	if namespace == "" {
		head = append([]string{"NAMESPACE"}, head...)
	}
	rows := [][]string{head}
	if c.on("no-headers") {
		rows = nil
	}
	for _, e := range found {
		row := []string{c.since(e), e.String("type"), e.String("reason"),
			e.String("involvedObject", "kind") + "/" + e.String("involvedObject", "name"), strings.TrimSpace(e.String("message"))}
		if namespace == "" {
			row = append([]string{e.Namespace()}, row...)
		}
		rows = append(rows, row)
	}
	c.table(rows)
	return nil
}

// lastSeen is when an event was seen last.
func lastSeen(e object.Object) string {
	return cmp.Or(e.String("series", "lastObservedTime"), e.String("lastTimestamp"), e.String("eventTime"), e.String("metadata", "creationTimestamp"))
}

// since says how long ago an event was, and how often it has been seen.
func (c *call) since(e object.Object) string {
	first := cmp.Or(e.String("firstTimestamp"), e.String("eventTime"))
	text := c.age(cmp.Or(e.String("lastTimestamp"), first))
	n := e.Int64("count")
	if last := e.String("series", "lastObservedTime"); last != "" {
		n, text = e.Int64("series", "count"), c.age(last)
	}
	if n > 1 {
		return fmt.Sprintf("%s (x%d over %s)", text, n, c.age(first))
	}
	return text
}

// age is how long ago a time was.
func (c *call) age(text string) string {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return "<unknown>"
	}
	return codec.HumanDuration(c.Conn.Now().Sub(t))
}
