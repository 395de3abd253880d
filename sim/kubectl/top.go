//go:build !js || !nocel

package kubectl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

// measured returns the metrics of nodes or pods from the metrics API. It returns an error if no server provides that
// API.
func (c *call) measured(resource, namespace string) ([]object.Object, error) {
	const group = "metrics.k8s.io"
	d, err := c.Discover()
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(d.All, func(m *client.Mapping) bool { return m.Group == group }) {
		return nil, fmt.Errorf("Metrics API not available")
	}
	m := client.Mapping{Group: group, Version: "v1beta1", Resource: resource, Namespaced: namespace != ""}
	path := m.Path(namespace, "")
	if len(c.Args) > 0 {
		one, err := c.Get(path+"/"+c.Args[0], nil)
		return []object.Object{one}, err
	}
	list, err := c.Get(path, client.Query("labelSelector", c.Text("selector"), "fieldSelector", c.Text("field-selector")))
	if err != nil {
		return nil, err
	}
	items := list.Objects("items")
	slices.SortStableFunc(items, func(a, b object.Object) int {
		switch c.Text("sort-by") {
		case "cpu", "memory":
			return amount(b, c.Text("sort-by")).Cmp(amount(a, c.Text("sort-by")))
		}
		return cmp.Or(strings.Compare(a.Namespace(), b.Namespace()), strings.Compare(a.Name(), b.Name()))
	})
	return items, nil
}

// amount returns the usage of a resource by a node, by a container, or by all containers of a pod.
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

// runTopNode prints the usage of nodes. An empty last column pads the column before it, as in kubectl.
func runTopNode(c *call) error {
	used, err := c.measured("nodes", "")
	if err != nil {
		return err
	}
	m, err := c.Find("nodes")
	if err != nil {
		return err
	}
	var rows [][]string
	for _, u := range used {
		node, err := c.Get(m.Path("", u.Name()), nil)
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
	c.printTable([]string{"NAME", "CPU(cores)", "CPU(%)", "MEMORY(bytes)", "MEMORY(%)", ""}, rows)
	return nil
}

// runTopPod prints the usage of pods.
func runTopPod(c *call) error {
	namespace := c.Namespace
	all := c.On("all-namespaces")
	if all {
		namespace = ""
	}
	used, err := c.measured("pods", namespace)
	if err != nil {
		return err
	}
	if len(used) == 0 {
		if all {
			return client.PlainError("No resources found")
		}
		c.Complain("No resources found in %s namespace.", namespace)
		return nil
	}
	head := []string{"NAME", "CPU(cores)", "MEMORY(bytes)", ""}
	if c.On("containers") {
		head = []string{"POD", "NAME", "CPU(cores)", "MEMORY(bytes)", ""}
	}
	if all {
		head = append([]string{"NAMESPACE"}, head...)
	}
	var rows [][]string
	for _, u := range used {
		var start []string
		if all {
			start = append(start, u.Namespace())
		}
		start = append(start, u.Name())
		if !c.On("containers") {
			rows = append(rows, append(start, milli(amount(u, "cpu")), mebi(amount(u, "memory")), ""))
			continue
		}
		for _, one := range u.Objects("containers") {
			rows = append(rows, append(slices.Clone(start), one.String("name"), milli(amount(one, "cpu")), mebi(amount(one, "memory")), ""))
		}
	}
	c.printTable(head, rows)
	return nil
}
