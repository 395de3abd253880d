package podspec

import (
	"slices"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/selector"
)

const (
	// RequiredTerms is the field with the terms that must be met.
	RequiredTerms  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferredTerms = "preferredDuringSchedulingIgnoredDuringExecution"
)

// affinity checks the affinity to nodes and to other pods.
func (r *Rules) affinity() {
	at := r.at.Child("affinity")
	if !at.Has() {
		return
	}
	node := at.Child("nodeAffinity")
	if required := node.Child(RequiredTerms); required.Has() {
		NodeSelector(required, r.Allow.nodeAffinityValues())
	}
	for term := range node.Each(preferredTerms) {
		affinityWeight(term)
		nodeSelectorTerm(term.Child("preference"), true)
	}
	anyValue := r.Allow.selectorValues()
	for _, name := range []string{"podAffinity", "podAntiAffinity"} {
		for term := range at.Each(name, RequiredTerms) {
			affinityTerm(term, anyValue)
		}
		for term := range at.Each(name, preferredTerms) {
			affinityWeight(term)
			affinityTerm(term.Child("podAffinityTerm"), anyValue)
		}
	}
}

func affinityWeight(term field.Cursor) {
	weight := term.Child("weight").OrZero()
	weight.InvalidIf(weight.Int64() <= 0 || weight.Int64() > 100, "must be in the range 1-100")
}

// NodeSelector checks a NodeSelector. If anyValue is true, it accepts invalid label values.
func NodeSelector(at field.Cursor, anyValue bool) field.Cursor {
	for term := range at.Child("nodeSelectorTerms").Required("must have at least one node selector term").Each() {
		nodeSelectorTerm(term, anyValue)
	}
	return at
}

func nodeSelectorTerm(term field.Cursor, anyValue bool) {
	for e := range term.Each("matchExpressions") {
		nodeLabelRequirement(e, anyValue)
	}
	for e := range term.Each("matchFields") {
		nodeFieldRequirement(e)
	}
}

func nodeLabelRequirement(e field.Cursor, anyValue bool) {
	operator, values := e.Child("operator"), e.Child("values")
	switch n := values.Len(); operator.String() {
	case "In", "NotIn":
		values.RequireIf(n == 0, "must be specified when `operator` is 'In' or 'NotIn'")
	case "Exists", "DoesNotExist":
		values.ForbidIf(n > 0, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
	case "Gt", "Lt":
		values.RequireIf(n != 1, "must be specified single value when `operator` is 'Lt' or 'Gt'")
	default:
		operator.InvalidEnum("not a valid selector operator")
	}
	e.Child("key").OrEmpty().Check(field.QualifiedName)
	if !anyValue {
		values.CheckEach(field.LabelValue)
	}
}

// nodeFieldRequirement checks a requirement that refers to a field of the node. Only the name is supported.
func nodeFieldRequirement(e field.Cursor) {
	operator, key, values := e.Child("operator"), e.Child("key").OrEmpty(), e.Child("values")
	switch operator.String() {
	case "In", "NotIn":
		values.RequireIf(values.Len() != 1, "must be only one value when `operator` is 'In' or 'NotIn' for node field selector")
	default:
		operator.InvalidEnum("not a valid selector operator")
	}
	if key.String() != "metadata.name" {
		key.Invalid(key.Value(), "not a valid field selector key")
		return
	}
	values.CheckEach(field.DNS1123Subdomain)
}

// affinityTerm checks a term that selects other pods. If anyValue is true, it accepts invalid label values.
func affinityTerm(term field.Cursor, anyValue bool) {
	for _, name := range []string{"labelSelector", "namespaceSelector"} {
		kind.CheckSelector(term.Child(name), selector.ValidateOptions{AllowInvalidValues: anyValue})
	}
	for namespace := range term.Each("namespaces") {
		namespace.ReportAt(term.Child("namespace")).Check(field.DNS1123Label)
	}
	matchLabelKeys(term)
	key := term.Child("topologyKey").OrEmpty()
	key.Required("can not be empty")
	key.Check(field.QualifiedName)
}

// AffinityTerms returns all terms of a pod's affinity and anti-affinity to other pods.
func AffinityTerms(spec object.Object) []object.Object {
	affinity := spec.At("affinity")
	if affinity == nil {
		return nil
	}
	var terms []object.Object
	for _, name := range []string{"podAffinity", "podAntiAffinity"} {
		terms = append(terms, affinity.Objects(name, RequiredTerms)...)
		for _, weighted := range affinity.Objects(name, preferredTerms) {
			terms = append(terms, weighted.At("podAffinityTerm"))
		}
	}
	return terms
}

func badTermSelector(term object.Object) bool {
	return selector.HasInvalidValue(term.Map("labelSelector")) || selector.HasInvalidValue(term.Map("namespaceSelector"))
}

// BadNodeSelectorValues reports whether a NodeSelector has invalid label values.
func BadNodeSelectorValues(s object.Object) bool {
	for _, term := range s.Objects("nodeSelectorTerms") {
		for _, e := range term.Objects("matchExpressions") {
			if slices.ContainsFunc(e.Strings("values"), func(v string) bool { return len(field.LabelValue(v)) > 0 }) {
				return true
			}
		}
	}
	return false
}
