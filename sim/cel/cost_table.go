//go:build !nocel

package cel

import (
	"math"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// price is what one function costs.
//
//	before it runs  what(sizes that a schema allows)  ─▶ estimate, and how great the result can be
//	while it runs   paid(values)                      ─▶ cost
type price struct {
	what func(*planned) *cost.CallEstimate // nil result: cel-go knows better
	paid func(*receipt) (n uint64, ok bool)
}

// planned is a call that has not run.
type planned struct {
	*costs
	overload string
	member   bool // the subject is what the function is called on, not its first argument
	subject  cost.AstNode
	size     cost.SizeEstimate // of the subject
	args     []cost.AstNode    // behind the subject
}

// arg returns the size of an argument behind the subject.
func (q *planned) arg(i int) cost.SizeEstimate { return q.costs.size(q.args[i]) }

// receipt is a call that has run; args begin with the subject.
type receipt struct {
	overload string
	args     []ref.Val
	result   ref.Val
}

func (r *receipt) size(i int) uint64 { return sizeOf(r.args[i]) }

// always is the price of functions that cost the same always.
func always(n uint64) price {
	return price{
		what: func(*planned) *cost.CallEstimate { return call(cost.FixedCostEstimate(n)) },
		paid: func(*receipt) (uint64, bool) { return n, true },
	}
}

// bytewise is the price of functions that read their subject, factor times. sized says that the result is no longer than
// the subject, and member that the function is called on it.
func bytewise(factor float64, isSized, member bool) price {
	return price{
		what: func(q *planned) *cost.CallEstimate {
			if q.member != member {
				return nil
			}
			e := q.size.MultiplyByCostFactor(factor)
			if isSized {
				return sized(e, q.size)
			}
			return call(e)
		},
		paid: func(r *receipt) (uint64, bool) {
			if len(r.args) == 0 {
				return 0, false
			}
			return ceil(r.size(0), factor), true
		},
	}
}

// withArgument adds to a price that the function has an argument behind its subject, without which cel-go decides.
func withArgument(what func(*planned) *cost.CallEstimate, paid func(*receipt) (uint64, bool)) price {
	return price{
		what: func(q *planned) *cost.CallEstimate {
			if !q.member || len(q.args) == 0 {
				return nil
			}
			return what(q)
		},
		paid: func(r *receipt) (uint64, bool) {
			if len(r.args) < 2 {
				return 0, false
			}
			return paid(r)
		},
	}
}

// prices are those of the functions that Kubernetes adds, and of those of cel-go that it prices itself.
var prices = priceList()

func priceList() map[string]price {
	list := map[string]price{
		"check": always(checkPrice),
		"split": {whatSplit, bytewise(2*traversal, true, true).paid}, "replace": {whatReplace, bytewise(2*traversal, true, true).paid},
		"join": {whatJoin, func(r *receipt) (uint64, bool) { return ceil(sizeOf(r.result), 2*traversal), true }},
		"find": withArgument(whatFind, paidFind), "findAll": withArgument(whatFind, paidFind),
		"fieldSelector": withArgument(whatSelector, paidSelector), "labelSelector": withArgument(whatSelector, paidSelector),
		"containsIP":   withArgument(containing(false, "cidr_contains_ip_string")),
		"containsCIDR": withArgument(containing(true, "cidr_contains_cidr_string")),
		"validate":     withArgument(whatValidate, paidValidate),
		"string":       {whatString, func(*receipt) (uint64, bool) { return 0, false }},
		"_==_":         {whatEqual, paidEqual},
		"_!=_":         {whatUnequal, func(*receipt) (uint64, bool) { return 0, false }},
	}
	add := func(p price, functions ...string) {
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
	add(price{whatWalk, paidWalk}, "isSorted", "sum", "max", "min", "indexOf", "lastIndexOf")
	return list
}

// onCIDR is the overload of ip that takes the address out of a CIDR.
const onCIDR = "cidr_ip"

func priceOf(function, overload string) (price, bool) {
	if overload == onCIDR {
		return always(1), true
	}
	p, ok := prices[function]
	return p, ok
}

// EstimateCallCost returns what a call may cost, nil where cel-go knows better.
func (c *costs) EstimateCallCost(function, overload string, target *cost.AstNode, args []cost.AstNode) *cost.CallEstimate {
	p, ok := priceOf(function, overload)
	if !ok {
		return nil
	}
	q := &planned{costs: c, overload: overload, args: args}
	switch {
	case target != nil:
		q.member, q.subject = true, *target
	case len(args) > 0:
		q.subject, q.args = args[0], args[1:]
	}
	if q.subject != nil {
		q.size = c.size(q.subject)
	}
	return p.what(q)
}

// CallCost returns what a call has cost, nil where cel-go knows better.
func (c *costs) CallCost(function, overload string, args []ref.Val, result ref.Val) *uint64 {
	p, ok := priceOf(function, overload)
	if !ok {
		return nil
	}
	n, ok := p.paid(&receipt{overload, args, result})
	if !ok {
		return nil
	}
	return &n
}

// A list is looked at as a whole.
func whatWalk(q *planned) *cost.CallEstimate {
	if !q.member {
		return nil
	}
	return q.listCost(q.subject, q.size)
}

func paidWalk(r *receipt) (uint64, bool) {
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

func whatSelector(q *planned) *cost.CallEstimate { return call(selectorCost(q.arg(0))) }

func paidSelector(r *receipt) (uint64, bool) {
	return selectorCost(cost.FixedSizeEstimate(r.size(1))).Max, true
}

// A regular expression is run over a text.
func whatFind(q *planned) *cost.CallEstimate {
	text := q.size.Add(cost.FixedSizeEstimate(1)).MultiplyByCostFactor(traversal)
	return sized(text.Multiply(q.arg(0).MultiplyByCostFactor(regexFactor)), cost.RangedSizeEstimate(0, q.size.Max))
}

func paidFind(r *receipt) (uint64, bool) {
	return matching(r.size(0)) * ceil(r.size(1), regexFactor), true
}

// matching is what a text costs that a regular expression is run over.
func matching(text uint64) uint64 { return uint64(math.Ceil((1 + float64(text)) * traversal)) }

func whatValidate(q *planned) *cost.CallEstimate {
	return call(q.arg(0).MultiplyByCostFactor(traversal).MultiplyByCostFactor(formatRegex * regexFactor))
}

func paidValidate(r *receipt) (uint64, bool) {
	f, ok := r.args[0].Value().(namedFormat)
	return matching(r.size(1)) * ceil(f.regex, regexFactor), ok
}

// containing is the price of looking whether an address, or a range of addresses, is in a range: both are compared byte
// by byte, and a text is parsed first.
func containing(cidr bool, text string) (func(*planned) *cost.CallEstimate, func(*receipt) (uint64, bool)) {
	what := func(q *planned) *cost.CallEstimate {
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
	paid := func(r *receipt) (uint64, bool) {
		n := ceil(2*r.size(0), traversal)
		if cidr {
			n += ceil(r.size(0), traversal) + 1
		}
		if r.overload == text {
			n += ceil(r.size(1), traversal)
		}
		return n, true
	}
	return what, paid
}

// whatString: nothing is known of the length of a text that a literal becomes.
func whatString(q *planned) *cost.CallEstimate {
	if q.subject == nil || q.subject.Expr() == nil || q.subject.Expr().Kind() != ast.LiteralKind || q.overload == overloads.BytesToString {
		return nil
	}
	return sized(cost.FixedCostEstimate(1), cost.UnknownSizeEstimate())
}

func whatEqual(q *planned) *cost.CallEstimate {
	if q.subject == nil || q.member {
		return nil
	}
	return q.equalCost(append([]cost.AstNode{q.subject}, q.args...))
}

// whatUnequal: only types cost what they cost in _==_.
func whatUnequal(q *planned) *cost.CallEstimate {
	if q.subject == nil || q.member || q.subject.Type().Kind() != types.TypeKind {
		return nil
	}
	return whatEqual(q)
}

func paidEqual(r *receipt) (uint64, bool) {
	if len(r.args) < 2 {
		return 0, false
	}
	_, ours := r.args[0].(*special)
	return 1, ours
}

func whatSplit(q *planned) *cost.CallEstimate {
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

func whatReplace(q *planned) *cost.CallEstimate {
	if !q.member || len(q.args) < 2 {
		return nil
	}
	return sized(q.size.MultiplyByCostFactor(2*traversal), replaced(q.size, q.arg(0), q.arg(1)))
}

func whatJoin(q *planned) *cost.CallEstimate {
	if !q.member {
		return nil
	}
	return q.joinCost(q.subject, q.size, q.args)
}
