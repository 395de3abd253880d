package celgo

import (
	"errors"
	"fmt"
	"strings"

	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/parser"

	"github.com/kubesim/kubesim/sim/selector"
)

// ParseShards parses the parameter shardSelector of a list or watch (KEP-5866): one or more ranges of one field, in the syntax of CEL.
//
//	shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000') || shardRange(…)
//
// The error messages are those of k8s.io/apiserver/pkg/sharding.
func ParseShards(expression string) (selector.Shards, error) {
	var s selector.Shards
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
	return selector.Shards{Field: fields[0], Ranges: ranges}, nil
}

// shardRanges returns the ranges of an expression, each with its field.
func shardRanges(e ast.Expr) (fields []string, ranges []selector.HashRange, err error) {
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
		return []string{f}, []selector.HashRange{r}, err
	default:
		return nil, nil, fmt.Errorf("unsupported function %q; only shardRange() and || are allowed", call.FunctionName())
	}
}

// shardRange returns the field and the range of one call.
func shardRange(args []ast.Expr) (path string, r selector.HashRange, err error) {
	if len(args) != 3 {
		return "", r, fmt.Errorf("shardRange() requires exactly 3 arguments, got %d", len(args))
	}
	if path, err = fieldOf(args[0]); err != nil {
		return "", r, fmt.Errorf("shardRange() first argument: %w", err)
	}
	if path != selector.ShardByUID && path != selector.ShardByNamespace {
		return "", r, fmt.Errorf("unsupported field path %q; supported: object.metadata.uid, object.metadata.namespace", path)
	}
	if r.Start, err = hexOf(args[1], "hexStart"); err != nil {
		return "", r, err
	}
	if r.End, err = hexOf(args[2], "hexEnd"); err != nil {
		return "", r, err
	}
	if !selector.HexLess(r.Start, r.End) {
		return "", r, fmt.Errorf("shard range start %s must be less than end %s", r.Start, r.End)
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
