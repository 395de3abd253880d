//go:build !nocel

package cel

import (
	"math"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/types"
)

// EstimateCallCost returns what a call may cost, nil where cel-go knows better.
func (c *costs) EstimateCallCost(function, overload string, target *cost.AstNode, args []cost.AstNode) *cost.CallEstimate {
	if n, ok := fixed[function]; ok {
		return call(cost.FixedCostEstimate(n))
	}
	if overload == "cidr_ip" {
		return call(cost.FixedCostEstimate(1))
	}
	if target != nil {
		if e := c.memberCost(function, overload, *target, args); e != nil {
			return e
		}
	}
	if len(args) == 0 {
		return nil
	}
	switch function {
	case "url", "jsonpatch.escapeKey":
		size := c.size(args[0])
		return sized(size.MultiplyByCostFactor(traversal), size)
	case "cidr", "isIP", "isCIDR", "ip", "ip.isCanonical", "quantity", "isQuantity", "semver", "isSemver":
		return call(c.size(args[0]).MultiplyByCostFactor(perByte[function]))
	case "_==_":
		return c.equalCost(args)
	}
	return nil
}

func call(e cost.CostEstimate) *cost.CallEstimate { return &cost.CallEstimate{CostEstimate: e} }

func sized(e cost.CostEstimate, size cost.SizeEstimate) *cost.CallEstimate {
	return &cost.CallEstimate{CostEstimate: e, ResultSize: &size}
}

func (c *costs) memberCost(function, overload string, target cost.AstNode, args []cost.AstNode) *cost.CallEstimate {
	size := c.size(target)
	switch function {
	case "isSorted", "sum", "max", "min", "indexOf", "lastIndexOf":
		return c.listCost(target, size)
	case "lowerAscii", "upperAscii", "substring", "trim":
		return sized(size.MultiplyByCostFactor(traversal), size)
	case "split":
		most := size.Max
		if len(args) > 1 {
			if v := args[1].Expr().AsLiteral(); v != nil {
				if n, ok := v.Value().(int64); ok {
					most = uint64(n)
				}
			}
		}
		return sized(size.MultiplyByCostFactor(2*traversal), cost.RangedSizeEstimate(0, most))
	case "join":
		return c.joinCost(target, size, args)
	}
	if len(args) == 0 {
		return nil
	}
	first := c.size(args[0])
	switch function {
	case "fieldSelector", "labelSelector":
		return call(selectorCost(first))
	case "replace":
		if len(args) > 1 {
			return sized(size.MultiplyByCostFactor(2*traversal), replaced(size, first, c.size(args[1])))
		}
	case "find", "findAll":
		text := size.Add(cost.FixedSizeEstimate(1)).MultiplyByCostFactor(traversal)
		return sized(text.Multiply(first.MultiplyByCostFactor(regexFactor)), cost.RangedSizeEstimate(0, size.Max))
	case "containsIP", "containsCIDR":
		return call(containsCost(function, overload, first))
	case "validate":
		return call(first.MultiplyByCostFactor(traversal).MultiplyByCostFactor(formatRegex * regexFactor))
	}
	return nil
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

// replaced returns how long a string can get when old is replaced by new in it: an empty old stands between all
// characters.
func replaced(text, old, new cost.SizeEstimate) cost.SizeEstimate {
	var count, kept cost.SizeEstimate
	switch {
	case old.Min == 0:
		count.Max, kept.Max = cost.SafeAdd(text.Max, 1), text.Max
	case new.Max <= old.Min:
		kept.Max = text.Max
	default:
		count.Max = uint64(math.Ceil(float64(text.Max) / float64(old.Min)))
	}
	switch {
	case old.Max == 0:
		count.Min, kept.Min = cost.SafeAdd(text.Min, 1), text.Min
	case old.Max <= new.Min:
		kept.Min = text.Min
	default:
		count.Min = uint64(math.Ceil(float64(text.Min) / float64(old.Max)))
	}
	return count.Multiply(new).Add(kept)
}

// containsCost: addresses have 4 or 16 bytes, and a string has to be parsed first.
func containsCost(function, overload string, arg cost.SizeEstimate) cost.CostEstimate {
	size := cost.RangedSizeEstimate(4, 16)
	e := size.Add(size).MultiplyByCostFactor(traversal)
	if function == "containsCIDR" {
		e = e.Add(size.MultiplyByCostFactor(traversal)).Add(cost.FixedCostEstimate(1))
	}
	if overload == "cidr_contains_ip_string" || overload == "cidr_contains_cidr_string" {
		e = e.Add(arg.MultiplyByCostFactor(traversal))
	}
	return e
}

// equalCost: the types of Kubernetes compare at once, except formats and URLs.
func (c *costs) equalCost(args []cost.AstNode) *cost.CallEstimate {
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
