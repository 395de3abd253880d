package discovery

import (
	"cmp"
	"slices"

	"github.com/kubesim/kubesim/sim/schema"
)

// compareVersions orders versions of a group, the preferred one first: known ones in the order of known, then the others by the
// rule for custom resources.
func compareVersions(a, b string, known []string) int {
	i, j := slices.Index(known, a), slices.Index(known, b)
	switch {
	case i >= 0 && j >= 0:
		return cmp.Compare(i, j)
	case i >= 0:
		return -1
	case j >= 0:
		return 1
	}
	return schema.CompareVersions(b, a)
}
