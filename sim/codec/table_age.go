package codec

import (
	"strconv"
	"time"
)

// Age returns how long ago created was, as Age columns print it; the zero time is unknown.
func Age(now, created time.Time) string {
	if created.IsZero() {
		return "<unknown>"
	}
	return HumanDuration(now.Sub(created))
}

// HumanDuration prints a duration with one or two units: the larger it is the less exactly. Clocks that differ by a
// second are forgiven.
//
//	below   2m     10m      3h     8h       2d     8d      2y     8y       above
//	        119s   9m59s    179m   7h59m    47h    7d23h   729d   7y364d   8y
func HumanDuration(d time.Duration) string {
	const day, year = 24 * time.Hour, 365 * 24 * time.Hour
	switch {
	case d <= -2*time.Second:
		return "<invalid>"
	case d < 0:
		return "0s"
	case d < 2*time.Minute:
		return units(d, time.Second, "s", 0, "")
	case d < 10*time.Minute:
		return units(d, time.Minute, "m", time.Second, "s")
	case d < 3*time.Hour:
		return units(d, time.Minute, "m", 0, "")
	case d < 8*time.Hour:
		return units(d, time.Hour, "h", time.Minute, "m")
	case d < 2*day:
		return units(d, time.Hour, "h", 0, "")
	case d < 8*day:
		return units(d, day, "d", time.Hour, "h")
	case d < 2*year:
		return units(d, day, "d", 0, "")
	case d < 8*year:
		return units(d, year, "y", day, "d")
	}
	return units(d, year, "y", 0, "")
}

// units prints d in whole units of one size and, if small is not 0, the remainder in units of the other.
func units(d, large time.Duration, largeName string, small time.Duration, smallName string) string {
	text := strconv.FormatInt(int64(d/large), 10) + largeName
	if small == 0 {
		return text
	}
	if rest := d % large / small; rest > 0 {
		text += strconv.FormatInt(int64(rest), 10) + smallName
	}
	return text
}
