package registry_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/selector"
	"github.com/kubesim/kubesim/sim/status"
)

// with returns do preceded by a change of the trial.
func with(do func(*testing.T, *trial) *status.Status, change func(*trial)) func(*testing.T, *trial) *status.Status {
	return func(t *testing.T, x *trial) *status.Status {
		change(x)
		return do(t, x)
	}
}

// count returns the number of calls of a step.
func (x *trial) count(step string) (n int) {
	for _, asked := range x.asked {
		if asked == step {
			n++
		}
	}
	return n
}

// A dry run calls all steps except the hook before the store, and stores nothing.
func TestDryRunInOrder(t *testing.T) {
	t.Parallel()
	const hook = "hook before the store"
	dry := func(x *trial) { x.q.DryRun = true }
	rules := []string{hook, tooLarge.name, "no resourceVersion is sent"}
	inOrder(t, with(create, dry), without(createSteps, rules...))
	inOrder(t, with(updating(registry.Put), dry), without(updateSteps, rules...))
	inOrder(t, with(remove, dry), without(deleteSteps, rules...))
	kept := func(t *testing.T, x *trial) *status.Status { // its deletion waits for a finalizer
		obj := config("a")
		obj.SetFinalizers([]string{"example.com/kept"})
		q := *x.q
		q.Caller, q.Definition, q.DryRun = nil, x.Hubs["configmaps"], false
		if _, s := x.Registry().Create(&q, obj); s != nil {
			t.Fatal(s)
		}
		_, s := x.reg.Delete(x.q, x.del)
		return s
	}
	for verb, do := range map[string]func(*testing.T, *trial) *status.Status{"create": create, "update": updating(registry.Put),
		"patch": updating(registry.Patch), "delete": remove, "delete of what is kept": kept} {
		t.Run(verb, func(t *testing.T) {
			is := is.New(t)
			wet, x := newTrial(t), newTrial(t)
			x.q.DryRun = true
			is.True(do(t, wet) == nil)
			is.True(do(t, x) == nil)
			is.Equal(x.count(hook), 0)
			is.Equal(x.asked, slices.DeleteFunc(wet.asked, func(step string) bool { return step == hook })) // all other steps
			is.Equal(x.Store().Rev()+1, wet.Store().Rev())                                                  // only the real request writes
		})
	}
}

// An object of a kind without namespaces may have a namespace, which is dropped.
func TestNoNamespace(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	x := newTrial(t)
	x.def.Namespaced, x.q.Namespace = false, ""
	otherNamespace.fail(t, x)
	is.True(create(t, x) == nil)
	is.Equal(x.obj.Namespace(), "")
}

// Kinds that are kept by something other than finalizers check preconditions themselves, with their own messages, even if they are
// already being deleted.
func TestDeleteOfHeldInOrder(t *testing.T) {
	t.Parallel()
	held := func(x *trial) { x.def.Strategy.Held = func(object.Object) bool { return true } }
	own := slices.Clone(deleteSteps)
	own[2].want, own[3].want = "Precondition failed: UID in precondition: other", "Precondition failed: ResourceVersion in precondition: 7"
	inOrder(t, with(remove, held), own)
	leaving := func(t *testing.T, x *trial) *status.Status {
		obj, q := config("a"), *x.q
		obj.SetFinalizers([]string{"example.com/kept"})
		q.Caller, q.Definition = nil, x.Hubs["configmaps"]
		if _, s := x.Registry().Create(&q, obj); s != nil {
			t.Fatal(s)
		}
		if _, s := x.Registry().Delete(&q, registry.DeleteOptions{}); s != nil {
			t.Fatal(s)
		}
		_, s := x.reg.Delete(x.q, x.del)
		return s
	}
	inOrder(t, with(leaving, held), own[2:4])
	inOrder(t, with(remove, func(x *trial) { x.del.Unsafe = true }), deleteSteps[:2]) // the strategy also protects against an unsafe deletion
}

// The store answers reads that the cache cannot serve, even while the cache is being filled.
func TestStoreAnswersInOrder(t *testing.T) {
	t.Parallel()
	future := step{"revision is there", func(_ *testing.T, x *trial) { x.version = "99" }, "Too large resource version: 99, current: 1"}
	inOrder(t, with(get, func(x *trial) { x.Filling = true }), []step{noName, unreachable, future})
	inOrder(t, with(list, func(x *trial) { x.def.Strategy.Uncached, x.Filling = true, true }), []step{badToken, badVersion, unreachable})
	one, err := selector.ParseFields("metadata.name=a")
	if err != nil {
		t.Fatal(err)
	}
	inOrder(t, with(list, func(x *trial) { // the cache has no pages of one object
		x.list.Fields, x.list.ResourceVersion, x.list.Limit, x.Filling = one, "1", 1, true
	}), []step{badToken, unreachable})
}

// If several parameters are invalid, the client gets the error of the first in the order of their decoders.
func TestListOptionsInOrder(t *testing.T) {
	t.Parallel()
	wrong := []struct{ query, want string }{
		{"timeoutSeconds=t", `"t"`},
		{"limit=l", `"l"`},
		{"labelSelector=a%20b", "unable to parse requirement"},
		{"fieldSelector=a", "invalid selector: 'a'"},
		{"resourceVersionMatch=x", "resourceVersionMatch"},
	}
	x := newTrial(t)
	for i, first := range wrong {
		for _, second := range wrong[i:] {
			query, err := url.ParseQuery(second.query + "&" + first.query)
			if err != nil {
				t.Fatal(err)
			}
			if _, s := registry.ParseListOptions(query, x.def); s == nil || !strings.Contains(s.Message, first.want) {
				t.Errorf("%s and %s: the client reads %v, want the former's %q", first.query, second.query, s, first.want)
			}
		}
	}
}

// A write by another client during admission is detected before any further step is called.
func TestWrittenMeanwhileInOrder(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	began := func(mutating bool, do func(*testing.T, *trial) *status.Status) (*trial, *status.Status) {
		x, asked := newTrial(t), 0
		x.present(t)
		write := x.meanwhile(t, &asked)
		if mutating {
			x.reg.Admission[0].Mutate = write
		} else {
			x.reg.Admission[0].Validate = func(a *admission.Attributes) *status.Status {
				x.note("validating admission")
				return write(a)
			}
		}
		return x, do(t, x)
	}
	patch := func(_ *testing.T, x *trial) *status.Status {
		_, s := x.reg.Update(x.q, registry.Change{Kind: registry.Patch, Make: func(object.Object) (object.Object, *status.Status) {
			return x.obj.Copy(), nil // each time
		}})
		return s
	}
	put := func(_ *testing.T, x *trial) *status.Status { return x.update(registry.Put) }
	del := func(_ *testing.T, x *trial) *status.Status { _, s := x.reg.Delete(x.q, x.del); return s }

	x, s := began(true, patch)
	is.True(s == nil)
	is.Equal(x.count("escalation"), 1) // not called for an outdated object
	x, s = began(false, put)
	is.Equal(s.Reason, status.ReasonConflict)
	is.Equal(x.count("hook before the store"), 0)
	for _, do := range []func(*testing.T, *trial) *status.Status{patch, del} {
		x, s = began(false, do)
		is.True(s == nil)
		is.Equal(x.count("validating admission"), 2)  // the whole request was retried
		is.Equal(x.count("hook before the store"), 1) // the outdated object did not reach it
	}
}
