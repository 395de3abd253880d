package celgo

import (
	"math"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

func unsized(e cost.Estimate) *cost.CallEstimate { return cost.NewCallEstimate(e, nil) }

func sized(e cost.Estimate, size cost.SizeEstimate) *cost.CallEstimate {
	return cost.NewCallEstimate(e, &size)
}

func estimateJoin(q *plannedCall) *cost.CallEstimate {
	var result cost.SizeEstimate
	size := q.size(0)
	if elem := element(q.args[0]); elem != nil {
		result = size.Multiply(q.costs.size(elem))
	}
	if len(q.args) > 1 {
		gaps := cost.RangedSizeEstimate(cost.SafeSubtract(size.Min, 1), cost.SafeSubtract(size.Max, 1))
		result = result.Add(q.size(1).Multiply(gaps))
	}
	return sized(result.MultiplyByCostFactor(traversal), result)
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

// estimateEqual: the types of Kubernetes compare at once, except formats and URLs.
func estimateEqual(q *plannedCall) *cost.CallEstimate {
	a, b := q.args[0], q.args[1]
	if a.Type().Kind() == types.TypeKind && b.Type().Kind() == types.TypeKind {
		return q.typesCost(a, b)
	}
	if !a.Type().IsExactType(b.Type()) {
		return nil
	}
	switch a.Type().TypeName() {
	case typeIP.TypeName(), typeCIDR.TypeName(), typeQuantity.TypeName(), typeSemver.TypeName(), typeAuthorizer.TypeName(),
		typePathCheck.TypeName(), typeGroupCheck.TypeName(), typeResourceCheck.TypeName(), typeDecision.TypeName():
		return unsized(cost.FixedCostEstimate(1))
	case typeFormat.TypeName():
		return unsized(cost.RangedCostEstimate(1, formatSize).MultiplyByCostFactor(traversal))
	case typeURL.TypeName():
		most := uint64(1)
		if size := b.ComputedSize(); size != nil {
			most = size.Max
		}
		return unsized(cost.RangedCostEstimate(1, most).MultiplyByCostFactor(traversal))
	}
	return nil
}

// typesCost is the cost of comparing two types: their sizes are unknown, except that the name of a type counts as the whole value.
func (c *costs) typesCost(a, b cost.AstNode) *cost.CallEstimate {
	most := uint64(math.MaxUint64)
	for _, n := range []cost.AstNode{a, b} {
		if size := c.EstimateSize(n); size != nil {
			most = min(most, size.Max)
		}
	}
	return unsized(cost.RangedCostEstimate(min(1, most), most).MultiplyByCostFactor(traversal))
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

// costs estimates the costs of Kubernetes' functions, before and while they run, and the greatest sizes of values of a schema:
// cost_table.go has them, function by function. cel-go estimates everything else. The numbers decide which rules a server accepts;
// they are the real server's.
type costs struct {
	self *decl  // If nil, there is no schema.
	root string // the only variable that self describes; "" for every name, as in the real server's rules of custom resources
}

const (
	traversal   = cost.StringTraversalCostFactor
	regexFactor = cost.RegexStringLengthCostFactor
	requirement = cost.ListCreateBaseCost + cost.StructCreateBaseCost // of a selector
	formatRegex = 128                                                 // longest regular expression of a format
	formatSize  = 64                                                  // longest name of a format
	checkCost   = 350_000                                             // of an authorization: two per expression are allowed
)

func ceil(size uint64, factor float64) uint64 { return uint64(math.Ceil(float64(size) * factor)) }

func sizeOf(v ref.Val) uint64 {
	if s, ok := v.(traits.Sizer); ok {
		if n, ok := s.Size().(types.Int); ok {
			return uint64(n)
		}
	}
	return 1
}

// walk returns the cost of visiting everything in a value.
func walk(v ref.Val) uint64 {
	switch v := v.(type) {
	case types.String:
		return uint64(float64(len(v)) * traversal)
	case types.Bytes:
		return uint64(float64(len(v)) * traversal)
	case traits.Lister:
		sum := uint64(0)
		for x := range elements(v) {
			sum += walk(x)
		}
		return sum
	case traits.Mapper:
		sum := uint64(0)
		for key := range elements(v) {
			sum += walk(key) + walk(v.Get(key))
		}
		return sum
	}
	return 1
}

// EstimateSize returns how great a value of the schema can be. has(self.x) is no such value, though cel-go gives it the path
// of x.
func (c *costs) EstimateSize(element cost.AstNode) *cost.SizeEstimate {
	path := element.Path()
	if c.self == nil || len(path) == 0 || isPresenceTest(element.Expr()) || c.root != "" && path[0] != c.root {
		return nil
	}
	d := c.self
	for _, name := range path[1:] {
		switch name {
		case "@items", "@values":
			d = d.elem
		case "@keys":
			d = d.key
		default:
			f := d.fields[name]
			if f == nil && d.open {
				f = d.elem
			}
			d = f
		}
		if d == nil {
			return nil
		}
	}
	size := cost.RangedSizeEstimate(0, uint64(d.most))
	return &size
}

func isPresenceTest(e ast.Expr) bool {
	return e != nil && e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly()
}
