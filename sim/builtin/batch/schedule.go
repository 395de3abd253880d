package batch

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/field"
)

// cronField is one of the five fields of a schedule, and the names its values may have (crontab(5)).
type cronField struct {
	min, max uint
	names    []string // of min, min+1, …
}

var cronFields = []cronField{
	{min: 0, max: 59}, // minute
	{min: 0, max: 23}, // hour
	{min: 1, max: 31}, // day of month
	{min: 1, max: 12, names: []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	{min: 0, max: 6, names: []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
}

var cronDescriptors = []string{"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}

// checkCron returns what is wrong with a schedule, in the words of the parser that the real server uses: five fields,
// a descriptor such as @daily or an interval such as @every 1h30m, each with a time zone (TZ=UTC) in front.
func checkCron(spec string) error {
	if strings.HasPrefix(spec, "TZ=") || strings.HasPrefix(spec, "CRON_TZ=") {
		space, equals := strings.Index(spec, " "), strings.Index(spec, "=")
		if space < 0 { // that parser panics here, and the server recovers
			return errors.New("invalid schedule format: runtime error: slice bounds out of range [:-1]")
		}
		zone := spec[equals+1 : space]
		if err := checkZone(zone); err != nil {
			return fmt.Errorf("provided bad location %s: %v", zone, err)
		}
		spec = strings.TrimSpace(spec[space:])
	}
	if strings.HasPrefix(spec, "@") {
		return checkCronDescriptor(spec)
	}
	fields := strings.Fields(spec)
	if len(fields) != len(cronFields) {
		return fmt.Errorf("expected exactly %d fields, found %d: %s", len(cronFields), len(fields), fields)
	}
	for i, f := range cronFields {
		for expr := range strings.FieldsFuncSeq(fields[i], func(r rune) bool { return r == ',' }) {
			if err := f.check(expr); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkCronDescriptor(spec string) error {
	if slices.Contains(cronDescriptors, spec) {
		return nil
	}
	interval, ok := strings.CutPrefix(spec, "@every ")
	if !ok {
		return fmt.Errorf("unrecognized descriptor: %s", spec)
	}
	if _, err := time.ParseDuration(interval); err != nil {
		return fmt.Errorf("failed to parse duration %s: %s", spec, err)
	}
	return nil
}

// check reads one range: number, number-number or *, each with /step behind it.
func (f cronField) check(expr string) error {
	rangeAndStep := strings.Split(expr, "/")
	start, end, single, err := f.bounds(rangeAndStep[0], expr)
	if err != nil {
		return err
	}
	step := uint(1)
	switch len(rangeAndStep) {
	case 1:
	case 2:
		if step, err = cronNumber(rangeAndStep[1]); err != nil {
			return err
		}
		if single {
			end = f.max
		}
	default:
		return fmt.Errorf("too many slashes: %s", expr)
	}
	switch {
	case start < f.min:
		return fmt.Errorf("beginning of range (%d) below minimum (%d): %s", start, f.min, expr)
	case end > f.max:
		return fmt.Errorf("end of range (%d) above maximum (%d): %s", end, f.max, expr)
	case start > end:
		return fmt.Errorf("beginning of range (%d) beyond end of range (%d): %s", start, end, expr)
	case step == 0:
		return fmt.Errorf("step of range should be a positive number: %s", expr)
	}
	return nil
}

// bounds reads the part of a range in front of the step.
func (f cronField) bounds(text, expr string) (start, end uint, single bool, err error) {
	ends := strings.Split(text, "-")
	if ends[0] == "*" || ends[0] == "?" {
		return f.min, f.max, len(ends) == 1, nil
	}
	if start, err = f.value(ends[0]); err != nil {
		return 0, 0, false, err
	}
	switch len(ends) {
	case 1:
		return start, start, true, nil
	case 2:
		end, err = f.value(ends[1])
		return start, end, false, err
	}
	return 0, 0, false, fmt.Errorf("too many hyphens: %s", expr)
}

func (f cronField) value(text string) (uint, error) {
	if i := slices.Index(f.names, strings.ToLower(text)); i >= 0 {
		return f.min + uint(i), nil
	}
	return cronNumber(text)
}

func cronNumber(text string) (uint, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("failed to parse int from %s: %s", text, err)
	}
	if n < 0 {
		return 0, fmt.Errorf("negative number (%d) not allowed: %s", n, text)
	}
	return uint(n), nil
}

// hasTimeZone reports whether a schedule names a time zone.
func hasTimeZone(schedule string) bool { return strings.Contains(schedule, "TZ") }

// validateSchedule checks spec.schedule; allowTZ is true where the stored one has a time zone already.
func validateSchedule(at field.Cursor, allowTZ, timeZoneSet bool) {
	at.CheckError(checkCron(at.String()))
	named := hasTimeZone(at.String())
	at.InvalidIf(named && allowTZ && timeZoneSet, "cannot use both timeZone field and TZ or CRON_TZ in schedule")
	at.InvalidIf(named && !allowTZ, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
}

// validateTimeZone checks the name of a time zone (RFC 6557 and the theory file of the IANA database).
func validateTimeZone(at field.Cursor) {
	zone := at.String()
	if zone == "" {
		at.Invalid(zone, "timeZone must be nil or non-empty string")
		return
	}
	for part := range strings.SplitSeq(zone, "/") {
		if !isTimeZonePart(part) {
			at.Invalid(zone, "unknown time zone "+zone)
			return
		}
	}
	at.InvalidIf(strings.EqualFold(zone, "Local"), "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones")
	at.CheckError(checkZone(zone))
}

func isTimeZonePart(part string) bool {
	if part == "" || len(part) > 14 || part == "." || part == ".." || part[0] == '-' {
		return false
	}
	for _, c := range part {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune(".-_+", c)) {
			return false
		}
	}
	return true
}
