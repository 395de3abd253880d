package celgo

import (
	"math"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/types"
)

func call(e cost.Estimate) *cost.CallEstimate { return cost.NewCallEstimate(e, nil) }

func sized(e cost.Estimate, size cost.SizeEstimate) *cost.CallEstimate {
	return cost.NewCallEstimate(e, &size)
}

// listCost: each element is compared once, strings byte by byte.
func (c *costs) listCost(target cost.AstNode, size cost.SizeEstimate) *cost.CallEstimate {
	elem := element(target)
	if elem == nil { // a string
		return call(size.MultiplyByCostFactor(traversal))
	}
	each := cost.FixedCostEstimate(1)
	if k := elem.Type().Kind(); k == types.StringKind || k == types.BytesKind {
		each = each.Add(c.size(elem).MultiplyByCostFactor(traversal))
	}
	return call(size.MultiplyByCost(each))
}

func (c *costs) joinCost(target cost.AstNode, size cost.SizeEstimate, args []cost.AstNode) *cost.CallEstimate {
	var result cost.SizeEstimate
	if elem := element(target); elem != nil {
		result = size.Multiply(c.size(elem))
	}
	if len(args) > 0 {
		gaps := cost.RangedSizeEstimate(cost.SafeSubtract(size.Min, 1), cost.SafeSubtract(size.Max, 1))
		result = result.Add(c.size(args[0]).Multiply(gaps))
	}
	return sized(result.MultiplyByCostFactor(traversal), result)
}

// replaced returns how long a string can get when old is replaced by new in it.
func replaced(text, old, new cost.SizeEstimate) cost.SizeEstimate {
	shortest := afterReplacing(text.Min, old.Max, new.Min, new.Min < old.Max)
	longest := afterReplacing(text.Max, old.Min, new.Max, new.Max > old.Min)
	return cost.RangedSizeEstimate(shortest, longest)
}

// afterReplacing returns the length of a text when as much of it as possible is replaced, if that changes the length in
// the direction that is asked for. An empty old stands between all characters, and at both ends.
func afterReplacing(text, old, new uint64, helps bool) uint64 {
	switch {
	case old == 0:
		return cost.SafeAdd(cost.SafeMultiply(cost.SafeAdd(text, 1), new), text)
	case !helps:
		return text
	}
	return cost.SafeMultiply(uint64(math.Ceil(float64(text)/float64(old))), new)
}

// equalCost: the types of Kubernetes compare at once, except formats and URLs.
func (c *costs) equalCost(args []cost.AstNode) *cost.CallEstimate {
	if len(args) == 2 && args[0].Type().Kind() == types.TypeKind && args[1].Type().Kind() == types.TypeKind {
		return c.typesCost(args[0], args[1])
	}
	if len(args) != 2 || !args[0].Type().IsExactType(args[1].Type()) {
		return nil
	}
	switch t := args[0].Type(); t.TypeName() {
	case typeIP.TypeName(), typeCIDR.TypeName(), typeQuantity.TypeName(), typeSemver.TypeName(), typeAuthorizer.TypeName(),
		typePathCheck.TypeName(), typeGroupCheck.TypeName(), typeResourceCheck.TypeName(), typeDecision.TypeName():
		return call(cost.FixedCostEstimate(1))
	case typeFormat.TypeName():
		return call(cost.RangedCostEstimate(1, formatSize).MultiplyByCostFactor(traversal))
	case typeURL.TypeName():
		most := uint64(1)
		if size := args[1].ComputedSize(); size != nil {
			most = size.Max
		}
		return call(cost.RangedCostEstimate(1, most).MultiplyByCostFactor(traversal))
	}
	return nil
}

// typesCost is that of comparing two types: nothing says how great they are, except that a name of one counts as the whole
// value.
func (c *costs) typesCost(a, b cost.AstNode) *cost.CallEstimate {
	most := uint64(math.MaxUint64)
	for _, n := range []cost.AstNode{a, b} {
		if size := c.EstimateSize(n); size != nil {
			most = min(most, size.Max)
		}
	}
	return call(cost.RangedCostEstimate(min(1, most), most).MultiplyByCostFactor(traversal))
}

func (c *costs) size(n cost.AstNode) cost.SizeEstimate {
	if size := n.ComputedSize(); size != nil {
		return *size
	}
	if size := c.EstimateSize(n); size != nil {
		return *size
	}
	return cost.UnknownSizeEstimate()
}

// element returns the elements of a list as a node of their own, nil for anything but a list.
func element(list cost.AstNode) cost.AstNode {
	params := list.Type().Parameters()
	if len(params) == 0 {
		return nil
	}
	var path []string
	if p := list.Path(); p != nil {
		path = append(append(path, p...), "@items")
	}
	return &itemNode{path, params[0]}
}

type itemNode struct {
	path []string
	typ  *types.Type
}

func (n *itemNode) Path() []string                   { return n.path }
func (n *itemNode) Type() *types.Type                { return n.typ }
func (n *itemNode) Expr() ast.Expr                   { return nil }
func (n *itemNode) ComputedSize() *cost.SizeEstimate { return nil }
