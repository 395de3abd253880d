package celgo

import (
	"regexp"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"
)

// regexFunctions returns find and findAll (RE2).
func regexFunctions() []cel.EnvOption {
	one := func(s, expr ref.Val) ref.Val { return compiling(find, s, expr) }
	all := func(s, expr ref.Val) ref.Val { return compiling(findAll, s, expr) }
	some := func(args ...ref.Val) ref.Val { return compiling(findAll, args...) }
	return []cel.EnvOption{
		cel.Function("find", member("string_find_string", cel.StringType, cel.BinaryBinding(one), cel.StringType, cel.StringType)),
		cel.Function("findAll",
			member("string_find_all_string", cel.ListType(cel.StringType), cel.BinaryBinding(all), cel.StringType, cel.StringType),
			member("string_find_all_string_int", cel.ListType(cel.StringType), cel.FunctionBinding(some),
				cel.StringType, cel.StringType, cel.IntType)),
	}
}

// compiling compiles the regular expression in args[1] and calls run with the result.
func compiling(run func(*regexp.Regexp, []ref.Val) ref.Val, args ...ref.Val) ref.Val {
	expr, ok := args[1].Value().(string)
	if !ok {
		return types.MaybeNoSuchOverloadErr(args[1])
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return types.NewErr("Illegal regex: %v", err.Error())
	}
	return run(re, args)
}

// find implements the function find. args includes the uncompiled regular expression.
func find(re *regexp.Regexp, args []ref.Val) ref.Val {
	s, ok := args[0].Value().(string)
	if !ok {
		return types.MaybeNoSuchOverloadErr(args[0])
	}
	return types.String(re.FindString(s))
}

func findAll(re *regexp.Regexp, args []ref.Val) ref.Val {
	s, ok := args[0].Value().(string)
	if !ok {
		return types.MaybeNoSuchOverloadErr(args[0])
	}
	n := int64(-1)
	if len(args) > 2 {
		if n, ok = args[2].Value().(int64); !ok {
			return types.MaybeNoSuchOverloadErr(args[2])
		}
	}
	return types.NewStringList(types.DefaultTypeAdapter, re.FindAllString(s, int(max(n, -1))))
}

// findRegex and findAllRegex compile a literal regular expression when the program is created. An invalid expression is therefore
// reported at that time.
var findRegex, findAllRegex = compiledOnce("find", find), compiledOnce("findAll", findAll)

func compiledOnce(function string, run func(*regexp.Regexp, []ref.Val) ref.Val) *interpreter.RegexOptimization {
	return &interpreter.RegexOptimization{Function: function, RegexIndex: 1,
		Factory: func(call interpreter.InterpretableCall, pattern string) (interpreter.InterpretableCall, error) {
			re, err := regexp.Compile(pattern)
			if err != nil {
				return nil, err
			}
			return interpreter.NewCall(call.ID(), call.Function(), call.OverloadID(), call.Args(),
				func(args ...ref.Val) ref.Val { return run(re, args) }), nil
		}}
}
