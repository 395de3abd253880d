package podspec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/selector"
)

func (r *Rules) schedulingGates() {
	seen := field.Seen{}
	for gate := range r.at.Each("schedulingGates") {
		gate.Child("name").ReportAt(gate).OrEmpty().Check(field.QualifiedName).Unique(seen)
	}
}

// CheckTolerations checks a list of tolerations.
func (r *Rules) CheckTolerations(list field.Cursor) {
	for t := range list.Each() {
		key, operator, effect := t.Child("key").IfGiven(), t.Child("operator"), t.Child("effect")
		if !key.Check(field.QualifiedName).Has() && operator.String() != "Exists" {
			operator.InvalidEnum("operator must be Exists when `key` is empty, which means \"match all values and all keys\"")
		}
		if t.Has("tolerationSeconds") && effect.String() != "NoExecute" {
			effect.InvalidEnum("effect must be 'NoExecute' when `tolerationSeconds` is set")
		}
		r.tolerationValue(operator, t.Child("value").OrEmpty())
		effect.IfGiven().OneOf("NoSchedule", "PreferNoSchedule", "NoExecute")
	}
}

// tolerationValue checks the value of a toleration, which depends on its operator. Lt and Gt require a feature gate
// (KEP-5471). They are never allowed in a RuntimeClass, whose rules have no context.
func (r *Rules) tolerationValue(operator, value field.Cursor) {
	text := value.String()
	switch op := operator.String(); op {
	case "Equal", "":
		if msgs := field.LabelValue(text); len(msgs) > 0 {
			operator.Invalid(text, strings.Join(msgs, ";"))
		}
	case "Exists":
		if text != "" {
			operator.Invalid(text, "value must be empty when `operator` is 'Exists'")
		}
	case "Lt", "Gt":
		if (r.ctx == nil || !r.ctx.Enabled("TaintTolerationComparisonOperators")) && !r.Allow.comparisonTolerations() {
			operator.NotSupported(field.Enum(op), "Equal", "Exists", "Lt", "Gt")
			return
		}
		value.Check(field.DecimalInteger)
		if _, err := strconv.ParseInt(text, 10, 64); err != nil {
			value.Invalid(text, err.Error())
		}
	default:
		operator.NotSupported(field.Enum(op), "Equal", "Exists")
	}
}

// schedulingGroup checks the name of the PodGroup in which a pod is scheduled (validateSchedulingGroup).
func (r *Rules) schedulingGroup(name field.Cursor) {
	if !name.Has() {
		name.Invalid(nil, "must specify one of: `podGroupName`")
		return
	}
	name.Check(field.DNS1123Subdomain)
}

// topologySpread checks the topology spread constraints (KEP-895).
func (r *Rules) topologySpread() {
	later := r.Spec.Objects("topologySpreadConstraints")
	if len(later) == 0 {
		return
	}
	legacyKeys, anySelector := r.Allow.spreadKeys(), r.Allow.spreadSelector()
	for c := range r.at.Each("topologySpreadConstraints") {
		later = later[1:]
		key, action := c.String("topologyKey"), c.Child("whenUnsatisfiable").OrEmpty()
		c.Child("maxSkew").OrZero().Positive()
		c.Child("topologyKey").Required("can not be empty")
		action.OneOf("DoNotSchedule", "ScheduleAnyway")
		if slices.ContainsFunc(later, func(o object.Object) bool {
			return o.String("topologyKey") == key && o.String("whenUnsatisfiable") == action.String()
		}) {
			c.Child("{topologyKey, whenUnsatisfiable}").Duplicate("{" + key + ", " + action.String() + "}")
		}
		c.Child("minDomains").Positive().InvalidIf(c.Has("minDomains") && action.String() != "DoNotSchedule",
			"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not "+action.String())
		c.Child("nodeAffinityPolicy").OneOf("Honor", "Ignore")
		c.Child("nodeTaintsPolicy").OneOf("Honor", "Ignore")
		if legacyKeys {
			legacyMatchLabelKeys(c.Child("matchLabelKeys"), c.Child("labelSelector"))
		} else {
			matchLabelKeys(c)
		}
		if !anySelector {
			kind.CheckSelector(c.Child("labelSelector"), selector.ValidateOptions{})
		}
	}
}

func badSpreadSelector(constraint object.Object) bool {
	return len(selector.ValidateLabelSelector(field.Path{}, constraint.Map("labelSelector"), selector.ValidateOptions{})) > 0
}

func badSpreadKeys(constraint object.Object) bool {
	at := field.CursorOn(field.Path{}, constraint)
	matchLabelKeys(at)
	return len(at.Errors()) > 0
}

// matchLabelKeys checks the keys whose values are copied from the pod's labels to the labelSelector of a term (KEP-3633). The
// server has already copied them, so each key may occur once in the selector.
func matchLabelKeys(term field.Cursor) {
	match, mismatch, labels := term.Child("matchLabelKeys"), term.Child("mismatchLabelKeys"), term.Child("labelSelector")
	if match.Len()+mismatch.Len() == 0 {
		return
	}
	for _, keys := range []field.Cursor{match, mismatch} {
		if keys.Len() > 0 && !labels.Has() {
			keys.Forbidden("must not be specified when labelSelector is not set")
		} else {
			keys.CheckEach(field.QualifiedName)
		}
	}
	const text = "exists in both matchLabelKeys and "
	seen := object.SortedKeys(labels.Object().Map("matchLabels"))
	for _, e := range labels.Object().Objects("matchExpressions") {
		key := e.String("key")
		if i := lastIndex(match.Strings(), key); i >= 0 && slices.Contains(seen, key) {
			term.Index(i).Invalid(key, text+"labelSelector")
		}
		seen = append(seen, key)
	}
	for key := range match.Each() {
		key.InvalidIf(slices.Contains(mismatch.Strings(), key.String()), text+"mismatchLabelKeys")
	}
}

func lastIndex(list []string, value string) int {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] == value {
			return i
		}
	}
	return -1
}

// legacyMatchLabelKeys checks objects that were stored by a server which did not copy the keys to the selector.
func legacyMatchLabelKeys(keys, labels field.Cursor) {
	keys.ForbidIf(keys.Len() > 0 && !labels.Has(), "must not be specified when labelSelector is not set")
	s := labels.Object()
	used := append(object.SortedKeys(s.Map("matchLabels")), kind.Texts(s.Objects("matchExpressions"), "key")...)
	for key := range keys.Each() {
		key.Check(field.QualifiedName).InvalidIf(slices.Contains(used, key.String()), "exists in both matchLabelKeys and labelSelector")
	}
}
