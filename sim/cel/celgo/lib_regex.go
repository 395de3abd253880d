package celgo

import (
	"regexp"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"
)

// regexFunctions are find and findAll (RE2).
func regexFunctions() []cel.EnvOption {
	return []cel.EnvOption{
		cel.Function("find", member("string_find_string", cel.StringType, binary(find), cel.StringType, cel.StringType)),
		cel.Function("findAll",
			member("string_find_all_string", cel.ListType(cel.StringType),
				binary(func(s, expr string) ref.Val { return findAll(s, expr, -1) }), cel.StringType, cel.StringType),
			member("string_find_all_string_int", cel.ListType(cel.StringType), cel.FunctionBinding(findSome),
				cel.StringType, cel.StringType, cel.IntType)),
	}
}

func find(s, expr string) ref.Val {
	re, err := regexp.Compile(expr)
	if err != nil {
		return types.NewErr("Illegal regex: %v", err.Error())
	}
	return types.String(re.FindString(s))
}

func findAll(s, expr string, n int64) ref.Val {
	re, err := regexp.Compile(expr)
	if err != nil {
		return types.NewErr("Illegal regex: %v", err.Error())
	}
	return found(re, s, n)
}

func findSome(args ...ref.Val) ref.Val {
	s, ok := args[0].Value().(string)
	expr, ok2 := args[1].Value().(string)
	n, ok3 := args[2].Value().(int64)
	if !ok || !ok2 || !ok3 {
		return types.MaybeNoSuchOverloadErr(args[0])
	}
	return findAll(s, expr, n)
}

// findRegex and findAllRegex compile a regular expression that is a literal when the program is made, which says then what is
// wrong with it.
var (
	findRegex = compiledOnce("find", func(re *regexp.Regexp, args []ref.Val) ref.Val {
		s, ok := args[0].Value().(string)
		if !ok {
			return types.MaybeNoSuchOverloadErr(args[0])
		}
		return types.String(re.FindString(s))
	})
	findAllRegex = compiledOnce("findAll", func(re *regexp.Regexp, args []ref.Val) ref.Val {
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
		return found(re, s, n)
	})
)

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

func found(re *regexp.Regexp, s string, n int64) ref.Val {
	return types.NewStringList(types.DefaultTypeAdapter, re.FindAllString(s, int(max(n, -1))))
}
