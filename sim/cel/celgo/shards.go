package celgo

import (
	"errors"
	"fmt"
	"hash/fnv"
	"strings"

	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/parser"
)

// Shards selects objects by the FNV-1a hash of their uid or namespace, which is a number of 64 bits, so that several clients can share
// the objects of a resource (KEP-5866). The zero value selects all objects.
type Shards struct {
	field  string // shardByUID or shardByNamespace
	ranges []hashRange
}

const (
	shardByUID       = "object.metadata.uid"
	shardByNamespace = "object.metadata.namespace"
)

// hashRange contains the hashes from start, up to but excluding end. Both are "0x" and 16 hexadecimal digits; end may also be 2^64,
// which has 17.
type hashRange struct{ start, end string }

// Empty reports whether s selects all objects.
func (s Shards) Empty() bool { return len(s.ranges) == 0 }

// ByNamespace reports whether s selects by the namespace, and not by the uid.
func (s Shards) ByNamespace() bool { return s.field == shardByNamespace }

// Match reports whether s selects an object with the uid or the namespace.
func (s Shards) Match(value string) bool {
	h := fnv.New64a()
	h.Write([]byte(value))
	hash := fmt.Sprintf("0x%016x", h.Sum64())
	for _, r := range s.ranges {
		if !hexLess(hash, r.start) && hexLess(hash, r.end) {
			return true
		}
	}
	return s.Empty()
}

// hexLess compares hexadecimal numbers that have no leading zeros beyond 16 digits: a longer number is greater.
func hexLess(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}

// String returns the selector as in the query of a request.
func (s Shards) String() string {
	var parts []string
	for _, r := range s.ranges {
		parts = append(parts, fmt.Sprintf("shardRange(%s, '%s', '%s')", s.field, r.start, r.end))
	}
	return strings.Join(parts, " || ")
}

// ParseShards parses the parameter shardSelector of a list or watch (KEP-5866): one or more ranges of one field, in the syntax of CEL.
//
//	shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000') || shardRange(…)
//
// The error messages are those of k8s.io/apiserver/pkg/sharding.
func ParseShards(expression string) (Shards, error) {
	var s Shards
	expression = strings.TrimSpace(expression)
	if expression == "" {
		return s, errors.New("empty shard selector is not allowed; omit the parameter for unfiltered lists")
	}
	p, err := parser.NewParser(parser.Macros())
	if err != nil {
		return s, fmt.Errorf("failed to create CEL parser: %w", err)
	}
	parsed, errs := p.Parse(common.NewTextSource(expression))
	if errs != nil && len(errs.GetErrors()) > 0 {
		return s, fmt.Errorf("CEL parse error: %s", errs.GetErrors()[0].Message)
	}
	fields, ranges, err := shardRanges(parsed.Expr())
	if err != nil {
		return s, err
	}
	for _, f := range fields[1:] {
		if f != fields[0] {
			return s, fmt.Errorf("all shard ranges must use the same field, got %q and %q", fields[0], f)
		}
	}
	return Shards{fields[0], ranges}, nil
}

// shardRanges returns the ranges of an expression, each with its field.
func shardRanges(e ast.Expr) (fields []string, ranges []hashRange, err error) {
	if e.Kind() != ast.CallKind {
		return nil, nil, fmt.Errorf("unexpected expression kind %v; expected shardRange() call or || operator", e.Kind())
	}
	switch call := e.AsCall(); call.FunctionName() {
	case operators.LogicalOr:
		for _, arg := range call.Args() {
			f, r, err := shardRanges(arg)
			if err != nil {
				return nil, nil, err
			}
			fields, ranges = append(fields, f...), append(ranges, r...)
		}
		return fields, ranges, nil
	case "shardRange":
		f, r, err := shardRange(call.Args())
		return []string{f}, []hashRange{r}, err
	default:
		return nil, nil, fmt.Errorf("unsupported function %q; only shardRange() and || are allowed", call.FunctionName())
	}
}

// shardRange returns the field and the range of one call.
func shardRange(args []ast.Expr) (path string, r hashRange, err error) {
	if len(args) != 3 {
		return "", r, fmt.Errorf("shardRange() requires exactly 3 arguments, got %d", len(args))
	}
	if path, err = fieldOf(args[0]); err != nil {
		return "", r, fmt.Errorf("shardRange() first argument: %w", err)
	}
	if path != shardByUID && path != shardByNamespace {
		return "", r, fmt.Errorf("unsupported field path %q; supported: object.metadata.uid, object.metadata.namespace", path)
	}
	if r.start, err = hexOf(args[1], "hexStart"); err != nil {
		return "", r, err
	}
	if r.end, err = hexOf(args[2], "hexEnd"); err != nil {
		return "", r, err
	}
	if !hexLess(r.start, r.end) {
		return "", r, fmt.Errorf("shard range start %s must be less than end %s", r.start, r.end)
	}
	return path, r, nil
}

// fieldOf returns the path that an expression selects, such as object.metadata.uid.
func fieldOf(e ast.Expr) (string, error) {
	switch e.Kind() {
	case ast.IdentKind:
		return e.AsIdent(), nil
	case ast.SelectKind:
		operand, err := fieldOf(e.AsSelect().Operand())
		return operand + "." + e.AsSelect().FieldName(), err
	default:
		return "", fmt.Errorf("expected field path (e.g. object.metadata.uid), got expression kind %v", e.Kind())
	}
}

// hexOf returns the hexadecimal number in a string literal. name is the argument in error messages.
func hexOf(e ast.Expr, name string) (string, error) {
	if e.Kind() != ast.LiteralKind {
		return "", fmt.Errorf("%s must be a string literal (e.g. '0xff'), got expression kind %v", name, e.Kind())
	}
	text, ok := e.AsLiteral().Value().(string)
	if !ok {
		return "", fmt.Errorf("%s must be a string literal, got %T", name, e.AsLiteral().Value())
	}
	digits, ok := strings.CutPrefix(text, "0x")
	switch {
	case !ok:
		return "", fmt.Errorf("%s must have '0x' prefix, got %q", name, text)
	case digits == "":
		return "", fmt.Errorf("%s: hex value is required after '0x'", name)
	case len(digits) > 17:
		return "", fmt.Errorf("%s: hex value too long (%d chars, max 17): %q", name, len(digits), digits)
	}
	if i := strings.IndexFunc(digits, func(c rune) bool { return !strings.ContainsRune("0123456789abcdef", c) }); i >= 0 {
		return "", fmt.Errorf("%s: invalid hex character %q in %q", name, string([]rune(digits[i:])[0]), text)
	}
	switch {
	case len(digits) == 17 && text != "0x10000000000000000":
		return "", fmt.Errorf("%s: 17-digit hex value must be '0x10000000000000000' (2^64), got %q", name, text)
	case len(digits) < 16:
		return "", fmt.Errorf("%s must be a 0x-prefixed 16-digit hex value, got %q (did you mean %q?)", name, text, "0x"+strings.Repeat("0", 16-len(digits))+digits)
	}
	return text, nil
}
