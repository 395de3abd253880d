package celgo

import (
	"regexp"
	"slices"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/ext"
	"cel.dev/cel-go/interpreter"
)

// baseEnv is the environment of Kubernetes 1.36 without variables. It is made once: that takes milliseconds.
var baseEnv = sync.OnceValue(func() *cel.Env {
	options := []cel.EnvOption{
		cel.HomogeneousAggregateLiterals(),
		cel.EagerlyValidateDeclarations(true),
		cel.DefaultUTCTimeZone(true),
		cel.CrossTypeNumericComparisons(true),
		cel.OptionalTypes(),
		cel.ASTValidators(cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals(), cel.ValidateRegexLiterals(),
			cel.ValidateHomogeneousAggregateLiterals()),
		ext.Strings(ext.StringsVersion(2)),
		ext.Sets(),
		ext.TwoVarComprehensions(),
		ext.Lists(ext.ListsVersion(3)),
		// The rules of estimation that a server of 1.36 has: later ones would accept and refuse other expressions.
		cel.CostModelVersion(0),
		cel.CostEstimatorOptions(cost.PresenceTestHasCost(false)),
	}
	options = slices.Concat(standardLibrary(), options, urlFunctions(), regexFunctions(), listFunctions(), authorizerFunctions(),
		quantityFunctions(), ipFunctions(), cidrFunctions(), formatFunctions(), semverFunctions())
	env, err := cel.NewCustomEnv(options...)
	if err != nil {
		panic("cel: the environment is wrong: " + err.Error())
	}
	return env
})

// plan makes a program of a checked expression.
func plan(env *cel.Env, ast *cel.Ast, c *costs) (cel.Program, error) {
	return env.Program(ast,
		cel.EvalOptions(cel.OptOptimize, cel.OptTrackCost),
		cel.CostLimit(callLimit),
		cel.CostTracking(c),
		cel.CostTrackerOptions(cost.TrackerPresenceTestHasCost(false)),
		cel.CustomDecoratorV2(inOrder))
}

// inOrder makes maps that an expression writes be read in the order of their keys: those of cel-go are Go maps, and an
// expression could say something else each time it runs.
func inOrder(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	switch i := i.(type) {
	case interpreter.InterpretableConst, interpreter.InterpretableAttribute, interpreter.InterpretableCall:
		return i, nil
	case interpreter.InterpretableConstructor:
		if i.Type() != types.MapType {
			return i, nil
		}
		return &orderedConstructor{i}, nil
	}
	return &ordered{i}, nil
}

type ordered struct{ interpreter.InterpretableV2 }

func (o *ordered) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	return order(o.InterpretableV2.Exec(frame))
}

func (o *ordered) Eval(vars interpreter.Activation) ref.Val {
	return order(o.InterpretableV2.Eval(vars))
}

type orderedConstructor struct {
	interpreter.InterpretableConstructor
}

func (o *orderedConstructor) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	return order(o.InterpretableConstructor.Exec(frame))
}

func (o *orderedConstructor) Eval(vars interpreter.Activation) ref.Val {
	return order(o.InterpretableConstructor.Eval(vars))
}

// order returns a map of cel-go as one that is read in order, and everything else as it is.
func order(v ref.Val) ref.Val {
	m, ok := v.(traits.Mapper)
	if !ok || m.Size() == types.IntZero || m.Size() == types.IntOne {
		return v
	}
	switch v.(type) {
	case *mapVal, *orderedMap, traits.MutableMapper:
		return v
	}
	o := &orderedMap{Mapper: m}
	for it := m.Iterator(); it.HasNext() == types.True; { // sorted below
		o.keys = append(o.keys, it.Next())
	}
	slices.SortFunc(o.keys, compareKeys)
	return o
}

// orderedMap is a map of cel-go that is read in the order of its keys.
type orderedMap struct {
	traits.Mapper
	keys []ref.Val
}

func (o *orderedMap) Iterator() traits.Iterator {
	return &iterator{at: func(i int) ref.Val { return o.keys[i] }, size: len(o.keys)}
}

// compareKeys orders keys of one type by their value, and the types by their names.
func compareKeys(a, b ref.Val) int {
	if c, ok := a.(traits.Comparer); ok {
		if n, ok := c.Compare(b).(types.Int); ok {
			return int(n)
		}
	}
	if a.Type().TypeName() < b.Type().TypeName() {
		return -1
	}
	return 1
}

var (
	undeclared = regexp.MustCompile(`(?m)(undeclared reference to '[^'\n]*')( \((?:did you mean|enable with) .*\))?$`)
	noType     = regexp.MustCompile(`(?m)('[^'\n]*' is not a type) \((?:did you mean|enable with) .*\)$`)
)

// problems prints what is wrong with an expression as the cel-go of a 1.36 server does: without its later suggestions.
func problems(issues *cel.Issues) string {
	text := undeclared.ReplaceAllString(issues.String(), "$1 (in container '')")
	return noType.ReplaceAllString(text, "$1")
}
