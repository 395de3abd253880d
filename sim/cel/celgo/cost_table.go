package celgo

import (
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// functionCost is the cost of one function.
//
//	before it runs  estimate(sizes in the schema)   ─▶ estimated cost, and the greatest size of the result
//	after it has run actual(values)                 ─▶ actual cost
type functionCost struct {
	estimate func(*plannedCall) *cost.CallEstimate // nil result: cel-go knows better
	actual   func(*finishedCall) (n uint64, ok bool)
}

// plannedCall is a call that has not run. args begin with the receiver, if there is one.
type plannedCall struct {
	*costs
	overload string
	args     []cost.AstNode
}

func (q *plannedCall) size(i int) cost.SizeEstimate { return q.costs.size(q.args[i]) }

// finishedCall is a call that has run.
type finishedCall struct {
	overload string
	args     []ref.Val
	result   ref.Val
}

func (r *finishedCall) size(i int) cost.SizeEstimate {
	return cost.FixedSizeEstimate(sizeOf(r.args[i]))
}

// call is either: how great its arguments can be, or are.
type call interface {
	size(i int) cost.SizeEstimate
}

// always is the cost of functions that cost the same always.
func always(n uint64) functionCost {
	return bySize(func(call) cost.Estimate { return cost.FixedCostEstimate(n) }, nil)
}

// bySize is the cost of a function that depends on the sizes of its arguments. result returns the greatest size of its result, and
// is nil if that is unknown.
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

// reading is the cost of reading the first argument, factor times.
func reading(factor float64) func(call) cost.Estimate {
	return func(c call) cost.Estimate { return c.size(0).MultiplyByCostFactor(factor) }
}

// asLong returns the size of the first argument for a result of the same length.
func asLong(q *plannedCall) cost.SizeEstimate { return q.size(0) }

// functionCosts are those of the functions that Kubernetes adds, and of those of cel-go that it counts otherwise.
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
	add(always(1), "major", "minor", "patch", "getScheme", "getHostname", "getHost", "getPort", "getEscapedPath", "getQuery")
	add(bySize(reading(traversal), asLong), "lowerAscii", "upperAscii", "substring", "trim", "url", "jsonpatch.escapeKey")
	add(bySize(reading(traversal), nil), "cidr", "isIP", "isCIDR", "ip", "quantity", "isQuantity", "semver", "isSemver")
	add(bySize(reading(2*traversal), nil), "ip.isCanonical")
	add(functionCost{estimateWalk, actualWalk}, "isSorted", "sum", "max", "min", "indexOf", "lastIndexOf")
	list["includes"] = functionCost{estimateIncludes, actualWalk}
	return list
}

// onCIDR is the overload of ip that takes the address out of a CIDR.
const onCIDR = "cidr_ip"

var onCIDRCost = always(1)

func costOf(function, overload string) (functionCost, bool) {
	if overload == onCIDR {
		return onCIDRCost, true
	}
	p, ok := functionCosts[function]
	return p, ok
}

// EstimateCallCost returns the greatest cost of a call, or nil to use the estimate of cel-go.
func (c *costs) EstimateCallCost(function, overload string, target *cost.AstNode, args []cost.AstNode) *cost.CallEstimate {
	p, ok := costOf(function, overload)
	if !ok {
		return nil
	}
	if target != nil {
		args = append([]cost.AstNode{*target}, args...)
	}
	return p.estimate(&plannedCall{c, overload, args})
}

// CallCost returns the actual cost of a call, or nil to use that of cel-go.
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

// estimateWalk: a list is looked at as a whole, each element is compared once, strings byte by byte.
func estimateWalk(q *plannedCall) *cost.CallEstimate {
	elem := element(q.args[0])
	if elem == nil { // a string
		return unsized(q.size(0).MultiplyByCostFactor(traversal))
	}
	each := cost.FixedCostEstimate(1)
	if k := elem.Type().Kind(); k == types.StringKind || k == types.BytesKind {
		each = each.Add(q.costs.size(elem).MultiplyByCostFactor(traversal))
	}
	return unsized(q.size(0).MultiplyByCost(each))
}

// estimateIncludes is estimateWalk, except for an argument that is not known to be a list, but may be one at run time.
func estimateIncludes(q *plannedCall) *cost.CallEstimate {
	if element(q.args[0]) == nil {
		return unsized(q.size(0).MultiplyByCost(cost.FixedCostEstimate(1)))
	}
	return estimateWalk(q)
}

func actualWalk(r *finishedCall) (uint64, bool) { return walk(r.args[0]), true }

// A selector is parsed, and becomes a list of requirements: the shortest is two bytes.
func selectorCost(c call) cost.Estimate {
	parsed := c.size(1).MultiplyByCostFactor(traversal)
	made := c.size(1).MultiplyByCostFactor(0.5).MultiplyByCostFactor(requirement)
	return cost.FixedCostEstimate(cost.ListCreateBaseCost).Add(parsed).Add(made)
}

// A regular expression is run over a text.
func findCost(c call) cost.Estimate {
	return matching(c.size(0)).Multiply(c.size(1).MultiplyByCostFactor(regexFactor))
}

func atMostAsLong(q *plannedCall) cost.SizeEstimate { return cost.RangedSizeEstimate(0, q.size(0).Max) }

// matching returns the cost factor of a text that is matched by a regular expression.
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

// containing is the cost of checking whether an address, or a range of addresses, is in a range: both are compared byte by byte,
// and a text is parsed first. The length of addresses does not follow from the schema.
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

// estimateString: nothing is known of the length of a text that a literal becomes.
func estimateString(q *plannedCall) *cost.CallEstimate {
	if e := q.args[0].Expr(); e == nil || e.Kind() != ast.LiteralKind || q.overload == overloads.BytesToString {
		return nil
	}
	return sized(cost.FixedCostEstimate(1), cost.UnknownSizeEstimate())
}

// estimateUnequal estimates types like _==_, and leaves all other values to cel-go.
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

// splitSize is how many parts a text has: the limit, or one for each byte.
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

// replacedSize is how long a text can get when something is replaced in it.
func replacedSize(q *plannedCall) cost.SizeEstimate {
	text, old, new := q.size(0), q.size(1), q.size(2)
	shortest := afterReplacing(text.Min, old.Max, new.Min, new.Min < old.Max)
	longest := afterReplacing(text.Max, old.Min, new.Max, new.Max > old.Min)
	return cost.RangedSizeEstimate(shortest, longest)
}
