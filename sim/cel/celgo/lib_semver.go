package celgo

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

var typeSemver = cel.ObjectType("kubernetes.Semver")

// semver is a version of Semantic Versioning 2.0.0.
type semver struct {
	parts [3]uint64
	pre   []string
	text  string
}

func semverVal(v semver) ref.Val {
	return &special{typ: typeSemver, value: v, text: v.text,
		equal: func(other any) bool { return v.compare(other.(semver)) == 0 }}
}

const digits = "0123456789"
const identifierChars = "-ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" + digits

func only(s, chars string) bool { return strings.Trim(s, chars) == "" }

func parseSemver(s string) (semver, error) {
	v := semver{text: s}
	if s == "" {
		return v, errors.New("Version string empty")
	}
	parts := strings.SplitN(s, ".", 3)
	if len(parts) != 3 {
		return v, errors.New("No Major.Minor.Patch elements found")
	}
	var build string
	var hasBuild, hasPre bool
	parts[2], build, hasBuild = strings.Cut(parts[2], "+")
	var pre string
	parts[2], pre, hasPre = strings.Cut(parts[2], "-")
	for i, name := range []string{"major", "minor", "patch"} {
		if !only(parts[i], digits) {
			return v, fmt.Errorf("Invalid character(s) found in %s number %q", name, parts[i])
		}
		if len(parts[i]) > 1 && parts[i][0] == '0' {
			return v, fmt.Errorf("%s number must not contain leading zeroes %q", strings.ToUpper(name[:1])+name[1:], parts[i])
		}
		n, err := strconv.ParseUint(parts[i], 10, 64)
		if err != nil {
			return v, err
		}
		v.parts[i] = n
	}
	if hasPre {
		for _, id := range strings.Split(pre, ".") {
			if err := checkPrerelease(id); err != nil {
				return v, err
			}
			v.pre = append(v.pre, id)
		}
	}
	if hasBuild {
		for _, id := range strings.Split(build, ".") {
			if id == "" {
				return v, errors.New("Build meta data is empty")
			}
			if !only(id, identifierChars) {
				return v, fmt.Errorf("Invalid character(s) found in build meta data %q", id)
			}
		}
	}
	return v, nil
}

func checkPrerelease(id string) error {
	switch {
	case id == "":
		return errors.New("Prerelease is empty")
	case only(id, digits) && len(id) > 1 && id[0] == '0':
		return fmt.Errorf("Numeric PreRelease version must not contain leading zeroes %q", id)
	case !only(id, identifierChars):
		return fmt.Errorf("Invalid character(s) found in prerelease %q", id)
	}
	return nil
}

// normalizeSemver parses a version in a common spelling, such as v1.2 or 01.2.3. Missing numbers become 0. It returns
// an error if a version with missing numbers has a prerelease or build metadata.
func normalizeSemver(s string) (semver, error) {
	parts := strings.SplitN(strings.TrimPrefix(s, "v"), ".", 3)
	for i, p := range parts {
		if len(p) > 1 {
			if p = strings.TrimLeft(p, "0"); p == "" || !only(p[:1], digits) {
				p = "0" + p
			}
			parts[i] = p
		}
	}
	if len(parts) < 3 && strings.ContainsAny(parts[len(parts)-1], "+-") {
		return semver{}, errors.New("short version cannot contain PreRelease/Build meta data")
	}
	for len(parts) < 3 {
		parts = append(parts, "0")
	}
	return parseSemver(strings.Join(parts, "."))
}

// compare compares versions by precedence. It ignores build metadata.
func (v semver) compare(w semver) int {
	if c := slices.Compare(v.parts[:], w.parts[:]); c != 0 {
		return c
	}
	if len(v.pre) == 0 || len(w.pre) == 0 {
		return cmp.Compare(len(w.pre), len(v.pre))
	}
	return slices.CompareFunc(v.pre, w.pre, comparePrerelease)
}

// comparePrerelease compares prerelease identifiers: numbers by value, and before all other identifiers.
func comparePrerelease(a, b string) int {
	switch numberA, numberB := only(a, digits), only(b, digits); {
	case numberA && numberB && len(a) != len(b):
		return cmp.Compare(len(a), len(b))
	case numberA && !numberB:
		return -1
	case numberB && !numberA:
		return 1
	}
	return cmp.Compare(a, b)
}

// semverFunctions returns semver, isSemver and the methods of a version.
func semverFunctions() []cel.EnvOption {
	parse := func(s string, normalize bool) (semver, error) {
		if normalize {
			return normalizeSemver(s)
		}
		return parseSemver(s)
	}
	make := func(s string, normalize bool) ref.Val {
		v, err := parse(s, normalize)
		if err != nil {
			return types.WrapErr(err)
		}
		return semverVal(v)
	}
	is := func(s string, normalize bool) ref.Val {
		_, err := parse(s, normalize)
		return types.Bool(err == nil)
	}
	part := func(name string, i int) cel.EnvOption {
		return property(name, "semver_"+name, typeSemver, cel.IntType, func(v semver) ref.Val { return types.Int(v.parts[i]) })
	}
	return append(comparing("semver", typeSemver, semver.compare),
		cel.Function("semver",
			overload("string_to_semver", typeSemver, unary(func(s string) ref.Val { return make(s, false) }), cel.StringType),
			overload("string_bool_to_semver", typeSemver, binary(make), cel.StringType, cel.BoolType)),
		cel.Function("isSemver",
			overload("is_semver_string", cel.BoolType, unary(func(s string) ref.Val { return is(s, false) }), cel.StringType),
			overload("is_semver_string_bool", cel.BoolType, binary(is), cel.StringType, cel.BoolType)),
		part("major", 0), part("minor", 1), part("patch", 2))
}
