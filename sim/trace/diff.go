package trace

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// routine is metadata that every write changes.
var routine = []string{"metadata.resourceVersion", "metadata.managedFields", "metadata.generation"}

// diffWidth is the maximal number of bytes that are shown of a line of a diff.
const diffWidth = 240

// Difference returns in which fields two states of an object differ, a line each: spec.replicas: 1 → 3. Metadata that every
// write changes is left out.
func Difference(before, after object.Object) (lines []string) {
	for _, c := range object.Diff(before, after) {
		if Routine(c.Path) {
			continue
		}
		line := c.String()
		if len(line) > diffWidth {
			line = strings.ToValidUTF8(line[:diffWidth], "") + " …"
		}
		lines = append(lines, line)
	}
	return lines
}

// Routine reports whether a field is metadata that every write changes.
func Routine(path string) bool {
	return slices.ContainsFunc(routine, func(name string) bool { return path == name || strings.HasPrefix(path, name+"[") })
}
