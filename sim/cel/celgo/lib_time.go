package celgo

import (
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/env"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// intToDuration is an overload that later versions of cel-go no longer have.
const intToDuration = "int64_to_duration"

// The times that CEL has, in seconds: the years 1 to 9999.
const (
	firstSecond = -62135596800
	lastSecond  = 253402300799
)

// standardLibrary is the standard library of CEL as the cel-go of a 1.36 server has it, which converts times in its own
// way: timestamp(string) takes what Go's time package takes, and duration(int) is an error when it is evaluated only.
func standardLibrary() []cel.EnvOption {
	changed := &env.Function{Name: overloads.TypeConvertTimestamp, Overloads: []*env.Overload{{ID: overloads.StringToTimestamp}}}
	return []cel.EnvOption{
		cel.StdLib(cel.StdLibSubset(&env.LibrarySubset{ExcludeFunctions: []*env.Function{changed}})),
		cel.Function(overloads.TypeConvertTimestamp,
			overload(overloads.StringToTimestamp, cel.TimestampType, unary(toTimestamp), cel.StringType)),
		cel.Function(overloads.TypeConvertDuration,
			overload(intToDuration, cel.DurationType, cel.UnaryBinding(toDuration), cel.IntType)),
	}
}

func toTimestamp(s string) ref.Val {
	t, err := time.Parse(time.RFC3339, s)
	switch {
	case err != nil:
		return conversionError(types.StringType, types.TimestampType)
	case t.Unix() < firstSecond || t.Unix() > lastSecond:
		return types.NewErr("timestamp overflow")
	}
	return types.Timestamp{Time: t}
}

func toDuration(v ref.Val) ref.Val { return v.ConvertToType(types.DurationType) }
