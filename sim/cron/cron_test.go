package cron

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the tests' machine may have none

	"github.com/matryer/is"
)

func TestParse(t *testing.T) {
	tests := []struct{ schedule, want string }{
		{"* * * * *", ""},
		{"*/5 0-12/2 1,15 JAN-mar ?", ""},
		{"@daily", ""},
		{"@every 1h30m", ""},
		{"TZ=UTC 0 0 * * *", ""},
		{"x", "expected exactly 5 fields, found 1: [x]"},
		{"* * * * * *", "expected exactly 5 fields, found 6: [* * * * * *]"},
		{"60 * * * *", "end of range (60) above maximum (59): 60"},
		{"* 5-2 * * *", "beginning of range (5) beyond end of range (2): 5-2"},
		{"* * 0 * *", "beginning of range (0) below minimum (1): 0"},
		{"* * * foo *", `failed to parse int from foo: strconv.Atoi: parsing "foo": invalid syntax`},
		{"*/0 * * * *", "step of range should be a positive number: */0"},
		{"1-2-3 * * * *", "too many hyphens: 1-2-3"},
		{"1/2/3 * * * *", "too many slashes: 1/2/3"},
		{"* * * * 7", "end of range (7) above maximum (6): 7"},
		{"@never", "unrecognized descriptor: @never"},
		{"@every soon", `failed to parse duration @every soon: time: invalid duration "soon"`},
		{"TZ=Nowhere 0 0 * * *", "provided bad location Nowhere: unknown time zone Nowhere"},
		{"TZ=UTC", "invalid schedule format: runtime error: slice bounds out of range [:-1]"},
	}
	for _, tt := range tests {
		t.Run(tt.schedule, func(t *testing.T) {
			is := is.New(t)
			got := ""
			if _, err := Parse(tt.schedule); err != nil {
				got = err.Error()
			}
			is.Equal(got, tt.want) // text of the real parser
		})
	}
}

func at(t *testing.T, text string, in *time.Location) time.Time {
	t.Helper()
	x, err := time.ParseInLocation("2006-01-02 15:04:05", text, in)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestNext(t *testing.T) {
	zone := func(name string) *time.Location {
		in, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	newYork := zone("America/New_York")
	tests := []struct {
		schedule   string
		in         *time.Location
		from, want string // "" is never
	}{
		{"*/15 * * * *", time.UTC, "2026-11-22 10:15:00", "2026-11-22 10:30:00"},
		{"30 6-16/4 * * mon-fri", time.UTC, "2026-11-20 14:30:00", "2026-11-23 06:30:00"},
		{"0 0 29 2 *", time.UTC, "2026-01-01 00:00:00", "2028-02-29 00:00:00"},
		{"0 0 31 2 *", time.UTC, "2026-01-01 00:00:00", ""},
		{"0 0 13 * fri", time.UTC, "2026-11-10 00:00:00", "2026-11-13 00:00:00"}, // either will do
		{"0 0 14 * fri", time.UTC, "2026-11-13 00:00:00", "2026-11-14 00:00:00"},
		{"0 0 */2 * fri", time.UTC, "2026-11-13 00:00:00", "2026-11-15 00:00:00"}, // with a step it is no star
		{"0 0 */1 * fri", time.UTC, "2026-11-13 00:00:00", "2026-11-20 00:00:00"},
		{"@yearly", time.UTC, "2026-11-22 10:15:00", "2027-01-01 00:00:00"},
		{"@weekly", time.UTC, "2026-11-20 00:00:00", "2026-11-22 00:00:00"},
		{"@every 90m", time.UTC, "2026-11-22 10:15:07", "2026-11-22 11:45:07"},
		{"@every 1ms", time.UTC, "2026-11-22 10:15:07", "2026-11-22 10:15:08"},
		{"@every -1h", time.UTC, "2026-11-22 10:15:07", "2026-11-22 10:15:08"},
		{", * * * *", time.UTC, "2026-11-22 10:15:07", ""},
		{"30 2 * * *", newYork, "2026-03-07 12:00:00", "2026-03-09 02:30:00"}, // on the 8th there is no half past two
		{"30 1 * * *", newYork, "2026-11-01 00:00:00", "2026-11-01 01:30:00"},
		{"0 9 * * *", newYork, "2026-11-01 08:00:00", "2026-11-01 09:00:00"},
	}
	for _, tt := range tests {
		t.Run(tt.schedule, func(t *testing.T) {
			is := is.New(t)
			s, err := Parse(tt.schedule)
			is.NoErr(err) // is valid
			next := s.Next(at(t, tt.from, tt.in))
			if tt.want == "" {
				is.True(next.IsZero()) // never
			} else {
				is.Equal(next.String(), at(t, tt.want, tt.in).String()) // the next time
			}
		})
	}
	is := is.New(t)
	s, _ := Parse("30 1 * * *")
	first := s.Next(at(t, "2026-11-01 00:00:00", newYork))
	is.Equal(s.Next(first).Sub(first), time.Hour) // the hour comes twice
}

// minutes searches for the next time of a schedule minute by minute, with the values in each field.
func minutes(fields []string, t time.Time) time.Time {
	names := func(field string, value, min, max int) bool {
		for part := range strings.SplitSeq(field, ",") {
			text, step := part, 1
			if a, b, ok := strings.Cut(part, "/"); ok {
				text = a
				step, _ = strconv.Atoi(b)
			}
			from, to := min, max
			if a, b, ok := strings.Cut(text, "-"); ok {
				from, _ = strconv.Atoi(a)
				to, _ = strconv.Atoi(b)
			} else if text != "*" {
				from, _ = strconv.Atoi(text)
				if to = from; text != part {
					to = max
				}
			}
			if value >= from && value <= to && (value-from)%step == 0 {
				return true
			}
		}
		return false
	}
	star := func(field string) bool { return strings.HasPrefix(field, "*") && !strings.Contains(field, "/") }
	t = t.Truncate(time.Minute)
	for range 60 * 24 * 370 {
		t = t.Add(time.Minute)
		day, week := names(fields[2], t.Day(), 1, 31), names(fields[4], int(t.Weekday()), 0, 6)
		onDay := day || week
		if star(fields[2]) || star(fields[4]) {
			onDay = day && week
		}
		if onDay && names(fields[0], t.Minute(), 0, 59) && names(fields[1], t.Hour(), 0, 23) && names(fields[3], int(t.Month()), 1, 12) {
			return t
		}
	}
	return time.Time{}
}

// For random schedules, the next time equals the result of checking each minute.
func TestNextIsFirst(t *testing.T) {
	zones := []*time.Location{time.UTC}
	for _, name := range []string{"America/New_York", "Asia/Kathmandu"} {
		if in, err := time.LoadLocation(name); err == nil {
			zones = append(zones, in)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	number := func(min, max int) string { return strconv.Itoa(min + random.IntN(max-min+1)) }
	field := func(min, max int) string {
		switch random.IntN(6) {
		case 0:
			return number(min, max) + "," + number(min, max)
		case 1:
			from := min + random.IntN(max-min+1)
			return strconv.Itoa(from) + "-" + number(from, max)
		case 2:
			return "*/" + number(2, 20)
		case 3:
			return number(min, max) + "/" + number(1, 7)
		case 4:
			return number(min, max)
		}
		return "*"
	}
	for range 30 {
		fields := []string{field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6)}
		in := zones[random.IntN(len(zones))]
		from := time.Unix(1767225600+random.Int64N(31536000), random.Int64N(1e9)).In(in)
		s, err := Parse(strings.Join(fields, " "))
		if err != nil {
			t.Fatal(fields, err)
		}
		if got, want := s.Next(from), minutes(fields, from); !want.IsZero() && !got.Equal(want) {
			t.Errorf("%q after %s: got %s, want %s", fields, from, got, want)
		}
	}
}

func FuzzSchedule(f *testing.F) {
	for _, seed := range []string{"* * * * *", "@every 1h", "TZ=UTC 1-5/2 * ? JAN SUN", "TZ=", "@", "0 0 30 2 *"} {
		f.Add(seed, int64(1767225600))
	}
	f.Fuzz(func(t *testing.T, text string, seconds int64) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		from := time.Unix(seconds%(1<<35), 0).UTC()
		if next := s.Next(from); !next.IsZero() && !next.After(from) {
			t.Errorf("%q after %s: %s", text, from, next)
		}
	})
}
