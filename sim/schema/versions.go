package schema

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// CompareVersions compares versions of a group by stability and numbers: v2 > v1 > v2beta1 > v1beta2 > v1alpha1 > others, by name
// (Kubernetes documentation, "Versions in CustomResourceDefinitions").
func CompareVersions(a, b string) int {
	x, y := rank(a), rank(b)
	return cmp.Or(slices.Compare(x[:], y[:]), strings.Compare(b, a))
}

// rank returns stability, major and minor number of a version, larger is better; zeros for a name of another form.
func rank(name string) [3]int {
	rest, isVersion := strings.CutPrefix(name, "v")
	stability, major, minor := 3, rest, "0"
	for i, word := range []string{"alpha", "beta"} {
		if before, after, found := strings.Cut(rest, word); found {
			stability, major, minor = i+1, before, after
		}
	}
	n, isMajor := digits(major)
	m, isMinor := digits(minor)
	if !isVersion || !isMajor || !isMinor {
		return [3]int{}
	}
	return [3]int{stability, n, m}
}

// digits reads a number, which has no sign.
func digits(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && s[0] >= '0'
}
