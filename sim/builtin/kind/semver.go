package kind

import (
	"cmp"
	"slices"
	"strings"
)

// IsSemver reports whether v is a version of Semantic Versioning 2.0.0 (§2, §9 and §10).
func IsSemver(v string) bool {
	v, build, hasBuild := strings.Cut(v, "+")
	v, pre, hasPre := strings.Cut(v, "-")
	numbers := strings.Split(v, ".")
	ok := len(numbers) == 3
	for _, n := range numbers {
		ok = ok && isDigits(n) && (n == "0" || n[0] != '0')
	}
	if hasPre {
		for id := range strings.SplitSeq(pre, ".") {
			ok = ok && isSemverIdentifier(id) && (!isDigits(id) || id == "0" || id[0] != '0')
		}
	}
	if hasBuild {
		for id := range strings.SplitSeq(build, ".") {
			ok = ok && isSemverIdentifier(id)
		}
	}
	return ok
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func isSemverIdentifier(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return !('0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '-')
	})
}

// CompareSemver compares the precedence of two versions (§11). A text that is not a version is treated as 0.0.0.
func CompareSemver(a, b string) int {
	x, y := semverParts(a), semverParts(b)
	return cmp.Or(slices.CompareFunc(x.numbers, y.numbers, compareDigits), cmp.Compare(b2i(len(x.pre) == 0), b2i(len(y.pre) == 0)),
		slices.CompareFunc(x.pre, y.pre, func(p, q string) int {
			if isDigits(p) && isDigits(q) {
				return compareDigits(p, q)
			}
			return cmp.Or(cmp.Compare(b2i(isDigits(q)), b2i(isDigits(p))), strings.Compare(p, q))
		}))
}

// semver contains the parts of a version that determine its precedence.
type semver struct{ numbers, pre []string }

func semverParts(v string) (s semver) {
	if !IsSemver(v) {
		v = "0.0.0"
	}
	v, _, _ = strings.Cut(v, "+")
	v, pre, has := strings.Cut(v, "-")
	if has {
		s.pre = strings.Split(pre, ".")
	}
	s.numbers = strings.Split(v, ".")
	return s
}

// compareDigits compares two numbers without leading zeros.
func compareDigits(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
