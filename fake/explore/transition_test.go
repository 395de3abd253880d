package explore_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/explore/campaign"
)

// shirts is a definition with a field that must match a pattern, and one that is immutable.
const shirts = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shirts.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: shirts, singular: shirt, kind: Shirt, listKind: ShirtList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [colour, made]
            properties:
              colour: {type: string, enum: [red, green, blue]}
              code: {type: string, pattern: "^[a-z]$"}
              made: {type: integer, minimum: 1990, maximum: 2030, x-kubernetes-validations: [{rule: self == oldSelf}]}
`

const shirt = `{"apiVersion":"example.com/v1","kind":"Shirt","metadata":{"name":"s","namespace":"default"},"spec":{"colour":"red","code":"a","made":2000}}`

const shirtPath = "/apis/example.com/v1/namespaces/default/shirts/s"

// dyer keeps a ConfigMap with the name of the shirt's colour. A careless dyer keeps the one of the previous colour, too.
func dyer(srv *fake.Server, careless bool) func(ctx context.Context, c http.RoundTripper) error {
	return func(ctx context.Context, c http.RoundTripper) error {
		for ; ctx.Err() == nil; time.Sleep(10 * time.Second) {
			var s struct{ Spec struct{ Colour string } }
			if code, err := send(c, srv, "GET", shirtPath, "", &s); err != nil || code != http.StatusOK {
				continue
			}
			_, _ = send(c, srv, "POST", mapsPath, `{"metadata":{"name":"`+s.Spec.Colour+`"}}`, nil)
			for _, other := range []string{"red", "green", "blue"} {
				if other != s.Spec.Colour && !careless {
					_, _ = send(c, srv, "DELETE", mapsPath+"/"+other, "", nil)
				}
			}
		}
		return nil
	}
}

// dyed explores the transitions of shirts. It returns the report, or nil if there is no failure.
func dyed(t *testing.T, o fake.ExploreOptions, definition string, careless bool) *campaign.Report {
	t.Helper()
	o.Repeat = 2
	o.Prepare = func(_ fake.T, srv *fake.Server) { _ = srv.LoadData([]byte(definition)) }
	return testUnderPlan(t, o, func(t fake.T, srv *fake.Server) {
		start := func(srv *fake.Server) { srv.Process("dyer", dyer(srv, careless)) }
		fake.Transition{Manifest: shirt, Wait: time.Minute}.Check(t, srv, start, "shirts", "configmaps")
	})
}

// TestTransition checks that an object that remains after an edit is found, and that the report has both specs.
func TestTransition(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	found := dyed(t, fake.ExploreOptions{Faults: -1}, shirts, true)
	is.True(found != nil)
	is.Equal(len(found.Found.Items)+len(found.Plan.Items), 0) // there are no faults
	is.True(strings.Contains(found.String(), "fails without any faults, 2 of 2 times ("))
	is.True(strings.Contains(found.String(), "state after the second one alone (-):\n+ configmaps {"))
	_, specs, _ := strings.Cut(found.String(), "the first spec: ")
	first, second, _ := strings.Cut(specs, "the second spec: ")
	is.True(strings.Contains(first, `"colour":`) && strings.Contains(second, `"colour":`))
	is.True(!strings.Contains(found.String(), "differ from a run without faults")) // that run had other specs
}

// TestTransitionPasses checks that an operator that follows all edits passes, also under faults.
func TestTransitionPasses(t *testing.T) {
	t.Parallel()
	for _, faults := range []int{-1, 4} {
		t.Run(strconv.Itoa(faults), func(t *testing.T) {
			is.New(t).True(dyed(t, fake.ExploreOptions{Faults: faults, Seeds: 3}, shirts, false) == nil)
		})
	}
}

// TestTransitionKeep checks that edits do not change the fields that they shall keep: without the colour, the only field left that may be
// edited has no effect.
func TestTransitionKeep(t *testing.T) {
	t.Parallel()
	fake.Explore(t, fake.ExploreOptions{Faults: -1, Seeds: 3, Server: fake.Options{Bare: true}, Prepare: func(_ fake.T, srv *fake.Server) {
		_ = srv.LoadData([]byte(shirts))
	}}, func(t fake.T, srv *fake.Server) {
		start := func(srv *fake.Server) { srv.Process("dyer", dyer(srv, true)) }
		fake.Transition{Manifest: shirt, Wait: time.Minute, Keep: []string{"colour"}}.Check(t, srv, start, "shirts", "configmaps")
	})
}

// TestTransitionImmutable checks the error if a spec cannot be edited.
func TestTransitionImmutable(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	immutable := strings.Replace(shirts, "required: [colour, made]", "x-kubernetes-validations: [{rule: self == oldSelf, message: it is sewn}]", 1)
	found := dyed(t, fake.ExploreOptions{Faults: -1}, immutable, false)
	is.True(found != nil)
	is.True(strings.Contains(found.String(), "the server rejects each of "))
	is.True(strings.Contains(found.String(), " edits of the object, the last one with: ") && strings.Contains(found.String(), "it is sewn"))
}
