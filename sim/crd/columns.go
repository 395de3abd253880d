package crd

import (
	"cmp"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/jsonpath"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// ObjectMeta is the definition name of the type of metadata.
const ObjectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

// column is a column of a Table, with its type and path.
type column struct {
	kind string
	path *jsonpath.Template
}

// columnsOf returns the columns of a version and the function that creates a row. A version that declares no columns has an Age
// column. It ignores all columns from the first one with an invalid path.
func columnsOf(list []any, docs *schema.Set) ([]resource.Column, func(time.Time, object.Object) resource.Row) {
	doc := func(field string) func() string {
		return func() string { return docs.Doc(ObjectMeta, field) }
	}
	heads := []resource.Column{{Name: "Name", Type: "string", Format: "name", Describe: doc("name")}}
	var age func() string
	if len(list) == 0 {
		list = []any{map[string]any{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}}
		age = doc("creationTimestamp")
	}
	var columns []column
	for _, x := range list {
		c := object.As(x)
		path, err := jsonpath.Parse("{" + c.String("jsonPath") + "}")
		if err != nil {
			break
		}
		text := cmp.Or(c.String("description"), "Custom resource definition column (in JSONPath format): "+c.String("jsonPath"))
		heads = append(heads, resource.Column{Name: c.String("name"), Type: c.String("type"), Format: c.String("format"),
			Description: text, Describe: age, Priority: int(c.Int64("priority"))})
		columns = append(columns, column{kind: c.String("type"), path: path})
	}
	return heads, func(now time.Time, obj object.Object) resource.Row {
		cells := make([]any, 1, 1+len(columns))
		cells[0] = obj.Name()
		for _, c := range columns {
			cells = append(cells, c.cell(now, obj))
		}
		return resource.Row{Cells: cells}
	}
}

// scaleColumns returns the columns of a Scale (getScaleColumnsForVersion of apiextensions-apiserver).
func scaleColumns(docs *schema.Set) ([]resource.Column, func(time.Time, object.Object) resource.Row) {
	heads, row := columnsOf([]any{
		map[string]any{"name": "Desired", "type": "integer", "jsonPath": ".spec.replicas", "description": "Number of desired replicas"},
		map[string]any{"name": "Available", "type": "integer", "jsonPath": ".status.replicas", "description": "Number of actual replicas"},
		map[string]any{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
	}, docs)
	heads[len(heads)-1].Describe = func() string { return docs.Doc(ObjectMeta, "creationTimestamp") }
	return heads, func(now time.Time, obj object.Object) resource.Row {
		if n, _ := obj.Int("spec", "replicas"); n == 0 { // the JSON of a Scale omits 0
			obj = obj.Copy()
			obj.Remove("spec", "replicas")
		}
		return row(now, obj)
	}
}

// cell returns the cell of a column for an object: the first value at the path, if it has the column's type.
func (c *column) cell(now time.Time, obj object.Object) any {
	values := c.path.Values(map[string]any(obj))
	if len(values) == 0 {
		return nil
	}
	v := values[0]
	if c.kind == "string" {
		return printValue(v)
	}
	whole, isWhole := v.(int64)
	number, isNumber := v.(float64)
	truth, isTruth := v.(bool)
	text, isText := v.(string)
	switch {
	case c.kind == "integer" && isWhole:
		return whole
	case c.kind == "integer" && isNumber:
		return int64(number)
	case c.kind == "number" && isWhole:
		return float64(whole)
	case c.kind == "number" && isNumber:
		return number
	case c.kind == "boolean" && isTruth:
		return truth
	case c.kind == "date" && isText:
		return age(now, text)
	}
	return nil
}

func age(now time.Time, text string) string {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil && text != "" && text != "null" {
		return "<invalid>"
	}
	return codec.Age(now, t) // <unknown> for the zero time
}

func printValue(v any) string {
	if v == nil {
		return "<no value>"
	}
	return jsonpath.Text(v)
}

// selectableOf returns the selectable fields and their labels, which are the paths without the first dot. The value of a
// missing field is "".
func selectableOf(list []any) (labels map[string]string, fields resource.Fields) {
	if len(list) == 0 {
		return nil, nil
	}
	labels = map[string]string{}
	for _, x := range list {
		label := strings.TrimPrefix(object.As(x).String("jsonPath"), ".")
		labels[label] = label
		fields = append(fields, selectableAt(label))
	}
	return labels, fields
}

func selectableAt(label string) resource.Field {
	path := strings.Split(label, ".")
	return resource.Field{Name: label, Text: func(obj object.Object) string {
		if v, ok := obj.Get(path...); ok && v != nil {
			return printValue(v)
		}
		return ""
	}}
}
