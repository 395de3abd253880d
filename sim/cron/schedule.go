// Package cron parses the schedules of CronJobs: crontab(5), as github.com/robfig/cron does.
//
//	30 6-16/4 * * mon-fri      minute, hour, day of the month, month, day of the week
//	@daily                     0 0 * * *
//	@every 1h30m               that long after the last time
//	TZ=Europe/Berlin 0 9 * * * by the clock of a time zone
//
// A day has to match both of its fields if one of them is *, and otherwise one of them.
package cron

import "time"

// Schedule is when something happens. The zero Schedule is never.
type Schedule struct {
	Zone string // the time zone that the text names, or ""

	fields [5]bits
	every  time.Duration // instead of fields
}

// bits are the values of a field: 1<<value. any is set if the field is *.
type bits struct {
	values uint64
	any    bool
}

func (b bits) has(value int) bool { return b.values>>value&1 == 1 }

const (
	minute = iota
	hour
	dayOfMonth
	month
	dayOfWeek
)

// horizon is how many years ahead a time is looked for.
const horizon = 5

// Next returns the first time after t, by the clock of t's location; the zero time if there is none within five years. Hours that a
// change of the clock skips are skipped, and those that it repeats come twice. If a day has no midnight, the result may be wrong,
// as that of the real parser (SpecSchedule.Next), which recognizes the end of a day by the hour 0.
func (s *Schedule) Next(t time.Time) time.Time {
	if s.every > 0 {
		return t.Add(s.every - time.Duration(t.Nanosecond()))
	}
	c := cursor{t: t.Add(time.Second - time.Duration(t.Nanosecond()))}
	last := c.t.Year() + horizon
	for {
		for !s.fields[month].has(int(c.t.Month())) && c.t.Year() <= last {
			c.nextMonth()
		}
		if c.t.Year() > last {
			return time.Time{}
		}
		if s.settle(&c) {
			return c.t
		}
	}
}

// settle moves on within a month, and reports false when a day, an hour or a minute ended on the way: then all that is above
// it may be wrong.
func (s *Schedule) settle(c *cursor) bool {
	for !s.onDay(c.t) {
		if c.nextDay(); c.t.Day() == 1 {
			return false
		}
	}
	for !s.fields[hour].has(c.t.Hour()) {
		if c.add(time.Hour); c.t.Hour() == 0 {
			return false
		}
	}
	for !s.fields[minute].has(c.t.Minute()) {
		if c.add(time.Minute); c.t.Minute() == 0 {
			return false
		}
	}
	for c.t.Second() != 0 {
		if c.add(time.Second); c.t.Second() == 0 {
			return false
		}
	}
	return true
}

// onDay reports whether a day is right.
func (s *Schedule) onDay(t time.Time) bool {
	ofMonth, ofWeek := s.fields[dayOfMonth], s.fields[dayOfWeek]
	if ofMonth.any || ofWeek.any {
		return ofMonth.has(t.Day()) && ofWeek.has(int(t.Weekday()))
	}
	return ofMonth.has(t.Day()) || ofWeek.has(int(t.Weekday()))
}

// cursor is a time that moves on: by the largest field that is not right, from where that begins.
type cursor struct {
	t     time.Time
	moved bool
}

// begin sets the time to where a field begins, unless it has moved and is there.
func (c *cursor) begin(start time.Time) {
	if !c.moved {
		c.t, c.moved = start, true
	}
}

// add moves to the next hour, minute or second.
func (c *cursor) add(unit time.Duration) {
	start := c.t.Truncate(unit)
	if unit == time.Hour { // of the clock, not of the day
		start = time.Date(c.t.Year(), c.t.Month(), c.t.Day(), c.t.Hour(), 0, 0, 0, c.t.Location())
	}
	c.begin(start)
	c.t = c.t.Add(unit)
}

func (c *cursor) nextMonth() {
	c.begin(time.Date(c.t.Year(), c.t.Month(), 1, 0, 0, 0, 0, c.t.Location()))
	c.t = c.t.AddDate(0, 1, 0)
}

// nextDay moves to the next midnight. On a day without one it moves to the last hour before, and the day is skipped.
func (c *cursor) nextDay() {
	c.begin(time.Date(c.t.Year(), c.t.Month(), c.t.Day(), 0, 0, 0, 0, c.t.Location()))
	c.t = c.t.AddDate(0, 0, 1)
	switch h := c.t.Hour(); {
	case h > 12:
		c.t = c.t.Add(time.Duration(24-h) * time.Hour)
	case h > 0:
		c.t = c.t.Add(-time.Duration(h) * time.Hour)
	}
}
