package batch

import (
	"strings"

	"github.com/kubesim/kubesim/sim/cron"
	"github.com/kubesim/kubesim/sim/field"
)

// hasTimeZone reports whether a schedule names a time zone.
func hasTimeZone(schedule string) bool { return strings.Contains(schedule, "TZ") }

// validateSchedule checks spec.schedule; allowTZ is true where the stored one has a time zone already.
func validateSchedule(at field.Cursor, allowTZ, timeZoneSet bool) {
	_, err := cron.Parse(at.String())
	at.CheckError(err)
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
	at.CheckError(cron.CheckZone(zone))
}

func isTimeZonePart(part string) bool {
	if part == "" || len(part) > 14 || part == "." || part == ".." || part[0] == '-' {
		return false
	}
	return !strings.ContainsFunc(part, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune(".-_+", c))
	})
}
