package frobber

import (
	"strings"
	"testing"

	"github.com/matryer/is"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubesim/kubesim/fake"
)

func document(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

// Objects and requests from before the change work as before, with the same meaning.
func TestOldObjectsAndRequests(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := server(t)
	old := clientOf[oldFrobber](t, srv, "v6")
	_, err := old.create(v6 + `"metadata":{"name":"before"},"height":42,"param":"super"}`)
	is.NoErr(err)
	before := old.get("before")

	upgrade(t, srv)
	is.Equal(old.get("before"), before) // to the letter, resourceVersion included: nothing was rewritten
	c := clientOf[newFrobber](t, srv, "v6")
	is.Equal(c.get("before").Width, 1) // the added field has a default, at once
	next := clientOf[nextFrobber](t, srv, "v7beta1")
	is.Equal(next.get("before").Params, []string{"super"}) // a read fills in the plural
	is.Equal(next.get("before").HeightInInches, 42)
	// Reading a custom resource in its storage version runs no code, so there the plural is added by the next write. A server that
	// changes a built-in kind adds it when it decodes the object; a definition needs a storage migration.
	is.Equal(len(c.get("before").Params), 0)
	touched, err := old.put(before)
	is.NoErr(err)
	is.True(touched.ResourceVersion != before.ResourceVersion)
	is.Equal(c.get("before").Params, []string{"super"})

	_, err = old.create(v6 + `"metadata":{"name":"after"},"height":42,"param":"super"}`)
	is.NoErr(err) // what succeeded before succeeds
	_, err = c.patch("after", `{"width":3}`)
	is.NoErr(err)
	_, err = old.patch("after", `{"height":3}`)
	is.NoErr(err)
	is.Equal(c.get("after").Width, 3) // an old client's patch keeps fields that the client does not know
	f := old.get("after")
	f.Height = 4
	_, err = old.put(f)
	is.NoErr(err)
	is.Equal(c.get("after").Width, 1) // its PUT does not: this is why clients should send patches
}

// A field cannot be renamed within a version. If height got a twin with a unit, and each were derived from the other, a client that
// supports only one of them and writes back what it read, with one change, would contradict itself.
func TestTwinsContradict(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := server(t)
	twins := `
          heightInInches: {type: integer}
        x-kubernetes-validations:
        - {rule: "!has(self.height) || !has(self.heightInInches) || self.height == self.heightInInches", message: height is heightInInches}`
	is.NoErr(replace(t, srv, func(s string) string {
		return strings.Replace(s, "policy: {type: string, enum: [Always, Never]}", "policy: {type: string}"+twins, 1)
	}, "testdata/old.yaml"))
	type twin struct {
		oldFrobber
		HeightInInches int `json:"heightInInches"`
	}
	c := clientOf[twin](t, srv, "v6")
	_, err := c.create(v6 + `"metadata":{"name":"f"},"height":10,"heightInInches":10}`) // as a server would fill it in
	is.NoErr(err)
	f := c.get("f")
	f.Height = 13 // a client that lists what it got and changes what it knows
	_, err = c.put(f)
	is.True(apierrors.IsInvalid(err)) // it worked before the change: the promise is broken
}

// A field can only be renamed in a new version. An old and a new client take turns to update one object. Each reads the other's
// changes, no field is lost, and both watches deliver the same changes.
func TestTwoVersionsOneObject(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := server(t)
	upgrade(t, srv)
	old, next := clientOf[newFrobber](t, srv, "v6"), clientOf[nextFrobber](t, srv, "v7beta1")
	a, err := old.objects.Watch(t.Context(), metav1.ListOptions{})
	is.NoErr(err)
	defer a.Stop()
	b, err := next.objects.Watch(t.Context(), metav1.ListOptions{})
	is.NoErr(err)
	defer b.Stop()

	made, err := next.create(v7beta1 +
		`"metadata":{"name":"f"},"heightInInches":10,"widthInInches":5,"params":["super","duper"]}`)
	is.NoErr(err)
	is.Equal(next.get("f"), made) // stored as v6, and all of params is there
	f := old.get("f")
	is.Equal(f.Height, 10)
	is.Equal(f.Param, "super")
	is.Equal(f.Params, []string{"super", "duper"})
	f.Height = 13
	_, err = old.put(f)
	is.NoErr(err)
	g := next.get("f")
	is.Equal(g.HeightInInches, 13)
	_, err = next.put(made)
	is.True(apierrors.IsConflict(err)) // one resourceVersion for both: the new client's copy is old
	g.Params = []string{"hyper", "super"}
	_, err = next.put(g)
	is.NoErr(err)
	f = old.get("f")
	is.Equal(f.Param, "hyper") // the singular follows
	is.Equal(f.Width, 5)
	g = next.get("f")
	g.Params = nil
	_, err = next.put(g)
	is.NoErr(err)
	is.Equal(old.get("f").Param, "") // a client without a singular can clear it

	for _, want := range []watch.EventType{watch.Added, watch.Modified, watch.Modified, watch.Modified} {
		x, y := <-a.ResultChan(), <-b.ResultChan()
		is.Equal(x.Type, want)
		is.Equal(y.Type, want)
		p, q := x.Object.(*unstructured.Unstructured), y.Object.(*unstructured.Unstructured)
		is.Equal(p.GetResourceVersion(), q.GetResourceVersion()) // the same write
		is.Equal(p.GetAPIVersion()+" "+q.GetAPIVersion(), "example.com/v6 example.com/v7beta1")
		is.Equal(p.Object["height"], q.Object["heightInInches"])
	}
}

// The change can be rolled back. Objects that do not use it are unchanged. Objects that use it can be read, and are complete again
// after another upgrade unless they were written in between.
func TestRollback(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := server(t)
	old := clientOf[oldFrobber](t, srv, "v6")
	_, err := old.create(v6 + `"metadata":{"name":"plain"},"height":1,"param":"p"}`)
	is.NoErr(err)
	plain := old.get("plain")
	upgrade(t, srv)
	c := clientOf[newFrobber](t, srv, "v6")
	for _, name := range []string{"used", "written"} {
		_, err = c.create(v6 + `"metadata":{"name":"` + name + `"},"height":1,"width":2,"param":"p","params":["p","q"]}`)
		is.NoErr(err)
	}

	define(t, srv, "testdata/old.yaml")
	// the old server normalizes nothing
	srv.Admit("normalize.frobbers.example.com", func(r fake.AdmissionReview) fake.AdmissionReview {
		r["response"] = map[string]any{"allowed": true}
		return r
	})
	is.Equal(old.get("plain"), plain) // no impact
	is.Equal(c.get("used").Param, "p")
	is.Equal(len(c.get("used").Params), 0) // the old definition hides the field
	f := old.get("written")
	f.Height = 2
	_, err = old.put(f)
	is.NoErr(err) // nothing in the store makes a write fail

	upgrade(t, srv)
	is.Equal(c.get("used").Params, []string{"p", "q"}) // it was in the store all the time
	is.Equal(len(c.get("written").Params), 0)          // it was not written
}

// A new version must not be the storage version in the release that introduces it: after a rollback, objects could not be read. The
// server does not allow removing a version in which objects may be stored.
func TestNewVersionIsNotStored(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := server(t)
	srv.Convert("frobbers.example.com", Convert)
	is.NoErr(replace(t, srv, func(s string) string {
		s = strings.Replace(s, "storage: true", "storage: x", 1)
		return strings.Replace(strings.Replace(s, "storage: false", "storage: true", 1), "storage: x",
			"storage: false", 1)
	}, "testdata/new.yaml"))
	_, err := clientOf[nextFrobber](t, srv, "v7beta1").create(v7beta1 + `"metadata":{"name":"f"},"heightInInches":1}`)
	is.NoErr(err)
	err = replace(t, srv, func(s string) string { return s }, "testdata/old.yaml")
	is.True(apierrors.IsInvalid(err))
	is.True(strings.Contains(err.Error(), "v7beta1 was previously a storage version"))
}

// A value is added to an enumeration in two releases. The first one accepts it only in objects that already contain it, so that
// after a rollback from the second to the first release all objects can be updated.
func TestEnumGrows(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := server(t)
	c := clientOf[oldFrobber](t, srv, "v6")
	const tuesday = `"metadata":{"name":"f"},"policy":"OnlyOnTuesday"}`
	release := func(rule string) {
		is.NoErr(replace(t, srv, func(s string) string {
			return strings.Replace(s, "enum: [Always, Never]}", "enum: [Always, Never, OnlyOnTuesday]"+rule+"}", 1)
		}, "testdata/old.yaml"))
	}
	first := `, x-kubernetes-validations: [{optionalOldSelf: true, message: not yet,
            rule: "self != 'OnlyOnTuesday' || oldSelf.orValue('') == 'OnlyOnTuesday'"}]`

	_, err := c.create(v6 + tuesday)
	is.True(apierrors.IsInvalid(err)) // today's server
	release(first)
	_, err = c.create(v6 + tuesday)
	is.True(apierrors.IsInvalid(err)) // release 1: no object can begin to use it
	is.True(strings.Contains(err.Error(), "not yet"))
	release("")
	_, err = c.create(v6 + tuesday)
	is.NoErr(err) // release 2
	release(first)
	_, err = c.patch("f", `{"height":3}`)
	is.NoErr(err) // back to release 1: it is there, and the object can be updated
	_, err = c.patch("f", `{"policy":"Never"}`)
	is.NoErr(err)
	_, err = c.patch("f", `{"policy":"OnlyOnTuesday"}`)
	is.True(apierrors.IsInvalid(err)) // but not come back
}

// A field of a disabled feature is dropped unless the stored object contains it. Data that was written while the feature was
// enabled, or by a newer server, survives a server with the feature disabled.
func TestDisabledFieldIsDropped(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := server(t)
	upgrade(t, srv)
	is.NoErr(replace(t, srv, func(s string) string {
		return strings.Replace(s, "width: {type: integer, default: 1}", "width: {type: integer}", 1)
	}, "testdata/new.yaml"))
	enabled := true
	srv.Admit("normalize.frobbers.example.com", Admit(func() bool { return enabled }))
	c := clientOf[newFrobber](t, srv, "v6")
	_, err := c.create(v6 + `"metadata":{"name":"has"},"width":3}`)
	is.NoErr(err)
	enabled = false
	f, err := c.create(v6 + `"metadata":{"name":"new"},"width":3}`)
	is.NoErr(err)
	is.Equal(f.Width, 0) // dropped, not refused
	f, err = c.patch("new", `{"width":3}`)
	is.NoErr(err)
	is.Equal(f.Width, 0)
	f, err = c.patch("has", `{"height":7}`)
	is.NoErr(err)
	is.Equal(f.Width, 3) // kept
	f, err = c.patch("has", `{"width":4}`)
	is.NoErr(err)
	is.Equal(f.Width, 4) // and what has it may change it
}
