package engine

import (
	"fmt"
	"testing"

	"github.com/matryer/is"
)

// TestFirstOfMany checks that only the first objects are decoded, and that their total number is reported.
func TestFirstOfMany(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPage(t)
	p.must("boot")
	for i := range 120 {
		p.do(fmt.Sprintf("create configmap c%03d", i))
	}
	table := p.data("table", "resource", "configmaps", "limit", 5)
	is.Equal(table["all"], 120.0)
	is.Equal(len(table["rows"].([]any)), 5)
	is.Equal(at(table, "rows.4.name"), "c004")
	is.Equal(len(p.data("table", "resource", "configmaps")["rows"].([]any)), 120) // without a limit: all of them
	line := "delete configmap c11"
	items := p.data("complete", "line", line, "cursor", len(line))["items"].([]any)
	is.Equal(at(map[string]any{"items": items}, "items.0.text"), "c110")
	is.Equal(len(items), 10) // c110 to c119
}
