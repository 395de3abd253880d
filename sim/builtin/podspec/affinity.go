package podspec

import (
	"slices"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/selector"
)

const (
	// RequiredTerms is the list of terms that have to be met.
	RequiredTerms  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferredTerms = "preferredDuringSchedulingIgnoredDuringExecution"
)

// affinity checks on which nodes, and beside which pods, a pod wants to run.
func (r *Rules) affinity() field.ErrorList {
	p := r.Path.Child("affinity")
	var errs field.ErrorList
	if node := r.Spec.At("affinity", "nodeAffinity"); node != nil {
		errs = append(errs, r.nodeAffinity(node, p.Child("nodeAffinity"))...)
	}
	for _, name := range []string{"podAffinity", "podAntiAffinity"} {
		terms, at := r.Spec.At("affinity", name), p.Child(name)
		for i, term := range terms.Objects(RequiredTerms) {
			errs = append(errs, r.affinityTerm(term, at.Child(RequiredTerms).Index(i))...)
		}
		for i, weighted := range terms.Objects(preferredTerms) {
			at := at.Child(preferredTerms).Index(i)
			errs = append(errs, affinityWeight(weighted, at)...)
			term := weighted.At("podAffinityTerm")
			errs = append(errs, r.affinityTerm(term, at.Child("podAffinityTerm"))...)
		}
	}
	return errs
}

func affinityWeight(term object.Object, p field.Path) field.ErrorList {
	if weight := term.Int64("weight"); weight <= 0 || weight > 100 {
		return field.ErrorList{field.Invalid(p.Child("weight"), weight, "must be in the range 1-100")}
	}
	return nil
}

func (r *Rules) nodeAffinity(node object.Object, p field.Path) field.ErrorList {
	var errs field.ErrorList
	if required := node.At(RequiredTerms); required != nil {
		errs = append(errs, NodeSelector(required, p.Child(RequiredTerms), r.Allow.nodeAffinityValues)...)
	}
	for i, term := range node.Objects(preferredTerms) {
		at := p.Child(preferredTerms).Index(i)
		errs = append(errs, affinityWeight(term, at)...)
		errs = append(errs, nodeSelectorTerm(term.At("preference"), at.Child("preference"), true)...)
	}
	return errs
}

// NodeSelector checks a NodeSelector. anyValue lets bad label values pass.
func NodeSelector(s object.Object, p field.Path, anyValue bool) field.ErrorList {
	terms, at := s.Objects("nodeSelectorTerms"), p.Child("nodeSelectorTerms")
	if len(terms) == 0 {
		return field.ErrorList{field.Required(at, "must have at least one node selector term")}
	}
	var errs field.ErrorList
	for i, term := range terms {
		errs = append(errs, nodeSelectorTerm(term, at.Index(i), anyValue)...)
	}
	return errs
}

func nodeSelectorTerm(term object.Object, p field.Path, anyValue bool) field.ErrorList {
	var errs field.ErrorList
	for i, e := range term.Objects("matchExpressions") {
		errs = append(errs, nodeLabelRequirement(e, p.Child("matchExpressions").Index(i), anyValue)...)
	}
	for i, e := range term.Objects("matchFields") {
		errs = append(errs, nodeFieldRequirement(e, p.Child("matchFields").Index(i))...)
	}
	return errs
}

func nodeLabelRequirement(e object.Object, p field.Path, anyValue bool) field.ErrorList {
	var errs field.ErrorList
	values := e.Strings("values")
	switch op := e.String("operator"); op {
	case "In", "NotIn":
		if len(values) == 0 {
			errs = append(errs, field.Required(p.Child("values"), "must be specified when `operator` is 'In' or 'NotIn'"))
		}
	case "Exists", "DoesNotExist":
		if len(values) > 0 {
			errs = append(errs, field.Forbidden(p.Child("values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
		}
	case "Gt", "Lt":
		if len(values) != 1 {
			errs = append(errs, field.Required(p.Child("values"), "must be specified single value when `operator` is 'Lt' or 'Gt'"))
		}
	default:
		errs = append(errs, field.Invalid(p.Child("operator"), field.Enum(op), "not a valid selector operator"))
	}
	errs = append(errs, field.Check(p.Child("key"), e.String("key"), field.QualifiedName)...)
	if anyValue {
		return errs
	}
	for i, value := range values {
		errs = append(errs, field.Check(p.Child("values").Index(i), value, field.LabelValue)...)
	}
	return errs
}

// nodeFieldRequirement checks a requirement for a field of the node: only its name can be asked for.
func nodeFieldRequirement(e object.Object, p field.Path) field.ErrorList {
	var errs field.ErrorList
	values := e.Strings("values")
	switch op := e.String("operator"); op {
	case "In", "NotIn":
		if len(values) != 1 {
			errs = append(errs, field.Required(p.Child("values"), "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"))
		}
	default:
		errs = append(errs, field.Invalid(p.Child("operator"), field.Enum(op), "not a valid selector operator"))
	}
	if key := e.String("key"); key != "metadata.name" {
		return append(errs, field.Invalid(p.Child("key"), key, "not a valid field selector key"))
	}
	for i, value := range values {
		errs = append(errs, field.Check(p.Child("values").Index(i), value, field.DNS1123Subdomain)...)
	}
	return errs
}

func (r *Rules) affinityTerm(term object.Object, p field.Path) field.ErrorList {
	o := selector.ValidateOptions{AllowInvalidValues: r.Allow.selectorValues}
	errs := selector.ValidateLabelSelector(p.Child("labelSelector"), term.Map("labelSelector"), o)
	errs = append(errs, selector.ValidateLabelSelector(p.Child("namespaceSelector"), term.Map("namespaceSelector"), o)...)
	for _, namespace := range term.Strings("namespaces") {
		errs = append(errs, field.Check(p.Child("namespace"), namespace, field.DNS1123Label)...)
	}
	errs = append(errs, matchLabelKeys(p, term.Strings("matchLabelKeys"), term.Strings("mismatchLabelKeys"), term.Map("labelSelector"))...)
	key := term.String("topologyKey")
	if key == "" {
		errs = append(errs, field.Required(p.Child("topologyKey"), "can not be empty"))
	}
	return append(errs, field.Check(p.Child("topologyKey"), key, field.QualifiedName)...)
}

// AffinityTerms returns the terms of a pod's affinity and anti-affinity to other pods.
func AffinityTerms(spec object.Object) []object.Object {
	var terms []object.Object
	for _, name := range []string{"podAffinity", "podAntiAffinity"} {
		terms = append(terms, spec.Objects("affinity", name, RequiredTerms)...)
		for _, weighted := range spec.Objects("affinity", name, preferredTerms) {
			terms = append(terms, weighted.At("podAffinityTerm"))
		}
	}
	return terms
}

func badTermSelector(term object.Object) bool {
	return selector.HasInvalidValue(term.Map("labelSelector")) || selector.HasInvalidValue(term.Map("namespaceSelector"))
}

func badNodeAffinityValues(spec object.Object) bool {
	for _, term := range spec.Objects("affinity", "nodeAffinity", RequiredTerms, "nodeSelectorTerms") {
		for _, e := range term.Objects("matchExpressions") {
			if slices.ContainsFunc(e.Strings("values"), func(v string) bool { return len(field.LabelValue(v)) > 0 }) {
				return true
			}
		}
	}
	return false
}
