package registry_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/status"
)

func create(_ *testing.T, x *trial) *status.Status {
	_, s := x.reg.Create(x.q, x.obj)
	return s
}

// updating returns a request that updates the existing object a.
func updating(kind registry.ChangeKind) func(*testing.T, *trial) *status.Status {
	return func(t *testing.T, x *trial) *status.Status {
		x.present(t)
		return x.update(kind)
	}
}

// present stores the object of the request.
func (x *trial) present(t *testing.T) {
	away := x.Unreachable
	x.Unreachable = false
	x.stored(t, "a")
	x.Unreachable = away
}

func (x *trial) update(kind registry.ChangeKind) *status.Status {
	_, s := x.reg.Update(x.q, registry.Change{Kind: kind, Make: func(object.Object) (object.Object, *status.Status) {
		if x.unmade {
			return nil, status.BadRequest("unmade")
		}
		return x.obj, nil
	}})
	return s
}

func remove(t *testing.T, x *trial) *status.Status {
	x.present(t)
	_, s := x.reg.Delete(x.q, x.del)
	return s
}

// createSteps are the steps of a create (registry/generic/registry.Store.Create, and those of the handler before it).
var createSteps = []step{
	otherNamespace,
	unconvertible,
	{"definition is not being deleted", func(_ *testing.T, x *trial) { x.def.Terminating = true }, "create not allowed while custom resource definition is terminating"},
	refuses("mutating admission"),
	refuses("escalation"),
	refuses("allocation"),
	refuses("validation"),
	refuses("validating admission"),
	{"no resourceVersion is sent", func(_ *testing.T, x *trial) { x.obj.Set("7", "metadata", "resourceVersion") },
		"resourceVersion should not be set on objects to be created"},
	unreachable,
	{"name is free", func(t *testing.T, x *trial) { x.present(t) }, `configmaps "a" already exists`},
	refuses("hook before the store"),
	tooLarge,
}

func TestCreateInOrder(t *testing.T) {
	t.Parallel()
	inOrder(t, create, createSteps)
}

// updateSteps are the steps of an update by PUT (registry/generic/registry.Store.Update): the optimistic lock follows mutating
// admission and precedes validation.
var updateSteps = []step{
	noName,
	unmade,
	otherNamespace,
	otherName,
	uid,
	unconvertible,
	refuses("mutating admission"),
	refuses("escalation"),
	conflict,
	refuses("allocation"),
	refuses("validation"),
	refuses("validating admission"),
	unreachable,
	refuses("hook before the store"),
	tooLarge,
}

func TestUpdateInOrder(t *testing.T) {
	t.Parallel()
	inOrder(t, updating(registry.Put), updateSteps)
}

// A patch has the same steps, but a uid in it is not a precondition: it is an invalid change.
func TestPatchInOrder(t *testing.T) {
	t.Parallel()
	steps := without(updateSteps, uid.name)
	inOrder(t, updating(registry.Patch), steps)
	inOrder(t, updating(registry.Apply), steps)

	is := is.New(t)
	x := newTrial(t)
	uid.fail(t, x)
	s := updating(registry.Patch)(t, x)
	is.Equal(s.Code, 422)
	is.True(strings.Contains(s.Message, "metadata.uid: Invalid value: \"other\": field is immutable"))
}

// updateMissingSteps are the steps of an update that creates a missing object: a PUT if the strategy allows it, or an apply. The
// first checks are those of an update. The steps of a create follow, including the check whether the user may create the object.
var updateMissingSteps = []step{
	noName,
	unreachable,
	unmade,
	otherNamespace,
	otherName,
	{uid.name, uid.fail, " other"},
	{"resourceVersion is a number", func(_ *testing.T, x *trial) { x.obj.Set("x", "metadata", "resourceVersion") }, `strconv.ParseUint: parsing "x": invalid syntax`},
	unconvertible,
	refuses("mutating admission"),
	refuses("escalation"),
	refuses("allocation"),
	refuses("validation"),
	refuses("right to create"),
	refuses("validating admission"),
	refuses("hook before the store"),
	tooLarge,
}

// An apply compares the uid before the namespace and the name.
func TestApplyOfMissingInOrder(t *testing.T) {
	t.Parallel()
	i := slices.IndexFunc(updateMissingSteps, func(s step) bool { return s.name == uid.name })
	steps := slices.Insert(without(updateMissingSteps, uid.name), i-2, updateMissingSteps[i])
	inOrder(t, func(_ *testing.T, x *trial) *status.Status { return x.update(registry.Apply) }, steps)
}

func TestUpdateOfMissingInOrder(t *testing.T) {
	t.Parallel()
	inOrder(t, func(_ *testing.T, x *trial) *status.Status {
		x.def.Strategy.AllowCreateOnUpdate = true
		return x.update(registry.Put)
	}, updateMissingSteps)
	missing := step{"object is there", func(*testing.T, *trial) {}, `configmaps "a" not found`}
	for _, kind := range []registry.ChangeKind{registry.Put, registry.Patch, registry.Internal} { // these updates do not check anything else
		inOrder(t, func(_ *testing.T, x *trial) *status.Status { return x.update(kind) },
			[]step{noName, unreachable, missing}, updateMissingSteps[2:]...)
	}
}

// deleteSteps are the steps of a delete (registry/generic/registry.Store.Delete): preconditions are checked before admission.
var deleteSteps = []step{
	noName,
	refuses("strategy allows deletion"),
	{"uid, a precondition", func(_ *testing.T, x *trial) { x.del.UID = new("other") }, "the UID in the precondition (other) does not match"},
	{"resourceVersion, a precondition", func(_ *testing.T, x *trial) { x.del.ResourceVersion = new("7") }, "the ResourceVersion in the precondition (7) does not match"},
	refuses("mutating admission"),
	refuses("validating admission"),
	unreachable,
	refuses("hook before the store"),
}

func TestDeleteInOrder(t *testing.T) {
	t.Parallel()
	inOrder(t, remove, deleteSteps)
	missing := step{"object is there", func(*testing.T, *trial) {}, `configmaps "a" not found`}
	inOrder(t, func(_ *testing.T, x *trial) *status.Status {
		_, s := x.reg.Delete(x.q, x.del)
		return s
	}, []step{noName, refuses("strategy allows deletion"), unreachable, missing}, deleteSteps[2:6]...)
}

// A deletecollection lists, and then deletes each object like a separate request, except that the strategy is not called to check
// whether the name may be deleted.
func TestDeleteCollectionInOrder(t *testing.T) {
	t.Parallel()
	steps := append([]step{badToken, badVersion, {unreachable.name, unreachable.fail, unreachable.want}}, without(deleteSteps, noName.name, unreachable.name, "strategy allows deletion")...)
	inOrder(t, collection, steps)
	is := is.New(t)
	x := newTrial(t)
	x.refusing["strategy allows deletion"] = true
	is.True(collection(t, x) == nil)
}

func collection(t *testing.T, x *trial) (s *status.Status) {
	x.present(t)
	x.reg.DeleteCollection(x.q, x.list, x.del, func(_ *registry.Page, failed *status.Status) { s = failed })
	return s
}

// TestWhoIsAsked checks which steps run, in order, for a request that succeeds.
func TestWhoIsAsked(t *testing.T) {
	t.Parallel()
	written := []string{"mutating admission", "escalation", "strategy prepares", "allocation", "validation", "strategy warns"}
	created := append(slices.Clone(written), "strategy canonicalizes")
	end := []string{"validating admission", "hook before the store"}
	for _, c := range []struct {
		verb string
		do   func(*testing.T, *trial) *status.Status
		want []string
	}{
		{"create", create, append(slices.Clone(created), end...)},
		{"update", updating(registry.Put), append(slices.Clone(written), end...)},
		{"patch", updating(registry.Patch), append(slices.Clone(written), end...)},
		{"apply", updating(registry.Apply), append(slices.Clone(written), end...)},
		{"apply of a missing object", func(_ *testing.T, x *trial) *status.Status { return x.update(registry.Apply) },
			append(append(slices.Clone(created), "right to create"), end...)},
		{"update that changes nothing", func(t *testing.T, x *trial) *status.Status {
			x.obj = config("a")
			return updating(registry.Put)(t, x)
		}, append(slices.Clone(written), "validating admission")},
		{"delete", remove, append([]string{"strategy allows deletion", "mutating admission"}, end...)},
		{"deletecollection", collection, append([]string{"mutating admission"}, end...)},
	} {
		t.Run(c.verb, func(t *testing.T) {
			is := is.New(t)
			x := newTrial(t)
			is.True(c.do(t, x) == nil)
			is.Equal(x.asked, c.want)
		})
	}
}

// Admission webhooks are called without the lock. If another client writes the object meanwhile, a PUT, which must not overwrite an
// unknown state, fails with a conflict, and every other verb starts again.
func TestWrittenDuringAdmission(t *testing.T) {
	t.Parallel()
	for kind, want := range map[registry.ChangeKind]int{registry.Put: 1, registry.Patch: 2, registry.Apply: 2} {
		is := is.New(t)
		x := newTrial(t)
		x.present(t)
		asked := 0
		x.reg.Admission[0].Mutate = x.meanwhile(t, &asked)
		s := x.update(kind)
		is.Equal(asked, want)
		is.Equal(s != nil, kind == registry.Put)
	}
}
