package conformance_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/conformance"
)

// varied returns a variation of a case: the case with one to four changes drawn from seed, which its title describes. The same
// case, seed and donors always give the same variation. The variation has no recorded responses; Ask records them.
//
//	steps      dropped, repeated, swapped, taken from another case, a read after a write
//	requests   another patch type or verb, subresource, query parameter, Accept, field manager, user
//	bodies     members removed, values replaced with edge cases or values of another case, items duplicated, unknown members
//
// Directives stay with their steps, so that random values are still masked.
func varied(c conformance.Case, seed uint64, donors []conformance.Case) conformance.Case {
	h := fnv.New64a()
	h.Write([]byte(c.ID()))
	v := &variation{Rand: rand.New(rand.NewPCG(seed, h.Sum64())), donors: donors, names: map[string]int{}}
	v.c = c
	v.c.Name = fmt.Sprintf("%s-%d", c.Name, seed)
	v.c.Steps = slices.Clone(c.Steps)
	for i, s := range c.Steps {
		v.names[s.Name] = 1
		if s.Until != nil { // the result that a variation waits for may never come
			v.c.Steps[i].Until = &conformance.Until{Status: s.Until.Status, Within: min(s.Until.Within, untilMax)}
		}
	}
	var said []string
	for tries, want := 0, 1+v.IntN(4); len(said) < want && tries < 40; tries++ {
		if text := pick(v.Rand, changes)(v); text != "" {
			said = append(said, text)
		}
	}
	v.c.Title = strings.Join(append([]string{c.ID()}, said...), "; ")
	return v.c
}

// untilMax is the maximum time that a step of a variation waits for its status. An idle server needs less.
const untilMax = 3 * time.Second

// variation is a case that is being changed.
type variation struct {
	*rand.Rand
	c      conformance.Case
	donors []conformance.Case
	names  map[string]int // number of steps that were made from each step, by name
}

// change makes one change and returns its description, or "" if it does not apply.
type change func(*variation) string

// changes are drawn with equal probability; the most productive changes are listed more than once.
var changes = []change{
	(*variation).dropStep, (*variation).repeatStep, (*variation).swapSteps, (*variation).takeStep,
	(*variation).readBack, (*variation).readBack, (*variation).rewrite, (*variation).rewrite,
	(*variation).subresource, (*variation).query, (*variation).query, (*variation).header, (*variation).header,
	(*variation).body, (*variation).body, (*variation).body, (*variation).body, (*variation).body,
}

// pick returns a random element of choices.
func pick[T any](r *rand.Rand, choices []T) T { return choices[r.IntN(len(choices))] }

// step returns the index of a random request step for which fits returns true, or -1. It skips steps that wait for a
// status: if they changed or moved, the case would race with the server.
func (v *variation) step(fits func(conformance.Step) bool) int {
	var at []int
	for i, s := range v.c.Steps {
		if s.Control == "" && s.Until == nil && (fits == nil || fits(s)) {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return -1
	}
	return pick(v.Rand, at)
}

// change applies f to a random step for which fits returns true. It returns f's description of the change, or "" if no
// step has changed.
func (v *variation) change(fits func(conformance.Step) bool, f func(s *conformance.Step) string) string {
	i := v.step(fits)
	if i < 0 {
		return ""
	}
	s := v.c.Steps[i]
	said := f(&s)
	if said != "" {
		v.c.Steps[i] = s
	}
	return said
}

// insert inserts a copy of s with a unique name at index i.
func (v *variation) insert(i int, s conformance.Step) {
	base := s.Name
	for v.names[s.Name] > 0 {
		v.names[base]++
		s.Name = fmt.Sprintf("%s-%d", base, v.names[base])
	}
	v.names[s.Name] = 1
	v.c.Steps = slices.Insert(v.c.Steps, i, s)
}

func (v *variation) dropStep() string {
	i := v.step(nil)
	if i < 0 || len(v.c.Steps) < 3 {
		return ""
	}
	name := v.c.Steps[i].Name
	v.c.Steps = slices.Delete(v.c.Steps, i, i+1)
	return "without " + name
}

func (v *variation) repeatStep() string {
	i := v.step(nil)
	if i < 0 {
		return ""
	}
	s := v.c.Steps[i]
	v.insert(i+1+v.IntN(len(v.c.Steps)-i), s)
	return s.Name + " twice"
}

func (v *variation) swapSteps() string {
	if len(v.c.Steps) < 2 {
		return ""
	}
	i := v.IntN(len(v.c.Steps) - 1)
	s := v.c.Steps
	if s[i].Until != nil || s[i+1].Until != nil {
		return ""
	}
	s[i], s[i+1] = s[i+1], s[i]
	return s[i].Name + " before " + s[i+1].Name
}

// takeStep inserts a step of another case. Most such steps refer to objects that do not exist in this case; some refer
// to an object that happens to have the same name.
func (v *variation) takeStep() string {
	if len(v.donors) == 0 {
		return ""
	}
	donor := pick(v.Rand, v.donors)
	if donor.NoNamespace || donor.NeedsControl() || donor.NeedsSecond() || len(donor.Steps) == 0 {
		return ""
	}
	s := pick(v.Rand, donor.Steps)
	if s.Watch != nil || s.Until != nil {
		return ""
	}
	v.insert(v.IntN(len(v.c.Steps)+1), s)
	return s.Name + " of " + donor.ID()
}

// accepts are values of the Accept header.
var accepts = []string{
	"application/json",
	"application/yaml",
	"application/vnd.kubernetes.protobuf",
	"application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
	"application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json",
	"application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json",
	"application/vnd.kubernetes.protobuf,application/json",
}

// readBack adds a read of the object that a step wrote, or of its collection.
func (v *variation) readBack() string {
	i := v.step(func(s conformance.Step) bool { return s.Method != "GET" && s.Watch == nil })
	if i < 0 {
		return ""
	}
	wrote := v.c.Steps[i]
	path, _, _ := strings.Cut(wrote.Target, "?")
	read := conformance.Step{Name: "read-after-" + wrote.Name, Method: "GET", Target: path, Mask: wrote.Mask, Ignore: wrote.Ignore}
	if wrote.Method == "POST" {
		if name := wrote.ObjectName(); name != "" && v.IntN(3) > 0 {
			read.Target += "/" + strings.ReplaceAll(name, "%", "%25")
		}
	} else if v.IntN(4) == 0 {
		read.Target = path[:strings.LastIndex(path, "/")]
	}
	if !strings.Contains(read.Target, "{{ns}}") {
		return "" // a collection that all cases share
	}
	if v.IntN(2) == 0 {
		read.Headers = []conformance.Header{{Name: "Accept", Value: pick(v.Rand, accepts)}}
	}
	v.insert(i+1, read)
	return read.Name
}

// TestVary checks that variations depend only on case and seed, differ from the case, and are valid cases with unique steps.
func TestVary(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	cases, err := conformance.Cases()
	is.NoErr(err)
	changed, seeds := 0, 20
	if testing.Short() {
		seeds = 1
	}
	files, steps := fstest.MapFS{}, map[string]int{}
	for i, c := range cases {
		before := c.String()
		for seed := range uint64(seeds) {
			v := varied(c, seed, cases)
			is.Equal(v.String(), varied(cases[i], seed, cases).String()) // the same again
			is.Equal(c.String(), before)                                 // the case itself is left alone
			names := map[string]bool{}
			for _, s := range v.Steps {
				is.True(!names[s.Name]) // each step has a name of its own
				names[s.Name] = true
			}
			if strings.Contains(v.Title, "; ") {
				changed++
			}
			files[v.ID()+".http"], files[v.ID()+".res"] = &fstest.MapFile{Data: []byte(v.String())}, &fstest.MapFile{}
			steps[v.ID()] = len(v.Steps)
		}
	}
	is.True(changed > len(cases)*seeds*9/10) // nearly every case can be varied
	again, err := conformance.Load(files, ".")
	is.NoErr(err) // the saved files can be read
	is.Equal(len(again), len(cases)*seeds)
	for _, c := range again {
		is.Equal(len(c.Steps), steps[c.ID()])
	}
}
