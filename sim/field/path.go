package field

import "strconv"

// Path is the path of a field in an object, as the API server prints it in errors: spec.containers[0].name,
// metadata.labels[app]. The zero value is the object itself. A Path is immutable: its methods return a new Path.
//
// Validation visits every field of an object and rarely finds an error, so a Path is formatted only when needed: it
// stores the last steps, and String joins them.
//
//	Root("spec").Child("containers").Index(0).Child("ports").Key("http")
//
//	base  steps[0]          steps[1]  steps[2]
//	spec  .containers [0]   .ports    [http]
//
// When the array of steps is full, they are formatted and become the base. The same path can therefore have two
// representations: to compare paths, compare their Strings.
type Path struct {
	base  string
	steps [maxSteps]step
	n     int8 // number of steps in use
}

// maxSteps suffices for nearly all fields of a pod, and keeps a Path small enough to be passed by value.
const maxSteps = 4

// step is a field or a key with an optional index, or only an index.
type step struct {
	name  string
	index int32 // 1 + the index, or 0 if there is none
	kind  stepKind
}

type stepKind uint8

const (
	fieldStep stepKind = iota
	keyStep
	indexStep // no name
)

// Root returns the path of a top-level field. It also accepts the printed form of any path.
func Root(path string) Path { return Path{base: path} }

// IsRoot reports whether p is the path of the object itself.
func (p Path) IsRoot() bool { return p.base == "" && p.n == 0 }

// Child returns the path of a field below p. Further names continue the path.
func (p Path) Child(names ...string) Path {
	for _, name := range names {
		p.push(step{name: name})
	}
	return p
}

// Key returns the path of the entry with the given key. p must be the path of a map.
func (p Path) Key(key string) Path {
	p.push(step{name: key, kind: keyStep})
	return p
}

// Index returns the path of element i. p must be the path of a list.
func (p Path) Index(i int) Path {
	if p.n > 0 && p.steps[p.n-1].index == 0 {
		p.steps[p.n-1].index = int32(i) + 1
	} else { // a list in a list, or the list is the base
		p.push(step{index: int32(i) + 1, kind: indexStep})
	}
	return p
}

// push adds a step to the path. If the path is empty and the step is a field, it becomes the base.
func (p *Path) push(s step) {
	if p.n == 0 && p.base == "" && s.kind == fieldStep {
		p.base = s.name
		return
	}
	if p.n == maxSteps {
		p.base, p.n = p.text(), 0
	}
	p.steps[p.n] = s
	p.n++
}

// String returns the path in the form that errors use. The empty path is <nil>.
func (p Path) String() string {
	if text := p.text(); text != "" {
		return text
	}
	return "<nil>"
}

// text returns the printed path, or "" for the object itself.
func (p *Path) text() string {
	if p.n == 0 {
		return p.base
	}
	b := make([]byte, 0, 64)
	b = append(b, p.base...)
	for _, s := range p.steps[:p.n] {
		b = s.append(b)
	}
	return string(b)
}

func (s *step) append(b []byte) []byte {
	switch s.kind {
	case fieldStep:
		if s.name != "" {
			b = append(append(b, '.'), s.name...)
		} else { // upstream's field.Path prints it like a key
			b = append(b, "[]"...)
		}
	case keyStep:
		b = append(append(append(b, '['), s.name...), ']')
	}
	if s.index > 0 {
		b = append(strconv.AppendInt(append(b, '['), int64(s.index-1), 10), ']')
	}
	return b
}
