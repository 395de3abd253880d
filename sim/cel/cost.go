//go:build !nocel

package cel

import (
	"math"

	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// costs estimates what the functions of Kubernetes cost, before and while they run, and how great values of a schema
// can be. Everything else is estimated by cel-go. The numbers decide which rules a server accepts; they are the real
// server's.
type costs struct{ self *decl } // nil: there is no schema

// fixed are functions that cost the same always.
var fixed = map[string]uint64{
	"check": 350_000, // two per expression are allowed

	"serviceAccount": 1, "path": 1, "group": 1, "resource": 1, "subresource": 1, "namespace": 1, "name": 1, "allowed": 1,
	"reason": 1, "error": 1, "errored": 1,
	"masked": 1, "prefixLength": 1, "family": 1, "isUnspecified": 1, "isLoopback": 1, "isLinkLocalMulticast": 1,
	"isLinkLocalUnicast": 1, "isGlobalUnicast": 1,
	"format.named": 1, "sign": 1, "asInteger": 1, "isInteger": 1, "asApproximateFloat": 1, "isGreaterThan": 1,
	"isLessThan": 1, "compareTo": 1, "add": 1, "sub": 1, "major": 1, "minor": 1, "patch": 1,
	"getScheme": 1, "getHostname": 1, "getHost": 1, "getPort": 1, "getEscapedPath": 1, "getQuery": 1,
}

// perByte are functions that cost a factor times the length of their first argument.
var perByte = map[string]float64{
	"url": traversal, "lowerAscii": traversal, "upperAscii": traversal, "substring": traversal, "trim": traversal,
	"jsonpatch.escapeKey": traversal, "replace": 2 * traversal, "split": 2 * traversal,
	"cidr": traversal, "isIP": traversal, "isCIDR": traversal, "ip": traversal, "ip.isCanonical": 2 * traversal,
	"quantity": traversal, "isQuantity": traversal, "semver": traversal, "isSemver": traversal,
}

const (
	traversal   = common.StringTraversalCostFactor
	regexFactor = common.RegexStringLengthCostFactor
	requirement = common.ListCreateBaseCost + common.StructCreateBaseCost // of a selector
	formatRegex = 128                                                     // longest regular expression of a format
	formatSize  = 64                                                      // longest name of a format
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

// CallCost returns what a call has cost, nil where cel-go knows better.
func (c *costs) CallCost(function, overload string, args []ref.Val, result ref.Val) *uint64 {
	n, ok := actual(function, overload, args, result)
	if !ok {
		return nil
	}
	return &n
}

func actual(function, overload string, args []ref.Val, result ref.Val) (uint64, bool) {
	if overload == "cidr_ip" {
		return 1, true
	}
	if n, ok := fixed[function]; ok {
		return n, true
	}
	if factor, ok := perByte[function]; ok && len(args) > 0 {
		return ceil(sizeOf(args[0]), factor), true
	}
	switch function {
	case "isSorted", "sum", "max", "min", "indexOf", "lastIndexOf":
		if len(args) > 0 {
			return walk(args[0]), true
		}
		return 0, true
	case "join":
		return ceil(sizeOf(result), 2*traversal), true
	}
	if len(args) < 2 {
		return 0, false
	}
	switch first, second := sizeOf(args[0]), sizeOf(args[1]); function {
	case "fieldSelector", "labelSelector":
		return selectorCost(cost.FixedSizeEstimate(second)).Max, true
	case "find", "findAll":
		return uint64(math.Ceil((1+float64(first))*traversal)) * ceil(second, regexFactor), true
	case "containsIP":
		n := ceil(2*first, traversal)
		if overload == "cidr_contains_ip_string" {
			n += ceil(second, traversal)
		}
		return n, true
	case "containsCIDR":
		n := ceil(2*first, traversal) + ceil(first, traversal) + 1
		if overload == "cidr_contains_cidr_string" {
			n += ceil(second, traversal)
		}
		return n, true
	case "validate":
		if f, ok := args[0].Value().(namedFormat); ok {
			return uint64(math.Ceil((1+float64(second))*traversal)) * ceil(f.regex, regexFactor), true
		}
	case "_==_":
		if _, ok := args[0].(*special); ok {
			return 1, true
		}
	}
	return 0, false
}

// walk returns what it costs to look at everything in a value.
func walk(v ref.Val) uint64 {
	switch v := v.(type) {
	case types.String:
		return uint64(float64(len(v)) * traversal)
	case types.Bytes:
		return uint64(float64(len(v)) * traversal)
	case traits.Lister:
		sum := uint64(0)
		for it := v.Iterator(); it.HasNext() == types.True; {
			sum += walk(it.Next())
		}
		return sum
	case traits.Mapper:
		sum := uint64(0)
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			sum += walk(key) + walk(v.Get(key))
		}
		return sum
	}
	return 1
}

func selectorCost(length cost.SizeEstimate) cost.CostEstimate {
	base := cost.FixedCostEstimate(common.ListCreateBaseCost)
	parse := length.MultiplyByCostFactor(traversal)
	requirements := length.MultiplyByCostFactor(0.5).MultiplyByCostFactor(requirement) // the shortest is two bytes
	return base.Add(parse).Add(requirements)
}

// EstimateSize returns how great a value of the schema can be.
func (c *costs) EstimateSize(element cost.AstNode) *cost.SizeEstimate {
	path := element.Path()
	if c.self == nil || len(path) == 0 {
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
			d = d.fields[name]
		}
		if d == nil {
			return nil
		}
	}
	size := cost.RangedSizeEstimate(0, uint64(d.most))
	return &size
}
