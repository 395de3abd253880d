package guard

import (
	"strconv"
	"strings"
	"testing"
)

// TestImportGroups checks that imports are in three groups, separated by blank lines: the standard library, other modules, this
// module.
func TestImportGroups(t *testing.T) {
	t.Parallel()
	for _, s := range mustSources(t, byHand) {
		group, line := 0, 0
		for _, spec := range s.ast.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			g, at := importGroup(name), fset.Position(spec.Pos()).Line
			if g < group || g > group && line > 0 && at == line+1 {
				t.Errorf("%s: %s: imports are in three groups: the standard library, other modules, this module", s.at(spec), name)
				break
			}
			group, line = g, at
		}
	}
}

func importGroup(name string) int {
	first, _, _ := strings.Cut(name, "/")
	switch {
	case strings.HasPrefix(name, module+"/"):
		return 2
	case strings.Contains(first, "."):
		return 1
	}
	return 0
}
