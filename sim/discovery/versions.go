package discovery

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// compareVersions orders versions of a group, the preferred one first: those of known in its order, then the others by
// the rule for custom resources: v2, v1, v2beta1, v1beta2, v1alpha1, then everything else by name (Kubernetes
// documentation, "Versions in CustomResourceDefinitions").
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
	x, y := parseVersion(a), parseVersion(b)
	return cmp.Or(
		cmp.Compare(y.stability, x.stability),
		cmp.Compare(y.major, x.major),
		cmp.Compare(y.minor, x.minor),
		strings.Compare(a, b),
	)
}

// parsedVersion is a version such as v2beta1: major 2, minor 1.
type parsedVersion struct {
	stability    int // 3 stable, 2 beta, 1 alpha, 0 anything else
	major, minor uint64
}

func parseVersion(s string) parsedVersion {
	rest, ok := strings.CutPrefix(s, "v")
	if !ok {
		return parsedVersion{}
	}
	v := parsedVersion{stability: 3}
	for stability, word := range []string{1: "alpha", 2: "beta"} {
		if major, minor, ok := strings.Cut(rest, word); ok && word != "" {
			if v.minor, ok = number(minor); !ok {
				return parsedVersion{}
			}
			rest, v.stability = major, stability
		}
	}
	if v.major, ok = number(rest); !ok {
		return parsedVersion{}
	}
	return v
}

// number reads a positive number without leading zeros.
func number(s string) (uint64, bool) {
	n, err := strconv.ParseUint(s, 10, 32)
	return n, err == nil && s[0] >= '1' && s[0] <= '9'
}
