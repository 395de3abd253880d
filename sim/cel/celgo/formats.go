package celgo

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// durationPart is a number with a unit, as formats of OpenAPI allow beside those of Go: "3 days".
var durationPart = regexp.MustCompile(`(\d+)\s*([A-Za-zµ]+)`)

// units are the names of a duration's unit: exact ones, then one that may go on.
var units = []struct {
	names  []string
	prefix string
	unit   time.Duration
}{
	{[]string{"ns"}, "nano", time.Nanosecond},
	{[]string{"us", "µs"}, "micro", time.Microsecond},
	{[]string{"ms"}, "milli", time.Millisecond},
	{[]string{"s"}, "sec", time.Second},
	{[]string{"m"}, "min", time.Minute},
	{[]string{"h", "hr"}, "hour", time.Hour},
	{[]string{"d"}, "day", 24 * time.Hour},
	{[]string{"w", "wk"}, "week", 7 * 24 * time.Hour},
}

func parseDuration(s string) (time.Duration, error) {
	if d, err := time.ParseDuration(s); err == nil {
		return d, nil
	}
	var sum time.Duration
	found := false
	for _, part := range durationPart.FindAllStringSubmatch(s, -1) {
		n, err := strconv.Atoi(part[1])
		if err != nil {
			return 0, err
		}
		if unit, ok := unitOf(strings.ToLower(part[2])); ok {
			sum += time.Duration(n) * unit
			found = true
		}
	}
	if !found {
		return 0, fmt.Errorf("unable to parse %s as duration", s)
	}
	return sum, nil
}

func unitOf(name string) (time.Duration, bool) {
	for _, u := range units {
		if strings.HasPrefix(name, u.prefix) || slices.Contains(u.names, name) {
			return u.unit, true
		}
	}
	return 0, false
}

// parseTime reads a timestamp; one without a zone is in UTC, and an empty one is 1970.
func parseTime(s string) (time.Time, error) {
	if s == "" {
		return time.Unix(0, 0).UTC(), nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	return time.Parse("2006-01-02T15:04:05", s)
}
