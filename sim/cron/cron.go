// Package cron parses the schedules of CronJobs, in the format of crontab(5).
//
//	30 6-16/4 * * mon-fri      minute, hour, day of the month, month, day of the week
//	@daily                     0 0 * * *
//	@every 1h30m               an hour and a half after the previous run
//	TZ=Europe/Berlin 0 9 * * * in a time zone
//
// The parser is github.com/robfig/cron, as in the real server. Time zones are checked here: whether a schedule is valid
// must not depend on the machine.
package cron

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/robfig/cron/v3"
)

// Schedule is a parsed schedule. Next returns the first scheduled time after the given one, or the zero time if there is none within
// five years. It uses the location of the given time and ignores Zone.
type Schedule struct {
	cron.Schedule
	Zone string // the time zone that the text names, or ""
}

// Parse parses a schedule. Its errors are those of the real server.
func Parse(spec string) (*Schedule, error) {
	s := &Schedule{}
	if strings.HasPrefix(spec, "TZ=") || strings.HasPrefix(spec, "CRON_TZ=") {
		space := strings.Index(spec, " ")
		if space < 0 { // ParseStandard panics here, and the server recovers
			return nil, errors.New("invalid schedule format: runtime error: slice bounds out of range [:-1]")
		}
		_, s.Zone, _ = strings.Cut(spec[:space], "=")
		if err := CheckZone(s.Zone); err != nil {
			return nil, fmt.Errorf("provided bad location %s: %v", s.Zone, err)
		}
		spec = "TZ=Local" + spec[space:] // a schedule without a zone
	}
	var err error
	s.Schedule, err = cron.ParseStandard(spec)
	return s, err
}

// zoneNames contains the names of the time zones in the IANA database, one per line.
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

// CheckZone returns nil if name is the name of a time zone, "", UTC or Local. Otherwise it returns the error of
// time.LoadLocation.
func CheckZone(name string) error {
	switch {
	case zones()[name]:
		return nil
	case strings.Contains(name, "..") || name[0] == '/' || name[0] == '\\':
		return errors.New("time: invalid location name")
	}
	return errors.New("unknown time zone " + name)
}
