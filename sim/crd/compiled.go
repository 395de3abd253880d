package crd

import (
	"bytes"
	"sync"

	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/crd/structural"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// compiled is the compiled form of an openAPIV3Schema. It does not change.
type compiled struct {
	schema, root *structural.Schema
	typ          *schema.Type // of a resource with the schema
	rules        *cel.Rules
}

// source identifies a schema and the environment of its rules.
type source struct {
	minor      int
	raw        string
	objectMeta *schema.Type
}

// compilations caches compiled schemas, because compiling a large one takes tens of milliseconds: all API servers of a cluster serve
// the same definitions, and so do the clusters of a test that runs repeatedly.
var compilations = struct {
	sync.Mutex
	all map[source]*compiled
}{all: map[source]*compiled{}}

// compilationsMax is the number of schemas at which the cache is emptied.
const compilationsMax = 100

// compile returns the compiled form of a schema from the cache, or compiles it. The compiled form decodes the metadata of embedded
// resources with meta.
func (of source) compile(openAPI map[string]any, meta structural.Meta) *compiled {
	compilations.Lock()
	defer compilations.Unlock()
	c := compilations.all[of]
	if c == nil {
		if len(compilations.all) >= compilationsMax {
			clear(compilations.all)
		}
		c = &compiled{schema: structural.Compile(openAPI, of.minor)}
		c.schema.PruneMetadata(meta)
		c.root = c.schema.Root()
		c.typ = c.schema.TypeOf(of.objectMeta)
		c.rules, _ = cel.CompileVersion(expr.Environment{Minor: of.minor, Stored: true}, openAPI, expr.Known{}, field.Path{}, nil) // errors were reported when the definition was written
		compilations.all[of] = c
	}
	return c
}

// reading is a stored definition, as it was parsed. It does not change, and must not be changed.
type reading struct {
	crd  object.Object
	spec *spec
	text string   // spec and accepted names
	raw  []string // the openAPIV3Schema of each version in JSON; "" for a version without one

	stored []byte // the item's Stored, which determines the form of raw values in crd
}

// readings caches definitions by the JSON of their items. Each API server of a cluster reads them, and so does each server of a test that
// runs repeatedly.
var readings = struct {
	sync.Mutex
	all map[string]*reading
}{all: map[string]*reading{}}

// readingOf returns the reading of an item from the cache, or parses the item.
func readingOf(it *resource.Item) *reading {
	readings.Lock()
	defer readings.Unlock()
	r := readings.all[string(it.Bytes())]
	if r == nil || !bytes.Equal(r.stored, it.Stored()) {
		if len(readings.all) >= compilationsMax {
			clear(readings.all)
		}
		r = read(it.Object())
		r.stored = it.Stored()
		readings.all[string(it.Bytes())] = r
	}
	return r
}

// read returns the reading of a definition.
func read(crd object.Object) *reading {
	r := &reading{crd: crd, spec: specOf(crd), text: string(object.JSON(crd["spec"])) + string(object.JSON(crd.Map("status", "acceptedNames")))}
	for _, x := range r.spec.versions {
		raw := ""
		if s := x.whole.openAPI(); s != nil {
			raw = string(object.JSON(s))
		}
		r.raw = append(r.raw, raw)
	}
	return r
}
