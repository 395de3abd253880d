package guard

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	readmeRow   = regexp.MustCompile(`(?m)^\| \d+ \| (.*) \|$`)
	packageName = regexp.MustCompile("`([a-z/]+)`")
)

// TestReadmeRows checks that the table of packages in sim/README lists the packages of rows in the same order. "then" also begins a
// row. A row with a package per API group, or with many controllers, may list only some of them.
func TestReadmeRows(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	last, level := 0, 0
	for _, m := range readmeRow.FindAllStringSubmatch(string(text), -1) {
		for part := range strings.SplitSeq(m[1], "then ") {
			level = last
			for _, name := range packageName.FindAllStringSubmatch(part, -1) {
				dir := inReadme(name[1])
				row, ok := rowOf(dir)
				switch {
				case !ok:
					t.Errorf("sim/README names %s, which has no row in sim/guard/rows_test.go", dir)
				case row < level:
					t.Errorf("sim/README names %s behind packages of later rows of sim/guard/rows_test.go", dir)
				}
				named, last = append(named, dir), max(last, row)
			}
		}
	}
	for _, row := range rows {
		for _, dir := range row {
			some := strings.HasPrefix(dir, "sim/builtin/") || strings.HasPrefix(dir, "sim/controller/") || slices.Contains(testKits, dir)
			if !some && !slices.Contains(named, dir) {
				t.Errorf("the table of packages in sim/README lacks %s", dir)
			}
		}
	}
}

// inReadme returns the name of a package's directory in sim/README, which omits "sim/".
func inReadme(name string) string {
	if name == "sim" || name == "clock" || name == "fake" || name == "wasm" || strings.HasPrefix(name, "fake/") || strings.HasPrefix(name, "wasm/") {
		return name
	}
	return "sim/" + name
}
