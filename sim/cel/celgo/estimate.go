package celgo

import (
	"math"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
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

// afterReplacing returns the length of a text after replacing a string with another one as often as possible. The arguments are the
// lengths of the three. If helps is false, the replacement does not change the length in the desired direction, and the text is
// unchanged. An empty old occurs between all characters and at both ends.
func afterReplacing(text, old, new uint64, helps bool) uint64 {
	switch {
	case old == 0:
		return cost.SafeAdd(cost.SafeMultiply(cost.SafeAdd(text, 1), new), text)
	case !helps:
		return text
	}
	return cost.SafeMultiply(uint64(math.Ceil(float64(text)/float64(old))), new)
}

// estimateEqual estimates the cost of a comparison. The types of Kubernetes have constant cost, except formats and URLs. For all
// other types, estimateEqual returns nil.
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

// typesCost returns the cost of comparing two types. Their sizes are unknown, but the size of a type's name is estimated
// as that of the whole value.
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

// element returns a node for the elements of a list, or nil for other values.
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

// costs estimates the costs of Kubernetes' functions, and computes their actual costs (cost_table.go). It also provides
// the maximum sizes of a schema's values. cel-go estimates everything else. The costs are those of the real server,
// because they determine which rules a server accepts.
type costs struct {
	self *decl  // if nil, there is no schema
	root string // the only variable that self describes; if "", it describes every variable, as for the real server's custom resource rules
}

const (
	traversal   = cost.StringTraversalCostFactor
	regexFactor = cost.RegexStringLengthCostFactor
	requirement = cost.ListCreateBaseCost + cost.StructCreateBaseCost // of a selector
	formatRegex = 128                                                 // maximum length of a format's regular expression
	formatSize  = 64                                                  // maximum length of a format's name
	checkCost   = 350_000                                             // of an authorization check: two per expression are possible
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

// walk returns the cost of traversing a value.
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

// EstimateSize returns the maximum size of a value according to the schema. It ignores has(self.x), although cel-go gives it the
// path of x. If the size is unknown, it returns nil.
func (c *costs) EstimateSize(element cost.AstNode) *cost.SizeEstimate {
	path := element.Path()
	if c.self == nil || len(path) == 0 || isPresenceTest(element.Expr()) || c.root != "" && path[0] != c.root {
		return nil
	}
	return c.sizeAt(path[1:])
}

// sizeAt returns the maximum size of the value at a path below self.
func (c *costs) sizeAt(path []string) *cost.SizeEstimate {
	d := c.self
	for _, name := range path {
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

// indexedSize returns the size of an element of the result of a call, such as self.split(':')[0], or nil for other calls. The cel-go
// of the real server gives the element the path @items, and the server takes the first part of any path for self
// (apiextensions-apiserver, sizeEstimator.EstimateSize). So the element has the maximum size of self, and an element of the element
// that of an element of self.
func (c *costs) indexedSize(overload string, args []cost.AstNode) *cost.SizeEstimate {
	if c.self == nil || c.root != "" || overload != overloads.IndexList && overload != overloads.IndexMap || len(args[0].Path()) > 0 {
		return nil
	}
	var below []string
	for e := args[0].Expr(); e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.Index; e = e.AsCall().Args()[0] {
		below = append(below, "@items")
	}
	if size := c.sizeAt(below); size != nil {
		return size
	}
	size := cost.UnknownSizeEstimate()
	return &size
}

func isPresenceTest(e ast.Expr) bool {
	return e != nil && e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly()
}
