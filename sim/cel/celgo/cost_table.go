package celgo

import (
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// functionCost computes the cost of one function.
//
//	before the call  estimate(sizes in the schema)  ─▶ estimated cost, and the maximum size of the result
//	after the call   actual(values)                 ─▶ actual cost
type functionCost struct {
	estimate func(*plannedCall) *cost.CallEstimate // if it returns nil, the estimate of cel-go is used
	actual   func(*finishedCall) (n uint64, ok bool)
}

// plannedCall is a call that has not been evaluated yet. If the function has a receiver, it is the first of args.
type plannedCall struct {
	*costs
	overload string
	args     []cost.AstNode
}

func (q *plannedCall) size(i int) cost.SizeEstimate { return q.costs.size(q.args[i]) }

// finishedCall is a call that has been evaluated.
type finishedCall struct {
	overload string
	args     []ref.Val
	result   ref.Val
}

func (r *finishedCall) size(i int) cost.SizeEstimate {
	return cost.FixedSizeEstimate(sizeOf(r.args[i]))
}

// call is a plannedCall, with estimated sizes of arguments, or a finishedCall, with actual ones.
type call interface {
	size(i int) cost.SizeEstimate
}

// always returns the functionCost of a function whose cost is constant.
func always(n uint64) functionCost {
	return bySize(func(call) cost.Estimate { return cost.FixedCostEstimate(n) }, nil)
}

// bySize returns the functionCost of a function whose cost depends on the sizes of its arguments. result returns the maximum size
// of the function's result. If that size is unknown, result is nil.
func bySize(of func(call) cost.Estimate, result func(*plannedCall) cost.SizeEstimate) functionCost {
	return functionCost{
		estimate: func(q *plannedCall) *cost.CallEstimate {
			if result != nil {
				return sized(of(q), result(q))
			}
			return unsized(of(q))
		},
		actual: func(r *finishedCall) (uint64, bool) { return of(r).Max, true },
	}
}

// ofUnknownSize is the result size of a function that returns a map. It also leaves the size of an element unknown; without it, cel-go
// derives that from the type, and indexedSize has no effect.
func ofUnknownSize(*plannedCall) cost.SizeEstimate { return cost.UnknownSizeEstimate() }

// reading returns a function that computes the cost of traversing the first argument of a call, multiplied by factor.
func reading(factor float64) func(call) cost.Estimate {
	return func(c call) cost.Estimate { return c.size(0).MultiplyByCostFactor(factor) }
}

// asLong returns the size of the first argument. It is for functions whose result has the same length.
func asLong(q *plannedCall) cost.SizeEstimate { return q.size(0) }

// functionCosts are the costs of the functions that Kubernetes adds, and of those functions of cel-go for which Kubernetes computes
// different costs.
var functionCosts = listFunctionCosts()

func listFunctionCosts() map[string]functionCost {
	find, selector := bySize(findCost, atMostAsLong), bySize(selectorCost, nil)
	list := map[string]functionCost{
		"check": always(checkCost),
		"split": bySize(reading(2*traversal), splitSize), "replace": bySize(reading(2*traversal), replacedSize),
		"join": {estimateJoin, func(r *finishedCall) (uint64, bool) { return ceil(sizeOf(r.result), 2*traversal), true }},
		"find": find, "findAll": find, "fieldSelector": selector, "labelSelector": selector,
		"containsIP":   containing(false, "cidr_contains_ip_string"),
		"containsCIDR": containing(true, "cidr_contains_cidr_string"),
		"validate":     {estimateValidate, actualValidate},
		"string":       {estimateString, func(*finishedCall) (uint64, bool) { return 0, false }},
		"_==_":         {estimateEqual, actualEqual},
		"_!=_":         {estimateUnequal, func(*finishedCall) (uint64, bool) { return 0, false }},
	}
	add := func(p functionCost, functions ...string) {
		for _, name := range functions {
			list[name] = p
		}
	}
	add(always(1), "serviceAccount", "path", "group", "resource", "subresource", "namespace", "name", "allowed", "reason", "error", "errored")
	add(always(1), "masked", "prefixLength", "family", "isUnspecified", "isLoopback", "isLinkLocalMulticast", "isLinkLocalUnicast", "isGlobalUnicast")
	add(always(1), "format.named", "sign", "asInteger", "isInteger", "asApproximateFloat", "isGreaterThan", "isLessThan", "compareTo", "add", "sub")
	add(always(1), "major", "minor", "patch", "getScheme", "getHostname", "getHost", "getPort", "getEscapedPath")
	list["getQuery"] = bySize(func(call) cost.Estimate { return cost.FixedCostEstimate(1) }, ofUnknownSize)
	add(bySize(reading(traversal), asLong), "lowerAscii", "upperAscii", "substring", "trim", "url", "jsonpatch.escapeKey")
	add(bySize(reading(traversal), nil), "cidr", "isIP", "isCIDR", "ip", "quantity", "isQuantity", "semver", "isSemver")
	add(bySize(reading(2*traversal), nil), "ip.isCanonical")
	add(functionCost{estimateWalk, actualWalk}, "isSorted", "sum", "max", "min", "indexOf", "lastIndexOf")
	list["includes"] = functionCost{estimateIncludes, actualWalk}
	return list
}

// onCIDR is the overload of the function ip that returns the address of a CIDR.
const onCIDR = "cidr_ip"

var onCIDRCost = always(1)

func costOf(function, overload string) (functionCost, bool) {
	if overload == onCIDR {
		return onCIDRCost, true
	}
	p, ok := functionCosts[function]
	return p, ok
}

// EstimateCallCost returns the maximum cost of a call. If it returns nil, the estimate of cel-go is used.
func (c *costs) EstimateCallCost(function, overload string, target *cost.AstNode, args []cost.AstNode) *cost.CallEstimate {
	if size := c.indexedSize(overload, args); size != nil {
		return sized(cost.FixedCostEstimate(1), *size)
	}
	p, ok := costOf(function, overload)
	if !ok {
		return nil
	}
	if target != nil {
		args = append([]cost.AstNode{*target}, args...)
	}
	return p.estimate(&plannedCall{c, overload, args})
}

// CallCost returns the actual cost of a call. If it returns nil, that of cel-go is used.
func (c *costs) CallCost(function, overload string, args []ref.Val, result ref.Val) *uint64 {
	p, ok := costOf(function, overload)
	if !ok {
		return nil
	}
	n, ok := p.actual(&finishedCall{overload, args, result})
	if !ok {
		return nil
	}
	return &n
}

// estimateWalk estimates the cost of traversing a list, in which each element is compared once and strings are compared
// byte by byte.
func estimateWalk(q *plannedCall) *cost.CallEstimate {
	elem := element(q.args[0])
	if elem == nil { // a string or another value
		return unsized(q.size(0).MultiplyByCostFactor(traversal))
	}
	each := cost.FixedCostEstimate(1)
	if k := elem.Type().Kind(); k == types.StringKind || k == types.BytesKind {
		each = each.Add(q.costs.size(elem).MultiplyByCostFactor(traversal))
	}
	return unsized(q.size(0).MultiplyByCost(each))
}

// estimateIncludes is like estimateWalk, except for an argument whose type is unknown, so that it may be a list at run time.
func estimateIncludes(q *plannedCall) *cost.CallEstimate {
	if element(q.args[0]) == nil {
		return unsized(q.size(0).MultiplyByCost(cost.FixedCostEstimate(1)))
	}
	return estimateWalk(q)
}

func actualWalk(r *finishedCall) (uint64, bool) { return walk(r.args[0]), true }

// selectorCost returns the cost of parsing a selector and creating a list of requirements. The shortest requirement is
// two bytes long.
func selectorCost(c call) cost.Estimate {
	parsed := c.size(1).MultiplyByCostFactor(traversal)
	made := c.size(1).MultiplyByCostFactor(0.5).MultiplyByCostFactor(requirement)
	return cost.FixedCostEstimate(cost.ListCreateBaseCost).Add(parsed).Add(made)
}

// findCost returns the cost of matching a regular expression against a string.
func findCost(c call) cost.Estimate {
	return matching(c.size(0)).Multiply(c.size(1).MultiplyByCostFactor(regexFactor))
}

func atMostAsLong(q *plannedCall) cost.SizeEstimate { return cost.RangedSizeEstimate(0, q.size(0).Max) }

// matching returns the cost factor of a string that is matched against a regular expression.
func matching(text cost.SizeEstimate) cost.Estimate {
	return text.Add(cost.FixedSizeEstimate(1)).MultiplyByCostFactor(traversal)
}

func estimateValidate(q *plannedCall) *cost.CallEstimate {
	return unsized(q.size(1).MultiplyByCostFactor(traversal).MultiplyByCostFactor(formatRegex * regexFactor))
}

func actualValidate(r *finishedCall) (uint64, bool) {
	f, ok := r.args[0].Value().(namedFormat)
	return matching(r.size(1)).Max * ceil(f.regex, regexFactor), ok
}

// containing returns the cost of checking whether a range contains an address or another range. Both are compared byte by
// byte, and a string is parsed first. The length of addresses cannot be derived from the schema.
func containing(cidr bool, text string) functionCost {
	of := func(c call, address cost.SizeEstimate, overload string) cost.Estimate {
		e := address.Add(address).MultiplyByCostFactor(traversal)
		if cidr {
			e = e.Add(address.MultiplyByCostFactor(traversal)).Add(cost.FixedCostEstimate(1))
		}
		if overload == text {
			e = e.Add(c.size(1).MultiplyByCostFactor(traversal))
		}
		return e
	}
	return functionCost{
		func(q *plannedCall) *cost.CallEstimate {
			return unsized(of(q, cost.RangedSizeEstimate(4, 16), q.overload))
		},
		func(r *finishedCall) (uint64, bool) { return of(r, r.size(0), r.overload).Max, true },
	}
}

// estimateString estimates the cost of converting a literal to a string. The length of the result counts as unknown. For any other
// argument, estimateString returns nil.
func estimateString(q *plannedCall) *cost.CallEstimate {
	if e := q.args[0].Expr(); e == nil || e.Kind() != ast.LiteralKind || q.overload == overloads.BytesToString {
		return nil
	}
	return sized(cost.FixedCostEstimate(1), cost.UnknownSizeEstimate())
}

// estimateUnequal estimates the cost of != for types, which equals that of ==. For all other values it uses the estimate of cel-go.
func estimateUnequal(q *plannedCall) *cost.CallEstimate {
	if q.args[0].Type().Kind() != types.TypeKind {
		return nil
	}
	return estimateEqual(q)
}

func actualEqual(r *finishedCall) (uint64, bool) {
	_, ours := r.args[0].(*special)
	return 1, ours
}

// splitSize returns the maximum number of parts that split returns: the limit, or one for each byte.
func splitSize(q *plannedCall) cost.SizeEstimate {
	most := q.size(0).Max
	if len(q.args) > 2 {
		if v := q.args[2].Expr().AsLiteral(); v != nil {
			if n, ok := v.Value().(int64); ok {
				most = uint64(n)
			}
		}
	}
	return cost.RangedSizeEstimate(0, most)
}

// replacedSize returns the possible lengths of a string after a replacement.
func replacedSize(q *plannedCall) cost.SizeEstimate {
	text, old, new := q.size(0), q.size(1), q.size(2)
	shortest := afterReplacing(text.Min, old.Max, new.Min, new.Min < old.Max)
	longest := afterReplacing(text.Max, old.Min, new.Max, new.Max > old.Min)
	return cost.RangedSizeEstimate(shortest, longest)
}
