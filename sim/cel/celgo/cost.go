package celgo

import (
	"math"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

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
