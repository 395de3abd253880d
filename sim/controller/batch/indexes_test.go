package batch

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/matryer/is"
)

func TestIndexes(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", ""},
		{"1,3-5,7", "1,3-5,7"},
		{"1,2", "1,2"}, // two indexes are not a range
		{"1,2,3", "1-3"},
		{"0-1", "0,1"},
		{"3,x,5", "3,5"}, // parts that are not numbers are ignored
		{"7-12", "7-9"},  // indexes beyond the completions are ignored
		{"9,10", "9"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			is := is.New(t)
			is.Equal(parseIndexes(tt.text, 10).String(), tt.want) // the format of a Job's status
		})
	}
}

// set is a naive model of indexes.
type set map[int]bool

func (s set) sorted() (all []int) {
	for i := range 100 {
		if s[i] {
			all = append(all, i)
		}
	}
	return all
}

// TestIndexesAreASet compares random indexes with a naive set.
func TestIndexesAreASet(t *testing.T) {
	is := is.New(t)
	random := rand.New(rand.NewPCG(1, 2))
	draw := func() (x indexes, s set) {
		s = set{}
		for range random.IntN(30) {
			s[random.IntN(40)] = true
		}
		more := s.sorted()
		random.Shuffle(len(more), func(i, j int) { more[i], more[j] = more[j], more[i] })
		return indexes(nil).with(more), s
	}
	for range 500 {
		x, a := draw()
		y, b := draw()
		both, either := 0, set{}
		for i := range 41 {
			is.Equal(x.has(i), a[i]) // has
			if a[i] && b[i] {
				both++
			}
			if a[i] || b[i] {
				either[i] = true
			}
		}
		is.Equal(x.count(), len(a))                                                // count
		is.Equal(x.common(y), both)                                                // common
		is.Equal(y.common(x), both)                                                // common
		is.Equal(x.merge(y).String(), indexes(nil).with(either.sorted()).String()) // merge
		is.Equal(parseIndexes(x.String(), 40).String(), x.String())                // parsed again
		n, limit := random.IntN(10), random.IntN(45)
		var free []int
		for i := 0; i < limit && len(free) < n; i++ {
			if !a[i] {
				free = append(free, i)
			}
		}
		is.True(slices.Equal(x.missing(n, limit), free)) // missing
	}
}

func FuzzIndexes(f *testing.F) {
	f.Add("1,3-5,7", 10)
	f.Add("5-3,,-", 4)
	f.Fuzz(func(t *testing.T, text string, completions int) {
		for _, s := range parseIndexes(text, completions) {
			if s.last >= completions {
				t.Errorf("%q of %d: %v", text, completions, s)
			}
		}
	})
}
