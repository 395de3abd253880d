// Package flowcontrol defines FlowSchema and PriorityLevelConfiguration. Package sim/flowcontrol applies them.
package flowcontrol

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// docFlow is the prefix of the definition names of flowcontrol.apiserver.k8s.io/v1 types.
const docFlow = "io.k8s.api.flowcontrol.v1."

// Kinds returns the kinds of flowcontrol.apiserver.k8s.io.
func Kinds() []kind.Kind {
	column := func(name, typeName, field string) table.Column { return table.Doc(name, docFlow+typeName, field) }
	strategy := func() resource.Strategy {
		return resource.Strategy{
			Checks:    resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckKind}},
			HasStatus: true, CustomStatus: true,
		}
	}
	number := func(name, typeName, field string, parent ...string) table.Column {
		return column(name, typeName, field).Cell(func(obj object.Object) any {
			if o := obj.At(parent...); o != nil {
				return o.Int64(field)
			}
			return table.None
		})
	}
	queuing := []string{"spec", "limited", "limitResponse", "queuing"}
	return []kind.Kind{
		{
			Storage:  "flowschemas.flowcontrol.apiserver.k8s.io",
			Strategy: strategy(),
			Changed:  kind.Semantically.Of("spec"),
			Validate: validateFlowSchema, ValidateStatus: validateFlowStatus,
			Defaults: kind.EveryVersion(func(obj object.Object) { kind.SetZero(obj, 1000, "spec", "matchingPrecedence") }),
			Columns: []table.Column{
				table.Name(), column("PriorityLevel", "PriorityLevelConfigurationReference", "name").At("spec", "priorityLevelConfiguration", "name"),
				number("MatchingPrecedence", "FlowSchemaSpec", "matchingPrecedence", "spec"),
				column("DistinguisherMethod", "FlowSchemaSpec", "distinguisherMethod").Given(table.None, "spec", "distinguisherMethod", "type"), table.Age(),
				table.Text("MissingPL", "references a broken or non-existent PriorityLevelConfiguration").Cell(cellMissing),
			},
			Order: byPrecedence,
		},
		{
			Storage:  "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
			Strategy: strategy(),
			Changed:  kind.Semantically.Of("spec"),
			Validate: validatePriorityLevel, ValidateStatus: validateFlowStatus,
			Defaults: kind.EveryVersion(defaultPriorityLevel),
			Columns: []table.Column{
				table.Name(), column("Type", "PriorityLevelConfigurationSpec", "type").At("spec", "type"),
				number("NominalConcurrencyShares", "LimitedPriorityLevelConfiguration", "nominalConcurrencyShares", "spec", "limited"),
				number("Queues", "QueuingConfiguration", "queues", queuing...), number("HandSize", "QueuingConfiguration", "handSize", queuing...),
				number("QueueLengthLimit", "QueuingConfiguration", "queueLengthLimit", queuing...), table.Age(),
			},
		},
	}
}

// byPrecedence compares flow schemas by the order in which they are matched (apihelpers.FlowSchemaSequence).
func byPrecedence(a, b object.Object) int {
	return cmp.Or(cmp.Compare(a.Int64("spec", "matchingPrecedence"), b.Int64("spec", "matchingPrecedence")), cmp.Compare(a.Name(), b.Name()))
}

func cellMissing(obj object.Object) any {
	if dangling := obj.Condition("Dangling"); dangling != nil {
		return dangling.String("status")
	}
	return "?"
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
		kind.SetZero(queuing, 8, "handSize")
		kind.SetZero(queuing, 64, "queues")
		kind.SetZero(queuing, 50, "queueLengthLimit")
	}
}

// validateFlowStatus checks that the types of the conditions are set and unique.
func validateFlowStatus(_ *resource.Context, at field.Cursor) {
	seen := field.Seen{}
	for condition := range at.Each("status", "conditions") {
		condition.Child("type").Unique(seen).Required()
	}
}

func validatePriorityLevel(ctx *resource.Context, at field.Cursor) {
	const preserveZero = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"
	obj := at.Object()
	_, annotated := obj.Annotations()[preserveZero]
	at.Child("metadata", "annotations").ForbidIf(annotated, "annotation '"+preserveZero+"' is forbidden")
	spec := at.Child("spec")
	validatePriorityLevelSpec(ctx, spec, obj.Name())
	if fixed, ok := mandatoryLevels[obj.Name()]; ok {
		rest, detail := object.Object{}, "spec of '%s' must equal the fixed value"
		kind.KeepOld(rest, spec.Object(), "type", "limited", "exempt")
		if obj.Name() == "exempt" {
			rest["exempt"], detail = fixed["exempt"], "spec of '%s' except the 'spec.exempt' field must equal the fixed value"
		}
		if !object.SemanticEqual(map[string]any(rest), map[string]any(fixed)) {
			spec.Invalid(gotext.Value(gotext.PriorityLevelConfigurationSpec, spec.Object()), fmt.Sprintf(detail, obj.Name()))
		}
	}
	validateFlowStatus(nil, at)
}

func validatePriorityLevelSpec(ctx *resource.Context, at field.Cursor, name string) {
	kind, limited, exempt := at.String("type"), at.Child("limited"), at.Child("exempt")
	at.Child("type").OrEmpty().AsEnum().InvalidIf((name == "exempt") != (kind == "Exempt"),
		"must be 'Exempt' if and only if `name` is 'exempt'")
	if ctx.Since(37) {
		only(exempt, kind == "Exempt", false)
		only(limited, kind == "Limited", true)
		if limited.Has() {
			declareResponse(limited.Child("limitResponse"))
		}
	}
	switch kind {
	case "Exempt":
		limited.ForbidIf(limited.Has() && !ctx.Since(37), "must be nil if the type is not Limited")
		validateShares(exempt)
		validateLendable(exempt)
	case "Limited":
		exempt.ForbidIf(exempt.Has() && !ctx.Since(37), "must be nil if the type is Limited")
		limited.RequireIf(!limited.Has() && !ctx.Since(37), "must not be empty when type is Limited")
		if limited.Has() {
			validateLimited(ctx, limited)
		}
	default:
		at.Child("type").Declared(ctx.Since(37), field.Cursor.Given).OneOf("Exempt", "Limited")
	}
}

// only checks that a field is set only if in is true. If in is true and the field is required, it must be set. Since 1.37, a tag on
// the type declares this rule.
func only(at field.Cursor, in, required bool) {
	at.Discriminated(true, func(c field.Cursor) field.Cursor {
		return c.ForbidIf(c.Has() && !in, "").RequireIf(!c.Has() && in && required, "")
	})
}

// declareResponse checks limitResponse with the declarative rules that servers have since 1.37.
func declareResponse(at field.Cursor) {
	only(at.Child("queuing"), at.String("type") == "Queue", true)
	at.Child("type").Declared(true, field.Cursor.Given)
}

func validateShares(at field.Cursor) {
	at.Child("nominalConcurrencyShares").Min(0, "must be a non-negative integer")
}

func validateLendable(at field.Cursor) { at.Child("lendablePercent").Range(0, 100) }

func validateLimited(ctx *resource.Context, at field.Cursor) {
	validateShares(at)
	validateLimitResponse(ctx, at.Child("limitResponse"))
	validateLendable(at)
	at.Child("borrowingLimitPercent").Min(0, "if specified, must be a non-negative integer")
}

func validateLimitResponse(ctx *resource.Context, at field.Cursor) {
	queuing := at.Child("queuing")
	switch kind := at.Child("type"); kind.String() {
	case "Reject":
		queuing.ForbidIf(queuing.Has() && !ctx.Since(37), "must be nil if limited.limitResponse.type is not Limited")
	case "Queue":
		queuing.RequireIf(!queuing.Has() && !ctx.Since(37), "must not be empty if limited.limitResponse.type is Limited")
		if queuing.Has() {
			validateQueuing(queuing)
		}
	default:
		kind.RequireIf(kind.String() == "" && !ctx.Since(37), "").IfGiven().OneOf("Queue", "Reject")
	}
}

// Limits of the queues of a priority level. A hand is dealt from the bits of a hash, which limits the number of possible
// hands.
const (
	maxQueues   = 10_000_000
	maxHashBits = 60
)

func validateQueuing(at field.Cursor) {
	const positive = "must be positive"
	at.Child("queueLengthLimit").OrZero().Min(1, positive)
	queues := at.Child("queues").OrZero().Min(1, positive).Max(maxQueues, "must not be greater than 10000000").Int64()
	hand := at.Child("handSize").OrZero()
	switch n := hand.Int64(); {
	case n <= 0:
		hand.Invalid(n, positive)
	case n > queues:
		hand.Invalid(n, fmt.Sprintf("should not be greater than queues (%d)", queues))
	case math.Ceil(math.Log2(float64(queues))*float64(n)) > maxHashBits:
		hand.Invalid(n, fmt.Sprintf("required entropy bits of deckSize %d and handSize %d should not be greater than %d", queues, n, maxHashBits))
	}
}

// validateURLPath checks a URL path, which may end in a wildcard.
func validateURLPath(at field.Cursor) {
	path := at.String()
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
			at.Invalid(path, rule.detail)
			return
		}
	}
}

// seats is the number of requests that a server executes concurrently: the sum of the defaults of kube-apiserver's
// --max-requests-inflight and --max-mutating-requests-inflight.
const seats = 400 + 200

// NominalSeats returns the number of a server's seats for each priority level, by name. It is proportional to the level's
// shares and rounded up (API concepts, "API Priority and Fairness"; k8s.io/apiserver/pkg/util/flowcontrol). In the simulator no
// request waits for a seat.
func NominalSeats(objects resource.Reader) map[string]int {
	shares, sum := map[string]int{}, 0
	for _, level := range objects.All("prioritylevelconfigurations.flowcontrol.apiserver.k8s.io", "") {
		n := level.Int64("spec", "limited", "nominalConcurrencyShares")
		if !level.At("spec").Has("limited") {
			n = level.Int64("spec", "exempt", "nominalConcurrencyShares")
		}
		shares[level.Name()], sum = int(n), sum+int(n)
	}
	for name, n := range shares { // order does not matter
		if sum > 0 {
			shares[name] = (seats*n + sum - 1) / sum
		}
	}
	return shares
}
