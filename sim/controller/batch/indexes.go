package batch

import (
	"slices"
	"strconv"
	"strings"
)

// indexes are completion indexes in the format of a Job's status, such as 1,3-5,7. The spans are sorted, and neither overlap nor
// adjoin each other.
type indexes []span

type span struct{ first, last int }

// parseIndexes parses the output of String for a Job with the given number of completions. It ignores indexes beyond the
// completions and anything that is not a number.
func parseIndexes(text string, completions int) (all indexes) {
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		if err != nil {
			continue
		}
		if first >= completions {
			break
		}
		last := first
		if isRange {
			if last, err = strconv.Atoi(to); err != nil {
				continue
			}
		}
		all = all.add(span{first, min(last, completions-1)})
	}
	return all
}

// add appends a span, which must not begin before the last span, and returns the result.
func (x indexes) add(s span) indexes {
	if n := len(x); n > 0 && s.first <= x[n-1].last+1 {
		x[n-1].last = max(x[n-1].last, s.last)
		return x
	}
	return append(x, s)
}

// merge returns the union of x and y.
func (x indexes) merge(y indexes) (all indexes) {
	for len(x) > 0 || len(y) > 0 {
		if len(y) == 0 || len(x) > 0 && x[0].first < y[0].first {
			all, x = all.add(x[0]), x[1:]
		} else {
			all, y = all.add(y[0]), y[1:]
		}
	}
	return all
}

// with returns the union of x and more, which need not be sorted.
func (x indexes) with(more []int) indexes {
	var y indexes
	for _, i := range slices.Sorted(slices.Values(more)) {
		y = y.add(span{i, i})
	}
	return x.merge(y)
}

// common returns the number of indexes in both x and y.
func (x indexes) common(y indexes) (n int) {
	for len(x) > 0 && len(y) > 0 {
		n += max(0, min(x[0].last, y[0].last)-max(x[0].first, y[0].first)+1)
		if x[0].last < y[0].last {
			x = x[1:]
		} else {
			y = y[1:]
		}
	}
	return n
}

// count returns the number of indexes.
func (x indexes) count() (n int) {
	for _, s := range x {
		n += s.last - s.first + 1
	}
	return n
}

func (x indexes) has(i int) bool {
	n, _ := slices.BinarySearchFunc(x, i, func(s span, i int) int { return s.last - i })
	return n < len(x) && x[n].first <= i
}

// missing returns the first n indexes below a limit that are not in x.
func (x indexes) missing(n, limit int) (free []int) {
	next := 0
	for _, s := range append(x[:len(x):len(x)], span{limit, limit}) {
		for ; next < min(s.first, limit) && len(free) < n; next++ {
			free = append(free, next)
		}
		next = max(next, s.last+1)
	}
	return free
}

// String returns the indexes in the format of a status. Only three or more consecutive indexes become a range.
func (x indexes) String() string {
	var b []byte
	for _, s := range x {
		if len(b) > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(s.first), 10)
		if s.last > s.first {
			between := byte('-')
			if s.last == s.first+1 {
				between = ','
			}
			b = strconv.AppendInt(append(b, between), int64(s.last), 10)
		}
	}
	return string(b)
}
