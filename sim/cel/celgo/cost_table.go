package celgo

import (
	"math"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// functionCost is what one function costs.
//
//	before it runs  estimate(sizes that a schema allows)  ─▶ estimated cost, and how great the result can be
//	when it has run actual(values)                        ─▶ actual cost
type functionCost struct {
	estimate func(*plannedCall) *cost.CallEstimate // nil result: cel-go knows better
	actual   func(*finishedCall) (n uint64, ok bool)
}

// plannedCall is a call that has not run.
type plannedCall struct {
	*costs
	overload string
	member   bool // the subject is what the function is called on, not its first argument
	subject  cost.AstNode
	size     cost.SizeEstimate // of the subject
	args     []cost.AstNode    // behind the subject
}

// arg returns the size of an argument behind the subject.
func (q *plannedCall) arg(i int) cost.SizeEstimate { return q.costs.size(q.args[i]) }

// finishedCall is a call that has run; args begin with the subject.
type finishedCall struct {
	overload string
	args     []ref.Val
	result   ref.Val
}

func (r *finishedCall) size(i int) uint64 { return sizeOf(r.args[i]) }

// always is the cost of functions that cost the same always.
func always(n uint64) functionCost {
	return functionCost{
		estimate: func(*plannedCall) *cost.CallEstimate { return call(cost.FixedCostEstimate(n)) },
		actual:   func(*finishedCall) (uint64, bool) { return n, true },
	}
}

// bytewise is the cost of functions that read their subject, factor times. isSized says that the result is no longer than the
// subject, and member that the function is called on it.
func bytewise(factor float64, isSized, member bool) functionCost {
	return functionCost{
		estimate: func(q *plannedCall) *cost.CallEstimate {
			if q.member != member {
				return nil
			}
			e := q.size.MultiplyByCostFactor(factor)
			if isSized {
				return sized(e, q.size)
			}
			return call(e)
		},
		actual: func(r *finishedCall) (uint64, bool) {
			if len(r.args) == 0 {
				return 0, false
			}
			return ceil(r.size(0), factor), true
		},
	}
}

// withArgument adds to a cost that the function has an argument behind its subject, without which cel-go decides.
func withArgument(estimate func(*plannedCall) *cost.CallEstimate, actual func(*finishedCall) (uint64, bool)) functionCost {
	return functionCost{
		estimate: func(q *plannedCall) *cost.CallEstimate {
			if !q.member || len(q.args) == 0 {
				return nil
			}
			return estimate(q)
		},
		actual: func(r *finishedCall) (uint64, bool) {
			if len(r.args) < 2 {
				return 0, false
			}
			return actual(r)
		},
	}
}

// functionCosts are those of the functions that Kubernetes adds, and of those of cel-go that it counts otherwise.
var functionCosts = listFunctionCosts()

func listFunctionCosts() map[string]functionCost {
	list := map[string]functionCost{
		"check": always(checkCost),
		"split": {estimateSplit, bytewise(2*traversal, true, true).actual}, "replace": {estimateReplace, bytewise(2*traversal, true, true).actual},
		"join": {estimateJoin, func(r *finishedCall) (uint64, bool) { return ceil(sizeOf(r.result), 2*traversal), true }},
		"find": withArgument(estimateFind, actualFind), "findAll": withArgument(estimateFind, actualFind),
		"fieldSelector": withArgument(estimateSelector, actualSelector), "labelSelector": withArgument(estimateSelector, actualSelector),
		"containsIP":   withArgument(containing(false, "cidr_contains_ip_string")),
		"containsCIDR": withArgument(containing(true, "cidr_contains_cidr_string")),
		"validate":     withArgument(estimateValidate, actualValidate),
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
	add(bytewise(traversal, true, true), "lowerAscii", "upperAscii", "substring", "trim")
	add(bytewise(traversal, true, false), "url", "jsonpatch.escapeKey")
	add(bytewise(traversal, false, false), "cidr", "isIP", "isCIDR", "ip", "quantity", "isQuantity", "semver", "isSemver")
	add(bytewise(2*traversal, false, false), "ip.isCanonical")
	add(functionCost{estimateWalk, actualWalk}, "isSorted", "sum", "max", "min", "indexOf", "lastIndexOf")
	list["includes"] = functionCost{estimateIncludes, actualWalk}
	return list
}

// onCIDR is the overload of ip that takes the address out of a CIDR.
const onCIDR = "cidr_ip"

func costOf(function, overload string) (functionCost, bool) {
	if overload == onCIDR {
		return always(1), true
	}
	p, ok := functionCosts[function]
	return p, ok
}

// EstimateCallCost returns what a call may cost, nil where cel-go knows better.
func (c *costs) EstimateCallCost(function, overload string, target *cost.AstNode, args []cost.AstNode) *cost.CallEstimate {
	p, ok := costOf(function, overload)
	if !ok {
		return nil
	}
	q := &plannedCall{costs: c, overload: overload, args: args}
	switch {
	case target != nil:
		q.member, q.subject = true, *target
	case len(args) > 0:
		q.subject, q.args = args[0], args[1:]
	}
	if q.subject != nil {
		q.size = c.size(q.subject)
	}
	return p.estimate(q)
}

// CallCost returns what a call has cost, nil where cel-go knows better.
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

// A list is looked at as a whole.
func estimateWalk(q *plannedCall) *cost.CallEstimate {
	if !q.member {
		return nil
	}
	return q.listCost(q.subject, q.size)
}

// estimateIncludes is estimateWalk, but what is no list may turn out to be one.
func estimateIncludes(q *plannedCall) *cost.CallEstimate {
	if q.member && element(q.subject) == nil {
		return call(q.size.MultiplyByCost(cost.FixedCostEstimate(1)))
	}
	return estimateWalk(q)
}

func actualWalk(r *finishedCall) (uint64, bool) {
	if len(r.args) == 0 {
		return 0, true
	}
	return walk(r.args[0]), true
}

// A selector is parsed, and becomes a list of requirements: the shortest is two bytes.
func selectorCost(length cost.SizeEstimate) cost.Estimate {
	parsed := length.MultiplyByCostFactor(traversal)
	made := length.MultiplyByCostFactor(0.5).MultiplyByCostFactor(requirement)
	return cost.FixedCostEstimate(cost.ListCreateBaseCost).Add(parsed).Add(made)
}

func estimateSelector(q *plannedCall) *cost.CallEstimate { return call(selectorCost(q.arg(0))) }

func actualSelector(r *finishedCall) (uint64, bool) {
	return selectorCost(cost.FixedSizeEstimate(r.size(1))).Max, true
}

// A regular expression is run over a text.
func estimateFind(q *plannedCall) *cost.CallEstimate {
	text := q.size.Add(cost.FixedSizeEstimate(1)).MultiplyByCostFactor(traversal)
	return sized(text.Multiply(q.arg(0).MultiplyByCostFactor(regexFactor)), cost.RangedSizeEstimate(0, q.size.Max))
}

func actualFind(r *finishedCall) (uint64, bool) {
	return matching(r.size(0)) * ceil(r.size(1), regexFactor), true
}

// matching is what a text costs that a regular expression is run over.
func matching(text uint64) uint64 { return uint64(math.Ceil((1 + float64(text)) * traversal)) }

func estimateValidate(q *plannedCall) *cost.CallEstimate {
	return call(q.arg(0).MultiplyByCostFactor(traversal).MultiplyByCostFactor(formatRegex * regexFactor))
}

func actualValidate(r *finishedCall) (uint64, bool) {
	f, ok := r.args[0].Value().(namedFormat)
	return matching(r.size(1)) * ceil(f.regex, regexFactor), ok
}

// containing is the cost of looking whether an address, or a range of addresses, is in a range: both are compared byte
// by byte, and a text is parsed first.
func containing(cidr bool, text string) (func(*plannedCall) *cost.CallEstimate, func(*finishedCall) (uint64, bool)) {
	estimate := func(q *plannedCall) *cost.CallEstimate {
		size := cost.RangedSizeEstimate(4, 16) // bytes of an address
		e := size.Add(size).MultiplyByCostFactor(traversal)
		if cidr {
			e = e.Add(size.MultiplyByCostFactor(traversal)).Add(cost.FixedCostEstimate(1))
		}
		if q.overload == text {
			e = e.Add(q.arg(0).MultiplyByCostFactor(traversal))
		}
		return call(e)
	}
	actual := func(r *finishedCall) (uint64, bool) {
		n := ceil(2*r.size(0), traversal)
		if cidr {
			n += ceil(r.size(0), traversal) + 1
		}
		if r.overload == text {
			n += ceil(r.size(1), traversal)
		}
		return n, true
	}
	return estimate, actual
}

// estimateString: nothing is known of the length of a text that a literal becomes.
func estimateString(q *plannedCall) *cost.CallEstimate {
	if q.subject == nil || q.subject.Expr() == nil || q.subject.Expr().Kind() != ast.LiteralKind || q.overload == overloads.BytesToString {
		return nil
	}
	return sized(cost.FixedCostEstimate(1), cost.UnknownSizeEstimate())
}

func estimateEqual(q *plannedCall) *cost.CallEstimate {
	if q.subject == nil || q.member {
		return nil
	}
	return q.equalCost(append([]cost.AstNode{q.subject}, q.args...))
}

// estimateUnequal: only types cost what they cost in _==_.
func estimateUnequal(q *plannedCall) *cost.CallEstimate {
	if q.subject == nil || q.member || q.subject.Type().Kind() != types.TypeKind {
		return nil
	}
	return estimateEqual(q)
}

func actualEqual(r *finishedCall) (uint64, bool) {
	if len(r.args) < 2 {
		return 0, false
	}
	_, ours := r.args[0].(*special)
	return 1, ours
}

func estimateSplit(q *plannedCall) *cost.CallEstimate {
	if !q.member {
		return nil
	}
	most := q.size.Max
	if len(q.args) > 1 {
		if v := q.args[1].Expr().AsLiteral(); v != nil {
			if n, ok := v.Value().(int64); ok {
				most = uint64(n)
			}
		}
	}
	return sized(q.size.MultiplyByCostFactor(2*traversal), cost.RangedSizeEstimate(0, most))
}

func estimateReplace(q *plannedCall) *cost.CallEstimate {
	if !q.member || len(q.args) < 2 {
		return nil
	}
	return sized(q.size.MultiplyByCostFactor(2*traversal), replaced(q.size, q.arg(0), q.arg(1)))
}

func estimateJoin(q *plannedCall) *cost.CallEstimate {
	if !q.member {
		return nil
	}
	return q.joinCost(q.subject, q.size, q.args)
}
