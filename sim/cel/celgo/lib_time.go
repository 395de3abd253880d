package celgo

import (
	"strconv"
	"strings"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/env"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// intToDuration is an overload that cel-go contains up to v0.26.
const intToDuration = "int64_to_duration"

// The range of CEL timestamps in seconds: the years 1 to 9999.
const (
	firstSecond = -62135596800
	lastSecond  = 253402300799
)

// standardLibrary returns the standard library in the cel-go version of the real server, with modified functions for
// times: timestamp(string) accepts the formats of Go's time package, and the accessors of a timestamp accept any UTC
// offset. In old versions duration(int) fails only at evaluation.
func (e *environment) standardLibrary() []cel.EnvOption {
	changed := &env.Function{Name: overloads.TypeConvertTimestamp, Overloads: []*env.Overload{{ID: overloads.StringToTimestamp}}}
	options := []cel.EnvOption{
		cel.StdLib(cel.StdLibSubset(&env.LibrarySubset{ExcludeFunctions: []*env.Function{changed}})),
		cel.Function(overloads.TypeConvertTimestamp,
			overload(overloads.StringToTimestamp, cel.TimestampType, unary(toTimestamp), cel.StringType)),
	}
	for _, part := range timeParts {
		options = append(options, cel.Function(part.function,
			member(part.overload, cel.IntType, partInZone(part.function, part.local), cel.TimestampType, cel.StringType)))
	}
	if e.celgo <= oldCELGo {
		options = append(options, cel.Function(overloads.TypeConvertDuration,
			overload(intToDuration, cel.DurationType, cel.UnaryBinding(toDuration), cel.IntType)))
	}
	return options
}

// timeParts are the functions that return a component of a timestamp, each with two overloads: with and without a time zone.
var timeParts = []struct{ function, overload, local string }{
	{overloads.TimeGetFullYear, overloads.TimestampToYearWithTz, overloads.TimestampToYear},
	{overloads.TimeGetMonth, overloads.TimestampToMonthWithTz, overloads.TimestampToMonth},
	{overloads.TimeGetDayOfYear, overloads.TimestampToDayOfYearWithTz, overloads.TimestampToDayOfYear},
	{overloads.TimeGetDayOfMonth, overloads.TimestampToDayOfMonthZeroBasedWithTz, overloads.TimestampToDayOfMonthZeroBased},
	{overloads.TimeGetDate, overloads.TimestampToDayOfMonthOneBasedWithTz, overloads.TimestampToDayOfMonthOneBased},
	{overloads.TimeGetDayOfWeek, overloads.TimestampToDayOfWeekWithTz, overloads.TimestampToDayOfWeek},
	{overloads.TimeGetHours, overloads.TimestampToHoursWithTz, overloads.TimestampToHours},
	{overloads.TimeGetMinutes, overloads.TimestampToMinutesWithTz, overloads.TimestampToMinutes},
	{overloads.TimeGetSeconds, overloads.TimestampToSecondsWithTz, overloads.TimestampToSeconds},
	{overloads.TimeGetMilliseconds, overloads.TimestampToMillisecondsWithTz, overloads.TimestampToMilliseconds},
}

// partInZone returns the binding of a function that returns a component of a timestamp in a given time zone.
func partInZone(function, local string) cel.OverloadOpt {
	return cel.BinaryBinding(func(v, zone ref.Val) ref.Val {
		t, ok := v.(types.Timestamp)
		name, isText := zone.(types.String)
		if !ok || !isText {
			return types.MaybeNoSuchOverloadErr(zone)
		}
		in, err := zoneOf(string(name))
		if err != nil {
			return types.WrapErr(err)
		}
		return traits.Receiver(types.Timestamp{Time: t.In(in)}).Receive(function, local, nil)
	})
}

// zoneOf returns the time zone with a name ("Europe/Berlin") or an offset ("+01:30").
func zoneOf(name string) (*time.Location, error) {
	hours, minutes, offset := strings.Cut(name, ":")
	if !offset {
		return time.LoadLocation(name)
	}
	h, err := strconv.Atoi(hours)
	if err != nil {
		return nil, err
	}
	m, err := strconv.Atoi(minutes)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(name, "-") {
		m = -m
	}
	return time.FixedZone("", int((time.Duration(h)*time.Hour + time.Duration(m)*time.Minute).Seconds())), nil
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
