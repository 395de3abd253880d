package cron

import (
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// reader reads one of the five fields: its values, and the names that they may have (crontab(5)).
type reader struct {
	min, max uint
	names    []string // of min, min+1, …
}

var readers = [5]reader{
	minute:     {min: 0, max: 59},
	hour:       {min: 0, max: 23},
	dayOfMonth: {min: 1, max: 31},
	month:      {min: 1, max: 12, names: []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	dayOfWeek:  {min: 0, max: 6, names: []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
}

// descriptors are schedules that have a name.
var descriptors = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// Parse reads a schedule: five fields, a descriptor such as @daily or an interval such as @every 1h30m, each with a time
// zone (TZ=UTC) in front. Errors are in the words of the parser that the real server uses.
func Parse(spec string) (*Schedule, error) {
	s := &Schedule{}
	if strings.HasPrefix(spec, "TZ=") || strings.HasPrefix(spec, "CRON_TZ=") {
		space, equals := strings.Index(spec, " "), strings.Index(spec, "=")
		if space < 0 { // that parser panics here, and the server recovers
			return nil, errors.New("invalid schedule format: runtime error: slice bounds out of range [:-1]")
		}
		s.Zone = spec[equals+1 : space]
		if err := CheckZone(s.Zone); err != nil {
			return nil, fmt.Errorf("provided bad location %s: %v", s.Zone, err)
		}
		spec = strings.TrimSpace(spec[space:])
	}
	if strings.HasPrefix(spec, "@") {
		if interval, ok := strings.CutPrefix(spec, "@every "); ok {
			return s, s.parseInterval(spec, interval)
		}
		named, ok := descriptors[spec]
		if !ok {
			return nil, fmt.Errorf("unrecognized descriptor: %s", spec)
		}
		spec = named
	}
	return s, s.parseFields(strings.Fields(spec))
}

// parseInterval reads how long it is from one time to the next, which is whole seconds and one at least.
func (s *Schedule) parseInterval(spec, interval string) error {
	d, err := time.ParseDuration(interval)
	if err != nil {
		return fmt.Errorf("failed to parse duration %s: %s", spec, err)
	}
	s.every = max(d.Truncate(time.Second), time.Second)
	return nil
}

func (s *Schedule) parseFields(fields []string) error {
	if len(fields) != len(readers) {
		return fmt.Errorf("expected exactly %d fields, found %d: %s", len(readers), len(fields), fields)
	}
	for i, r := range readers {
		for expr := range strings.FieldsFuncSeq(fields[i], func(r rune) bool { return r == ',' }) {
			b, err := r.read(expr)
			if err != nil {
				return err
			}
			s.fields[i].values |= b.values
			s.fields[i].any = s.fields[i].any || b.any
		}
	}
	return nil
}

// read reads one range: number, number-number or *, each with /step behind it.
func (r reader) read(expr string) (b bits, err error) {
	rangeAndStep := strings.Split(expr, "/")
	start, end, single, err := r.bounds(rangeAndStep[0], expr)
	if err != nil {
		return b, err
	}
	step := uint(1)
	switch len(rangeAndStep) {
	case 1:
	case 2:
		if step, err = number(rangeAndStep[1]); err != nil {
			return b, err
		}
		if single {
			end = r.max
		}
	default:
		return b, fmt.Errorf("too many slashes: %s", expr)
	}
	switch {
	case start < r.min:
		return b, fmt.Errorf("beginning of range (%d) below minimum (%d): %s", start, r.min, expr)
	case end > r.max:
		return b, fmt.Errorf("end of range (%d) above maximum (%d): %s", end, r.max, expr)
	case start > end:
		return b, fmt.Errorf("beginning of range (%d) beyond end of range (%d): %s", start, end, expr)
	case step == 0:
		return b, fmt.Errorf("step of range should be a positive number: %s", expr)
	}
	for i := start; i <= end; i += step {
		b.values |= 1 << i
	}
	b.any = step == 1 && (expr[0] == '*' || expr[0] == '?')
	return b, nil
}

// bounds reads the part of a range in front of the step.
func (r reader) bounds(text, expr string) (start, end uint, single bool, err error) {
	ends := strings.Split(text, "-")
	if ends[0] == "*" || ends[0] == "?" {
		return r.min, r.max, len(ends) == 1, nil
	}
	if start, err = r.value(ends[0]); err != nil {
		return 0, 0, false, err
	}
	switch len(ends) {
	case 1:
		return start, start, true, nil
	case 2:
		end, err = r.value(ends[1])
		return start, end, false, err
	}
	return 0, 0, false, fmt.Errorf("too many hyphens: %s", expr)
}

func (r reader) value(text string) (uint, error) {
	for i, name := range r.names {
		if strings.ToLower(text) == name {
			return r.min + uint(i), nil
		}
	}
	return number(text)
}

func number(text string) (uint, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("failed to parse int from %s: %s", text, err)
	}
	if n < 0 {
		return 0, fmt.Errorf("negative number (%d) not allowed: %s", n, text)
	}
	return uint(n), nil
}

// zoneNames are the names of the IANA time zone database, a line each: whether a schedule is valid must not depend on the
// machine.
//
//go:embed zones.txt
var zoneNames string

var zones = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{"": true, "UTC": true, "Local": true}
	for name := range strings.Lines(zoneNames) {
		names[strings.TrimSpace(name)] = true
	}
	return names
})

// CheckZone returns the error of time.LoadLocation for a name, nil for the name of a time zone.
func CheckZone(name string) error {
	switch {
	case zones()[name]:
		return nil
	case strings.Contains(name, "..") || name[0] == '/' || name[0] == '\\':
		return errors.New("time: invalid location name")
	}
	return errors.New("unknown time zone " + name)
}
