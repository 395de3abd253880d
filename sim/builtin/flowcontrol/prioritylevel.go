// Package flowcontrol has FlowSchema and PriorityLevelConfiguration. What servers do with them is in sim/flowcontrol.
package flowcontrol

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// docFlow is the definition name in front of the types of flowcontrol.apiserver.k8s.io/v1.
const docFlow = "io.k8s.api.flowcontrol.v1."

// Kinds returns the kinds of flowcontrol.apiserver.k8s.io.
func Kinds() []kind.Kind {
	level := func(name, typeName, field string) table.Column { return table.Doc(name, docFlow+typeName, field) }
	return []kind.Kind{
		{
			Storage: "flowschemas.flowcontrol.apiserver.k8s.io",
			Strategy: resource.Strategy{
				Checks:    resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckKind}},
				Resets:    map[string]resource.Reset{"status": {Fields: []string{"metadata", "spec"}}},
				HasStatus: true, CustomStatus: true,
				Validate:       func(_ *resource.Context, obj object.Object) field.ErrorList { return validateFlowSchema(obj) },
				ValidateUpdate: flowStatusOr(validateFlowSchema),
			},
			Changed: kind.Semantically.Of("spec"),
			Defaults: kind.EveryVersion(func(obj object.Object) {
				obj.SetDefault(map[string]any{}, "spec")
				kind.SetZero(obj.At("spec"), "matchingPrecedence", 1000)
			}),
			Columns: []table.Column{
				table.Name(), level("PriorityLevel", "PriorityLevelConfigurationReference", "name"),
				level("MatchingPrecedence", "FlowSchemaSpec", "matchingPrecedence"),
				level("DistinguisherMethod", "FlowSchemaSpec", "distinguisherMethod"), table.Age(),
				table.Text("MissingPL", "references a broken or non-existent PriorityLevelConfiguration"),
			},
			Row:   flowSchemaRow,
			Order: byPrecedence,
		},
		{
			Storage: "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
			Strategy: resource.Strategy{
				Checks:    resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckKind}},
				Resets:    map[string]resource.Reset{"status": {Fields: []string{"metadata", "spec"}}},
				HasStatus: true, CustomStatus: true,
				Validate:       func(_ *resource.Context, obj object.Object) field.ErrorList { return validatePriorityLevel(obj) },
				ValidateUpdate: flowStatusOr(validatePriorityLevel),
			},
			Changed:  kind.Semantically.Of("spec"),
			Defaults: kind.EveryVersion(defaultPriorityLevel),
			Columns: []table.Column{
				table.Name(), level("Type", "PriorityLevelConfigurationSpec", "type"),
				level("NominalConcurrencyShares", "LimitedPriorityLevelConfiguration", "nominalConcurrencyShares"),
				level("Queues", "QueuingConfiguration", "queues"), level("HandSize", "QueuingConfiguration", "handSize"),
				level("QueueLengthLimit", "QueuingConfiguration", "queueLengthLimit"), table.Age(),
			},
			Row: priorityLevelRow,
		},
	}
}

// byPrecedence is the order in which flow schemas are tried (apihelpers.FlowSchemaSequence).
func byPrecedence(a, b object.Object) int {
	return cmp.Or(cmp.Compare(a.Int64("spec", "matchingPrecedence"), b.Int64("spec", "matchingPrecedence")), cmp.Compare(a.Name(), b.Name()))
}

// flowStatusOr is the ValidateUpdate of both kinds: their status has the same rules.
func flowStatusOr(validate func(object.Object) field.ErrorList) func(*resource.Context, object.Object, object.Object) field.ErrorList {
	return func(ctx *resource.Context, obj, _ object.Object) field.ErrorList {
		if ctx.Subresource == "status" {
			return validateFlowStatus(obj)
		}
		return validate(obj)
	}
}

func flowSchemaRow(now time.Time, obj object.Object) resource.Row {
	missing := "?"
	for _, c := range obj.Objects("status", "conditions") {
		if c.String("type") == "Dangling" {
			missing = c.String("status")
			break
		}
	}
	method := table.None
	if obj.Has("spec", "distinguisherMethod") {
		method = obj.String("spec", "distinguisherMethod", "type")
	}
	return table.Row(obj.Name(), obj.String("spec", "priorityLevelConfiguration", "name"), obj.Int64("spec", "matchingPrecedence"), method,
		table.AgeCell(now, obj), missing)
}

func priorityLevelRow(now time.Time, obj object.Object) resource.Row {
	number := func(o object.Object, name string) any {
		if o == nil {
			return table.None
		}
		return o.Int64(name)
	}
	limited := obj.At("spec", "limited")
	queuing := limited.At("limitResponse", "queuing")
	return table.Row(obj.Name(), obj.String("spec", "type"), number(limited, "nominalConcurrencyShares"), number(queuing, "queues"),
		number(queuing, "handSize"), number(queuing, "queueLengthLimit"), table.AgeCell(now, obj))
}

func defaultPriorityLevel(obj object.Object) {
	if exempt := obj.At("spec", "exempt"); exempt != nil {
		exempt.SetDefault(int64(0), "nominalConcurrencyShares")
		exempt.SetDefault(int64(0), "lendablePercent")
	}
	limited := obj.At("spec", "limited")
	if limited == nil {
		return
	}
	limited.SetDefault(int64(30), "nominalConcurrencyShares")
	limited.SetDefault(int64(0), "lendablePercent")
	if queuing := limited.At("limitResponse", "queuing"); queuing != nil {
		kind.SetZero(queuing, "handSize", 8)
		kind.SetZero(queuing, "queues", 64)
		kind.SetZero(queuing, "queueLengthLimit", 50)
	}
}

// validateFlowStatus checks the conditions, each type of which may occur once.
func validateFlowStatus(obj object.Object) field.ErrorList {
	var errs field.ErrorList
	var seen []string
	for i, c := range obj.Objects("status", "conditions") {
		p, name := field.Root("status").Child("conditions").Index(i).Child("type"), c.String("type")
		if slices.Contains(seen, name) {
			errs = append(errs, field.Duplicate(p, name))
		}
		seen = append(seen, name)
		errs = append(errs, field.MustBeSet(p, name)...)
	}
	return errs
}

func validatePriorityLevel(obj object.Object) field.ErrorList {
	const preserveZero = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"
	var errs field.ErrorList
	if _, ok := obj.Annotations()[preserveZero]; ok {
		errs = append(errs, field.Forbidden(field.Root("metadata").Child("annotations"), "annotation '"+preserveZero+"' is forbidden"))
	}
	spec, p := obj.At("spec"), field.Root("spec")
	errs = append(errs, validatePriorityLevelSpec(p, obj.Name(), spec)...)
	if fixed, ok := mandatoryLevels[obj.Name()]; ok {
		rest, detail := object.Object{}, "spec of '%s' must equal the fixed value"
		kind.KeepOld(rest, spec, "type", "limited", "exempt")
		if obj.Name() == "exempt" {
			rest["exempt"], detail = fixed["exempt"], "spec of '%s' except the 'spec.exempt' field must equal the fixed value"
		}
		if !object.SemanticEqual(map[string]any(rest), map[string]any(fixed)) {
			errs = append(errs, field.Invalid(p, gotext.Value("PriorityLevelConfigurationSpec", spec), fmt.Sprintf(detail, obj.Name())))
		}
	}
	return append(errs, validateFlowStatus(obj)...)
}

func validatePriorityLevelSpec(p field.Path, name string, spec object.Object) field.ErrorList {
	kind, limited, exempt := spec.String("type"), spec.At("limited"), spec.At("exempt")
	var errs field.ErrorList
	if (name == "exempt") != (kind == "Exempt") {
		errs = append(errs, field.Invalid(p.Child("type"), field.Enum(kind), "must be 'Exempt' if and only if `name` is 'exempt'"))
	}
	switch kind {
	case "Exempt":
		if limited != nil {
			errs = append(errs, field.Forbidden(p.Child("limited"), "must be nil if the type is not Limited"))
		}
		if exempt != nil {
			errs = append(errs, validateShares(p.Child("exempt"), exempt)...)
			errs = append(errs, validateLendable(p.Child("exempt"), exempt)...)
		}
	case "Limited":
		if exempt != nil {
			errs = append(errs, field.Forbidden(p.Child("exempt"), "must be nil if the type is Limited"))
		}
		if limited == nil {
			return append(errs, field.Required(p.Child("limited"), "must not be empty when type is Limited"))
		}
		errs = append(errs, validateLimited(p.Child("limited"), limited)...)
	default:
		errs = append(errs, field.MustBeSetToOneOf(p.Child("type"), kind, "Exempt", "Limited")...)
	}
	return errs
}

func validateShares(p field.Path, level object.Object) field.ErrorList {
	if n := level.Int64("nominalConcurrencyShares"); n < 0 {
		return field.ErrorList{field.Invalid(p.Child("nominalConcurrencyShares"), n, "must be a non-negative integer")}
	}
	return nil
}

func validateLendable(p field.Path, level object.Object) field.ErrorList {
	n := level.Int64("lendablePercent")
	return field.Messages(p.Child("lendablePercent"), n, field.InRange(n, 0, 100))
}

func validateLimited(p field.Path, limited object.Object) field.ErrorList {
	errs := validateShares(p, limited)
	errs = append(errs, validateLimitResponse(p.Child("limitResponse"), limited.At("limitResponse"))...)
	errs = append(errs, validateLendable(p, limited)...)
	if n := limited.Int64("borrowingLimitPercent"); n < 0 {
		errs = append(errs, field.Invalid(p.Child("borrowingLimitPercent"), n, "if specified, must be a non-negative integer"))
	}
	return errs
}

func validateLimitResponse(p field.Path, response object.Object) field.ErrorList {
	queuing := response.At("queuing")
	switch kind := response.String("type"); kind {
	case "Reject":
		if queuing != nil {
			return field.ErrorList{field.Forbidden(p.Child("queuing"), "must be nil if limited.limitResponse.type is not Limited")}
		}
	case "Queue":
		if queuing == nil {
			return field.ErrorList{field.Required(p.Child("queuing"), "must not be empty if limited.limitResponse.type is Limited")}
		}
		return validateQueuing(p.Child("queuing"), queuing)
	default:
		return field.MustBeSetToOneOf(p.Child("type"), kind, "Queue", "Reject")
	}
	return nil
}

// Limits of the queues of a priority level. A hand is dealt from a hash of so many bits.
const (
	maxQueues   = 10_000_000
	maxHashBits = 60
)

func validateQueuing(p field.Path, queuing object.Object) field.ErrorList {
	const positive = "must be positive"
	length, queues, hand := queuing.Int64("queueLengthLimit"), queuing.Int64("queues"), queuing.Int64("handSize")
	var errs field.ErrorList
	refuse := func(name string, n int64, detail string) {
		errs = append(errs, field.Invalid(p.Child(name), n, detail))
	}
	if length <= 0 {
		refuse("queueLengthLimit", length, positive)
	}
	if queues <= 0 {
		refuse("queues", queues, positive)
	} else if queues > maxQueues {
		refuse("queues", queues, "must not be greater than 10000000")
	}
	switch {
	case hand <= 0:
		refuse("handSize", hand, positive)
	case hand > queues:
		refuse("handSize", hand, fmt.Sprintf("should not be greater than queues (%d)", queues))
	case math.Ceil(math.Log2(float64(queues))*float64(hand)) > maxHashBits:
		refuse("handSize", hand, fmt.Sprintf("required entropy bits of deckSize %d and handSize %d should not be greater than %d", queues, hand, maxHashBits))
	}
	return errs
}

// validateURLPath checks a URL path in which only the end may be a wildcard.
func validateURLPath(p field.Path, path string) field.ErrorList {
	stars := strings.Count(path, "*")
	for _, rule := range []struct {
		broken bool
		detail string
	}{
		{path == "", "must not be empty"},
		{!strings.HasPrefix(path, "/"), "must start with slash"},
		{strings.Contains(path, " "), "must not contain white-space"},
		{strings.Contains(path, "//"), "must not contain double slash"},
		{stars > 1 || stars == 1 && !strings.HasSuffix(path, "/*"), "wildcard can only do suffix matching"},
	} {
		if rule.broken {
			return field.ErrorList{field.Invalid(p, path, rule.detail)}
		}
	}
	return nil
}
