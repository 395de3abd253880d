package celgo

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/ext"
	"cel.dev/cel-go/interpreter"

	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/schema"
)

// environment is shared by all expressions with the same expr.Environment.
type environment struct {
	*cel.Env
	minor int // 36 is Kubernetes 1.36
	celgo int // version of cel-go in such a server: 26 is v0.26

	device func() (*cel.Env, *costs) // see deviceEnv
}

// since reports whether the server has the given minor version or a later one.
func (e *environment) since(minor int) bool { return e.minor >= minor }

// environments caches the environments, because creating one takes milliseconds.
var environments sync.Map // expr.Environment → *environment

// environmentOf returns the environment for expressions, without variables.
func environmentOf(of expr.Environment) *environment {
	if e, ok := environments.Load(of); ok {
		return e.(*environment)
	}
	e, _ := environments.LoadOrStore(of, newEnvironment(of))
	return e.(*environment)
}

func newEnvironment(of expr.Environment) *environment {
	version := "1." + strconv.Itoa(of.Minor)
	if of.Minor == 0 {
		version = schema.Default
	}
	release, ok := schema.ReleaseOf(version)
	if !ok {
		panic("cel: there is no Kubernetes " + version)
	}
	e := &environment{celgo: release.CELGo}
	e.minor, _ = strconv.Atoi(strings.TrimPrefix(release.Minor, "1."))
	env, err := cel.NewCustomEnv(e.options(of.Stored)...)
	if err != nil {
		panic("cel: the environment is wrong: " + err.Error())
	}
	e.Env, e.device = env, sync.OnceValues(e.deviceEnv)
	return e
}

// oldCELGo is the last version of cel-go whose behaviour differs: v0.26, which Kubernetes 1.34 to 1.36 use.
const oldCELGo = 26

// options returns the options for the language and its libraries. If stored is true, expressions may use features that servers of
// the previous minor version lack.
func (e *environment) options(stored bool) []cel.EnvOption {
	known := e.minor
	if !stored {
		known--
	}
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
		// The cost estimation of these servers. Later versions would accept and reject different expressions.
		cel.CostModelVersion(0),
		cel.CostEstimatorOptions(cost.PresenceTestHasCost(false)),
	}
	if known >= 34 {
		options = append(options, e.listLibrary()...)
	}
	if e.celgo > oldCELGo {
		options = append(options, cel.EnableIdentifierEscapeSyntax())
	}
	return slices.Concat(e.standardLibrary(), options, kubernetesFunctions(known))
}

// kubernetesFunctions returns the functions that Kubernetes adds to CEL. cost_table.go contains their costs.
func kubernetesFunctions(known int) []cel.EnvOption {
	return slices.Concat(urlFunctions(), regexFunctions(), listFunctions(known >= 37), authorizerFunctions(), quantityFunctions(),
		ipFunctions(), cidrFunctions(), formatFunctions(), semverFunctions())
}

// jsonPatchFunctions returns the function that is available only in JSON patch expressions.
func jsonPatchFunctions() []cel.EnvOption {
	return []cel.EnvOption{cel.Function("jsonpatch.escapeKey", overload("string_jsonpatch_escapeKey_string", cel.StringType,
		unary(func(s string) ref.Val { return types.String(strings.NewReplacer("~", "~0", "/", "~1").Replace(s)) }), cel.StringType))}
}

// plan creates the program of a checked expression. The options in more override the others.
func plan(env *cel.Env, ast *cel.Ast, c *costs, more ...cel.ProgramOption) (cel.Program, error) {
	return env.Program(ast, append([]cel.ProgramOption{
		cel.EvalOptions(cel.OptOptimize, cel.OptTrackCost),
		cel.CostLimit(callLimit),
		cel.CostTracking(c),
		cel.CostTrackerOptions(cost.TrackerPresenceTestHasCost(false)),
		cel.OptimizeRegex(findRegex, findAllRegex),
		cel.CustomDecoratorV2(inOrder)}, more...)...)
}

// inOrder makes map literals in expressions iterate in key order. cel-go uses Go maps, whose random order would change the
// results of some expressions from one evaluation to the next.
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

// order wraps a map of cel-go so that it is iterated in key order. It returns all other values unchanged.
func order(v ref.Val) ref.Val {
	m, ok := v.(traits.Mapper)
	if !ok || m.Size() == types.IntZero || m.Size() == types.IntOne {
		return v
	}
	switch v.(type) {
	case *mapVal, *orderedMap, traits.MutableMapper:
		return v
	}
	return &orderedMap{Mapper: m, keys: slices.SortedFunc(elements(m), compareKeys)}
}

// orderedMap is a map of cel-go that is iterated in key order.
type orderedMap struct {
	traits.Mapper
	keys []ref.Val
}

func (o *orderedMap) Iterator() traits.Iterator {
	return &iterator{at: func(i int) ref.Val { return o.keys[i] }, size: len(o.keys)}
}

// compareKeys compares keys of the same type by value, and keys of different types by type name.
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
