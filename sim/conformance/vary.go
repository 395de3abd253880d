package conformance

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Vary returns what a client might have sent instead: the case with one to four changes drawn from seed, its title
// saying which. The same case, seed and donors always give the same variation. It has no recording: see Ask.
//
//	steps      dropped, repeated, swapped, taken from another case, a read after a write, an abandoned retry
//	requests   another patch type or verb, subresource, query parameter, Accept, field manager, user
//	bodies     members removed, values replaced by edge values or by those of another case, items doubled, unknown members
//
// Directives stay with their steps, so that random values stay masked.
func Vary(c Case, seed uint64, donors []Case) Case {
	h := fnv.New64a()
	h.Write([]byte(c.ID()))
	v := &variation{Rand: rand.New(rand.NewPCG(seed, h.Sum64())), donors: donors, names: map[string]int{}}
	v.c = c
	v.c.Name = fmt.Sprintf("%s-%d", c.Name, seed)
	v.c.recorded = map[string]any{}
	v.c.Steps = slices.Clone(c.Steps)
	for i, s := range c.Steps {
		v.names[s.Name] = 1
		if s.Until != nil { // the result that a variation waits for may never come
			v.c.Steps[i].Until = &Until{s.Until.Status, min(s.Until.Within, untilMax)}
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

// untilMax is the maximal time that a step of a variation waits for its status. It is longer than an idle server needs.
const untilMax = 3 * time.Second

// variation is a case that is being changed.
type variation struct {
	*rand.Rand
	c      Case
	donors []Case
	names  map[string]int // number of steps that were made from each step, by name
}

// change makes one change and returns its description, or "" if it does not apply.
type change func(*variation) string

// changes are drawn with equal probabilities; the most productive ones are listed more than once.
var changes = []change{
	(*variation).dropStep, (*variation).repeatStep, (*variation).swapSteps, (*variation).takeStep,
	(*variation).readBack, (*variation).readBack, (*variation).rewrite, (*variation).rewrite,
	(*variation).subresource, (*variation).query, (*variation).query, (*variation).header, (*variation).header,
	(*variation).body, (*variation).body, (*variation).body, (*variation).body, (*variation).body,
}

// pick returns one of the choices.
func pick[T any](r *rand.Rand, choices []T) T { return choices[r.IntN(len(choices))] }

// step returns the index of a step that is a request and fits, or -1. A step that waits for the server to be so far is
// left as it is, and where it is: without it a case would race with the server.
func (v *variation) step(fits func(Step) bool) int {
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

// change lets f change a step that fits, and returns f's description, or "" if the step is unchanged.
func (v *variation) change(fits func(Step) bool, f func(s *Step) string) string {
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
func (v *variation) insert(i int, s Step) {
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

// takeStep inserts a step of another case. Most refer to nothing that is here; some meet an object of the same name.
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

// accepts are the representations a client may ask for.
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
	i := v.step(func(s Step) bool { return s.Method != "GET" && s.Watch == nil })
	if i < 0 {
		return ""
	}
	wrote := v.c.Steps[i]
	path, _, _ := strings.Cut(wrote.Target, "?")
	read := Step{Name: "read-after-" + wrote.Name, Method: "GET", Target: path, Mask: wrote.Mask, Ignore: wrote.Ignore}
	if wrote.Method == "POST" {
		if name := nameOf(wrote); name != "" && v.IntN(3) > 0 {
			read.Target += "/" + strings.ReplaceAll(name, "%", "%25")
		}
	} else if v.IntN(4) == 0 {
		read.Target = path[:strings.LastIndex(path, "/")]
	}
	if !strings.Contains(read.Target, "{{ns}}") {
		return "" // a collection that all share
	}
	if v.IntN(2) == 0 {
		read.Headers = []Header{{"Accept", pick(v.Rand, accepts)}}
	}
	v.insert(i+1, read)
	return read.Name
}

// nameOf returns the metadata.name of a step's body, or "".
func nameOf(s Step) string {
	body, err := decode([]byte(s.Body))
	if err != nil {
		return ""
	}
	return textAt(body, "metadata", "name")
}
