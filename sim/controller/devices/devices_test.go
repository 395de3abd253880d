package devices

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

// classes implements Cluster. Its shares are numbered.
type classes struct {
	all    map[string]object.Object
	shares int
}

func (c *classes) Class(name string) object.Object { return c.all[name] }

func (c *classes) NewShareID() string {
	c.shares++
	return fmt.Sprint("share-", c.shares)
}

// parsed returns the object that a JSON text describes.
func parsed(t *testing.T, text string, args ...any) object.Object {
	t.Helper()
	obj, err := object.Parse(fmt.Appendf(nil, text, args...))
	if err != nil {
		t.Fatalf("%v in %s", err, fmt.Sprintf(text, args...))
	}
	return obj
}

// world is a cluster in which devices are allocated.
type world struct {
	t *testing.T
	Allocator
}

func newWorld(t *testing.T) *world {
	t.Helper()
	c := &classes{all: map[string]object.Object{"any": {"metadata": map[string]any{"name": "any"}}}}
	return &world{t, Allocator{Features: Features{true, true, true, true}, Minor: 36, Catalog: &Catalog{}, Usage: &Usage{}, Cluster: c}}
}

// slice publishes the only slice of a pool of node-1.
func (w *world) slice(pool, devices string) {
	w.t.Helper()
	w.Catalog.Put(parsed(w.t, `{"metadata":{"name":%q},"spec":{"driver":"d","nodeName":"node-1","pool":{"name":%[1]q,"generation":1,"resourceSliceCount":1},"devices":%s}}`,
		pool, devices))
}

// claim returns a claim with the members of spec.devices.
func (w *world) claim(name, devices string) object.Object {
	w.t.Helper()
	return parsed(w.t, `{"metadata":{"namespace":"ns","name":%q},"spec":{"devices":{%s}}}`, name, devices)
}

// allocate allocates the claims on node-1 and returns the names of the devices of each, or an error.
func (w *world) allocate(claims ...object.Object) (names [][]string, err error) {
	w.t.Helper()
	all, ok, err := w.Allocate(Node{Name: "node-1"}, claims)
	if err != nil || !ok {
		return nil, err
	}
	for i, a := range all {
		var own []string
		for _, r := range a.Objects("devices", "results") {
			own = append(own, r.String("device"))
		}
		names = append(names, own)
		claims[i].Set(map[string]any(a), "status", "allocation")
	}
	return names, nil
}

func exactly(name, more string) string {
	return fmt.Sprintf(`{"name":%q,"exactly":{"deviceClassName":"any","allocationMode":"ExactCount","count":1%s}}`, name, more)
}

func TestRejects(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ devices, slices, want string }{
		"class":      {`"requests":[{"name":"r","exactly":{"deviceClassName":"other","allocationMode":"ExactCount","count":1}}]`, `[{"name":"x"}]`, `claim ns/c, request r: could not retrieve device class other: deviceclass.resource.k8s.io "other" not found`},
		"too many":   {`"requests":[` + exactly("r", "") + `,{"name":"s","exactly":{"deviceClassName":"any","allocationMode":"ExactCount","count":32}}]`, `[{"name":"x"}]`, "claim ns/c: number of requested devices 33 exceeds the claim limit of 32"},
		"compile":    {`"requests":[` + exactly("r", `,"selectors":[{"cel":{"expression":"device.nothing"}}]`) + `]`, `[{"name":"x"}]`, "claim ns/c: selector #0: CEL compile error: compilation failed: ERROR: <input>:1:7: undefined field 'nothing'\n | device.nothing\n | ......^"},
		"constraint": {`"requests":[{"name":"r","exactly":{"deviceClassName":"any","allocationMode":"All"}}],"constraints":[{"matchAttribute":"d/numa"}]`, `[{"name":"x","attributes":{"numa":{"int":1}}},{"name":"y","attributes":{"numa":{"int":2}}}]`, "claim ns/c, request r: cannot add device d/p/y because a claim constraint would not be satisfied"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is, w := is.New(t), newWorld(t)
			w.slice("p", c.slices)
			_, err := w.allocate(w.claim("c", c.devices))
			is.True(err != nil)
			is.Equal(err.Error(), c.want)
		})
	}
}

// TestGates checks that features that are off do not allocate devices that need them.
func TestGates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		off    func(f *Features)
		device string
	}{
		"counters":   {func(f *Features) { f.Partitions = false }, `{"name":"x","consumesCounters":[{"counterSet":"s","counters":{"c":{"value":"1"}}}]}`},
		"conditions": {func(f *Features) { f.Conditions = false }, `{"name":"x","bindingConditions":["ready"],"bindingFailureConditions":["failed"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is, w := is.New(t), newWorld(t)
			c.off(&w.Features)
			w.slice("p", `[`+c.device+`,{"name":"y"}]`)
			names, err := w.allocate(w.claim("c", `"requests":[`+exactly("r", "")+`]`))
			is.NoErr(err)
			is.Equal(names, [][]string{{"y"}})
		})
	}
}

// TestSharesAreReleased checks that the capacity of a shared device is available again after its claims are removed.
func TestSharesAreReleased(t *testing.T) {
	t.Parallel()
	is, w := is.New(t), newWorld(t)
	w.slice("p", `[{"name":"nic","allowMultipleAllocations":true,"capacity":{"gbps":{"value":"10","requestPolicy":{"default":"4","validValues":["4","6"]}}}}]`)
	claims := []object.Object{w.claim("a", `"requests":[`+exactly("r", "")+`]`), w.claim("b", `"requests":[`+exactly("r", `,"capacity":{"requests":{"gbps":"5"}}`)+`]`),
		w.claim("c", `"requests":[`+exactly("r", "")+`]`)}
	for i, want := range []bool{true, true, false} {
		names, err := w.allocate(claims[i])
		is.NoErr(err)
		is.Equal(names != nil, want) // 4 and 6 of 10 are in use then
		w.Usage.Put(claims[i])
	}
	is.Equal(Results(claims[1])[0].String("consumedCapacity", "gbps"), "6")
	w.Usage.Remove(keyFor("b"))
	names, err := w.allocate(claims[2])
	is.NoErr(err)
	is.Equal(names, [][]string{{"nic"}})
	w.Usage.Remove(keyFor("a"))
	w.Usage.Remove(keyFor("c"))
	is.Equal(len(w.Usage.capacity)+len(w.Usage.shares)+len(w.Usage.claims), 0)
}

// TestAgainstModel compares the allocator with a search that tries every assignment of devices, for random pools, counters, taints,
// attributes and claims. The search knows no shortcuts: it enumerates the assignments in order, and checks each as a whole.
func TestAgainstModel(t *testing.T) {
	t.Parallel()
	rounds := 4000
	if testing.Short() {
		rounds = 600
	}
	fitting := 0
	for seed := range rounds {
		g := &generator{newWorld(t), rand.New(rand.NewPCG(uint64(seed), 3)), nil}
		g.publish()
		claims := []object.Object{g.claim("a")}
		if g.IntN(2) == 0 {
			claims = append(claims, g.claim("b"))
		}
		got, err := g.allocate(claims...)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		want := g.model(claims)
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("seed %d: the allocator chooses %v, the model %v\nslices %s\nclaims %s", seed, got, want, object.JSON(object.Copy(g.slices)), object.JSON(toAny(claims)))
		}
		if want != nil {
			fitting++
		}
	}
	if fitting < rounds/5 || fitting > rounds*19/20 {
		t.Errorf("%d of %d rounds have a solution: the generator draws trivial claims", fitting, rounds)
	}
}

func toAny(all []object.Object) (list []any) {
	for _, o := range all {
		list = append(list, map[string]any(o))
	}
	return list
}

// generator draws clusters and claims.
type generator struct {
	*world
	*rand.Rand
	slices []any
}

// publish publishes two pools of node-1. The first has counters.
func (g *generator) publish() {
	device := func(name string, counted bool) string {
		more := ""
		if counted {
			more += fmt.Sprintf(`,"consumesCounters":[{"counterSet":"s","counters":{"c":{"value":"%d"}}}]`, 1+g.IntN(3))
		}
		if g.IntN(5) == 0 {
			more += `,"taints":[{"key":"broken","effect":"NoSchedule"}]`
		}
		return fmt.Sprintf(`{"name":%q,"attributes":{"model":{"string":%q},"numa":{"int":%d}}%s}`, name, string("xy"[g.IntN(2)]), g.IntN(3), more)
	}
	list := func(prefix string, counted bool) (text string) {
		for i := range 1 + g.IntN(3) {
			if i > 0 {
				text += ","
			}
			text += device(fmt.Sprint(prefix, i), counted)
		}
		return text
	}
	for _, text := range []string{
		fmt.Sprintf(`{"metadata":{"name":"p0"},"spec":{"driver":"d","nodeName":"node-1","pool":{"name":"p","generation":1,"resourceSliceCount":2},"sharedCounters":[{"name":"s","counters":{"c":{"value":"%d"}}}]}}`, 2+g.IntN(4)),
		`{"metadata":{"name":"p1"},"spec":{"driver":"d","nodeName":"node-1","pool":{"name":"p","generation":1,"resourceSliceCount":2},"devices":[` + list("p", true) + `]}}`,
		`{"metadata":{"name":"q"},"spec":{"driver":"d","nodeName":"node-1","pool":{"name":"q","generation":1,"resourceSliceCount":1},"devices":[` + list("q", false) + `]}}`,
	} {
		obj := parsed(g.t, "%s", text)
		g.slices = append(g.slices, map[string]any(obj))
		g.Catalog.Put(obj)
	}
	if g.IntN(2) == 0 { // a device of the first pool is in use
		used := g.claim("used")
		used.Set([]any{map[string]any{"driver": "d", "pool": "p", "device": "p0", "request": "r"}}, "status", "allocation", "devices", "results")
		g.Usage.Put(used)
	}
}

// claim draws a claim of one or two requests, each of them exact or a prioritised list, and perhaps a constraint.
func (g *generator) claim(name string) object.Object {
	spec := func() string {
		more := ""
		if g.IntN(2) == 0 {
			more += fmt.Sprintf(`,"selectors":[{"cel":{"expression":"device.attributes[\"d\"].model == %s"}}]`, []string{`\"x\"`, `\"y\"`}[g.IntN(2)])
		}
		if g.IntN(4) == 0 {
			more += `,"tolerations":[{"key":"broken","operator":"Exists"}]`
		}
		return fmt.Sprintf(`"deviceClassName":"any","allocationMode":"ExactCount","count":%d%s`, 1+g.IntN(2), more)
	}
	requests := ""
	for i := range 1 + g.IntN(2) {
		if i > 0 {
			requests += ","
		}
		if g.IntN(3) == 0 {
			requests += fmt.Sprintf(`{"name":"r%d","firstAvailable":[{"name":"a",%s},{"name":"b",%s}]}`, i, spec(), spec())
		} else {
			requests += fmt.Sprintf(`{"name":"r%d","exactly":{%s}}`, i, spec())
		}
	}
	constraint := ""
	switch g.IntN(3) {
	case 0:
		constraint = `,"constraints":[{"matchAttribute":"d/numa"}]`
	case 1:
		g.Minor = 37 // before, the last devices of requests are compared only
		constraint = `,"constraints":[{"distinctAttribute":"d/numa"}]`
	}
	return g.world.claim(name, `"requests":[`+requests+`]`+constraint)
}

func keyFor(name string) controller.Key { return controller.Key{Namespace: "ns", Name: name} }

// want is a device that an assignment has to name.
type want struct {
	claim int
	spec  object.Object
}

// model returns the first assignment that is allowed. For each request in turn it tries the alternatives in order, and for each of
// them the sets of devices in order.
func (g *generator) model(claims []object.Object) [][]string {
	var all []object.Object
	for _, s := range g.slices {
		all = append(all, object.As(s).Objects("spec", "devices")...)
	}
	var wants []want
	var picked []int
	var next func(claim, request int) bool
	var devices func(claim, request, from, left int, spec object.Object) bool
	devices = func(claim, request, from, left int, spec object.Object) bool {
		if left == 0 {
			return next(claim, request+1)
		}
		for i := from; i < len(all); i++ {
			if slices.Contains(picked, i) {
				continue
			}
			wants, picked = append(wants, want{claim, spec}), append(picked, i)
			if devices(claim, request, i+1, left-1, spec) {
				return true
			}
			wants, picked = wants[:len(wants)-1], picked[:len(picked)-1]
		}
		return false
	}
	next = func(claim, request int) bool {
		if claim == len(claims) {
			return g.allowed(claims, wants, picked, all)
		}
		requests := claims[claim].Objects("spec", "devices", "requests")
		if request == len(requests) {
			return next(claim+1, 0)
		}
		options := requests[request].Objects("firstAvailable")
		if len(options) == 0 {
			options = []object.Object{requests[request].At("exactly")}
		}
		for _, o := range options {
			if devices(claim, request, 0, int(o.Int64("count")), o) {
				return true
			}
		}
		return false
	}
	if !next(0, 0) {
		return nil
	}
	out := make([][]string, len(claims))
	for i, w := range wants {
		out[w.claim] = append(out[w.claim], all[picked[i]].String("name"))
	}
	return out
}

// allowed checks a complete assignment.
func (g *generator) allowed(claims []object.Object, wants []want, picked []int, all []object.Object) bool {
	left := quantity.Of(object.As(g.slices[0]).Objects("spec", "sharedCounters")[0].Map("counters")["c"].(map[string]any)["value"])
	numa := make([][]int64, len(claims))
	counts := func(d object.Object) {
		for _, c := range d.Objects("consumesCounters") {
			left = left.Sub(quantity.Of(object.As(c.Map("counters")["c"])["value"]))
		}
	}
	for _, d := range all {
		if g.Usage.exclusive[ID{"d", "p", d.String("name")}] > 0 {
			counts(d)
		}
	}
	counted := false
	for i, w := range wants {
		d := all[picked[i]]
		counted = counted || d.Has("consumesCounters")
		if g.Usage.exclusive[ID{"d", "p", d.String("name")}] > 0 || d.Has("taints") && !w.spec.Has("tolerations") {
			return false
		}
		for _, s := range w.spec.Objects("selectors") {
			expression := s.String("cel", "expression")
			if model := expression[len(expression)-2 : len(expression)-1]; d.String("attributes", "model", "string") != model {
				return false
			}
		}
		counts(d)
		numa[w.claim] = append(numa[w.claim], d.Int64("attributes", "numa", "int"))
	}
	if counted && left.Sign() < 0 {
		return false
	}
	for i, c := range claims {
		for _, x := range c.Objects("spec", "devices", "constraints") {
			values := slices.Clone(numa[i])
			slices.Sort(values)
			if distinct := len(slices.Compact(values)); x.Has("matchAttribute") && distinct > 1 || x.Has("distinctAttribute") && distinct < len(numa[i]) {
				return false
			}
		}
	}
	return true
}
