package crd

import (
	"sync"

	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/crd/structural"
	"github.com/kubesim/kubesim/sim/field"
)

// compiled is the compiled form of an openAPIV3Schema. It does not change.
type compiled struct {
	schema, root *structural.Schema
	rules        *cel.Rules
}

// source identifies a schema and the environment of its rules.
type source struct {
	minor int
	raw   string
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
		c.rules, _ = cel.CompileVersion(expr.Environment{Minor: of.minor, Stored: true}, openAPI, expr.Known{}, field.Path{}, nil) // errors were reported when the definition was written
		compilations.all[of] = c
	}
	return c
}
