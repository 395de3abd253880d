package cron

import (
	_ "embed"
	"errors"
	"strings"
	"sync"
)

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
