package registry_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/registry/registrytest"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// trial is one request for a config map in its own environment. Each step (admission, the strategy, …) records that it was called,
// and returns an error if it is configured to. A test may change the stored object, the request and its object.
type trial struct {
	*registrytest.Backend
	reg      *registry.Registry
	def      *resource.Definition // of config maps, whose strategy belongs to the trial
	q        *registry.Request
	obj      object.Object        // object in the request
	list     registry.ListOptions // of list, watch, deletecollection
	del      registry.DeleteOptions
	version  string // resourceVersion of a get
	unmade   bool   // the patch fails to create a new object
	asked    []string
	refusing map[string]bool
}

func newTrial(t *testing.T) *trial {
	t.Helper()
	x := &trial{Backend: registrytest.New(mvcc.New(1), clock.Epoch()), refusing: map[string]bool{}}
	d := *x.Hubs["configmaps"]
	d.Hub, d.Strategy, d.Default = &d, x.strategy(), nil
	x.def = &d
	x.reg = x.Registry()
	x.reg.Admission = admission.Chain{{
		Name:     "trial",
		Mutate:   func(*admission.Attributes) *status.Status { return x.ask("mutating admission") },
		Validate: func(*admission.Attributes) *status.Status { return x.ask("validating admission") },
	}}
	x.reg.Authorizer = authorizer{x}
	x.q = &registry.Request{Caller: caller{x}, Definition: x.def, Namespace: "ns", Name: "a", Manager: "test"}
	x.obj = config("a")
	x.obj.Set("v", "data", "k") // the stored object does not have it
	return x
}

// caller is the registry.Caller of a trial's request.
type caller struct{ *trial }

func (caller) Warn(string) {}

func (caller) Annotate(string, string) {}

func (caller) Watching(*watchcache.Watch) {}

func (caller) Ended(*watchcache.Watch) {}

func (caller) Pass(*watchcache.Watch, watchcache.Notice, codec.Text) bool { return true }

func (c caller) Ready(object.Object, *resource.Item) *status.Status {
	return c.ask("hook before the store")
}

func (c caller) MayCreate() *status.Status { return c.ask("right to create") }

// authorizer is the registry.Authorizer of a trial.
type authorizer struct{ *trial }

func (a authorizer) Escalation(*registry.Request, object.Object, object.Object, resource.Reader) *status.Status {
	return a.ask("escalation")
}

func (authorizer) May(*registry.Request, resource.Access, resource.Reader) *status.Status { return nil }

func (authorizer) Review(string, *resource.Context, object.Object) *status.Status { return nil }

// config returns a config map as clients send it.
func config(name string) object.Object {
	return object.Object{"kind": "ConfigMap", "apiVersion": "v1", "metadata": map[string]any{"name": name}}
}

func (x *trial) strategy() *resource.Strategy {
	return &resource.Strategy{
		PrepareForCreate: func(*resource.Context, object.Object) { x.note("strategy prepares") },
		PrepareForUpdate: func(_ *resource.Context, _, _ object.Object) { x.note("strategy prepares") },
		Allocate: func(*resource.Context, object.Object, object.Object) (field.ErrorList, *status.Status) {
			return nil, x.ask("allocation")
		},
		Validate:       func(*resource.Context, object.Object) field.ErrorList { return x.invalid() },
		ValidateUpdate: func(_ *resource.Context, _, _ object.Object) field.ErrorList { return x.invalid() },
		Canonicalize:   func(object.Object) { x.note("strategy canonicalizes") },
		Warn:           func(_ *resource.Context, _, _ object.Object) { x.note("strategy warns") },
		Undeletable: func(string) string {
			if x.ask("strategy allows deletion") != nil {
				return "refused: strategy allows deletion"
			}
			return ""
		},
	}
}

func (x *trial) invalid() field.ErrorList {
	if s := x.ask("validation"); s != nil {
		return field.ErrorList{field.Forbidden(field.Root("data"), s.Message)}
	}
	return nil
}

func (x *trial) note(step string) { x.asked = append(x.asked, step) }

func (x *trial) ask(step string) *status.Status {
	x.note(step)
	if x.refusing[step] {
		return status.BadRequest("refused: %s", step)
	}
	return nil
}

// stored creates a config map in the store, without recording any steps.
func (x *trial) stored(t *testing.T, name string) {
	t.Helper()
	q := &registry.Request{Definition: x.Hubs["configmaps"], Namespace: "ns", Name: name, Manager: "other"}
	if _, s := x.Registry().Create(q, config(name)); s != nil {
		t.Fatal(s)
	}
}

// step is a step of a verb, a function that makes it fail, and a part of the client's error message.
type step struct {
	name string
	fail func(*testing.T, *trial)
	want string
}

// refuses returns a step that fails because it rejects the request.
func refuses(name string) step {
	return step{name, func(_ *testing.T, x *trial) { x.refusing[name] = true }, "refused: " + name}
}

// inOrder checks that each step fails with its error, and that if two steps fail, the client gets the error of the earlier step.
// unseen are steps that come after the last of steps; because that one always fails, they are never reached.
func inOrder(t *testing.T, do func(*testing.T, *trial) *status.Status, steps []step, unseen ...step) {
	t.Helper()
	for i, first := range steps {
		for _, second := range append(slices.Clone(steps[i:]), unseen...) {
			x := newTrial(t)
			if second.name != first.name {
				second.fail(t, x)
			}
			first.fail(t, x)
			if s := do(t, x); s == nil || !strings.Contains(s.Message, first.want) {
				t.Errorf("%q and %q fail: the client reads %v, want the former's %q", first.name, second.name, s, first.want)
			}
		}
	}
}

// without returns the steps except the named ones.
func without(steps []step, names ...string) []step {
	return slices.DeleteFunc(slices.Clone(steps), func(s step) bool { return slices.Contains(names, s.name) })
}

// Steps of several verbs.
var (
	noName = step{"name of the path", func(_ *testing.T, x *trial) { x.q.Name = ".." }, `Name parameter invalid: "..": may not be '..'`}

	otherNamespace = step{"namespace is that of the path", func(_ *testing.T, x *trial) { x.obj.Set("other", "metadata", "namespace") },
		registry.NamespaceMismatch}

	otherName = step{"name is that of the path", func(_ *testing.T, x *trial) { x.obj.Set("b", "metadata", "name") },
		"the name of the object (b) does not match the name on the URL (a)"}

	uid = step{"uid, a precondition", func(_ *testing.T, x *trial) { x.obj.Set("other", "metadata", "uid") }, "Precondition failed: UID in precondition: other"}

	unconvertible = step{"conversion to the stored version", func(_ *testing.T, x *trial) {
		x.def.ToHub = func(object.Object) (object.Object, error) { return nil, errUnconvertible }
	}, "cannot be handled as a ConfigMap: unconvertible"}

	conflict = step{"resourceVersion is that of the store", func(_ *testing.T, x *trial) { x.obj.Set("1", "metadata", "resourceVersion") },
		status.OptimisticLock}

	unreachable = step{"store in reach", func(_ *testing.T, x *trial) { x.Unreachable = true }, "could not be completed at this time, please try again."}

	tooLarge = step{"room in the store", func(_ *testing.T, x *trial) { x.obj.Set(large, "data", "k") }, "etcdserver: request is too large"}

	unmade = step{"the patch fits", func(_ *testing.T, x *trial) { x.unmade = true }, "unmade"}
)

var large = strings.Repeat("x", 7<<18)

type failure string

func (f failure) Error() string { return string(f) }

const errUnconvertible failure = "unconvertible"
