package frobber

import (
	"strings"
	"testing"

	"github.com/matryer/is"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// A single value becomes a list. param remains, as the first item of params. Normalize interprets requests with only one of them,
// and the definition's rule rejects contradictions.
func TestCreateParams(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := server(t)
	upgrade(t, srv)
	c := clientOf[newFrobber](t, srv, "v6")

	old, err := c.create(v6 + `"metadata":{"name":"old"},"height":42,"param":"super"}`)
	is.NoErr(err)
	is.Equal(old.Params, []string{"super"}) // an old client: the plural is filled in
	both, err := c.create(v6 + `"metadata":{"name":"new"},"param":"super","params":["super","duper"]}`)
	is.NoErr(err)
	is.Equal(both.Params, []string{"super", "duper"}) // a new client sets both
	none, err := c.create(v6 + `"metadata":{"name":"none"}}`)
	is.NoErr(err)
	is.Equal(len(none.Params), 0) // neither was ever required

	_, err = c.create(v6 + `"metadata":{"name":"x"},"param":"super","params":["duper","super"]}`)
	is.True(apierrors.IsInvalid(err) && strings.Contains(err.Error(), "params[0] must be param")) // they disagree
	_, err = c.create(v6 + `"metadata":{"name":"x"},"params":["super"]}`)
	// the plural alone: in an update it could be an old client that clears the singular
	is.True(apierrors.IsInvalid(err))
}

// These are the effects of an update of {param: super, params: [super, duper]} by each kind of client.
func TestUpdateParams(t *testing.T) {
	t.Parallel()
	srv := server(t)
	upgrade(t, srv)
	c := clientOf[newFrobber](t, srv, "v6")
	old := clientOf[oldFrobber](t, srv, "v6")
	put := func(change func(*oldFrobber)) func(string) (newFrobber, error) {
		return func(name string) (newFrobber, error) {
			f := old.get(name)
			change(&f)
			if _, err := old.put(f); err != nil {
				return newFrobber{}, err
			}
			return c.get(name), nil
		}
	}
	patch := func(text string) func(string) (newFrobber, error) {
		return func(name string) (newFrobber, error) { return c.patch(name, text) }
	}
	for _, x := range []struct {
		name, param string
		params      []string
		update      func(string) (newFrobber, error)
	}{
		// params is kept, which it does not know
		{"old-puts-something-else", "super", []string{"super", "duper"}, put(func(f *oldFrobber) { f.Height = 7 })},
		{"old-puts-another-param", "hyper", []string{"hyper"}, put(func(f *oldFrobber) { f.Param = "hyper" })},
		{"old-puts-no-param", "", nil, put(func(f *oldFrobber) { f.Param = "" })},
		{"old-patches-something-else", "super", []string{"super", "duper"}, patch(`{"height":7}`)},
		{"old-patches-the-param", "hyper", []string{"hyper"}, patch(`{"param":"hyper"}`)},
		{"old-clears-the-param", "", nil, patch(`{"param":""}`)}, // not: param comes back from params
		{"old-removes-the-param", "", nil, patch(`{"param":null}`)},
		{"new-patches-both", "hyper", []string{"hyper", "super"},
			patch(`{"param":"hyper","params":["hyper","super"]}`)},
		{"new-adds-one", "super", []string{"super", "duper", "hyper"},
			patch(`{"param":"super","params":["super","duper","hyper"]}`)},
		{"new-clears-both", "", nil, patch(`{"param":"","params":[]}`)},
	} {
		t.Run(x.name, func(t *testing.T) {
			is := is.New(t)
			_, err := c.create(v6 +
				`"metadata":{"name":"` + x.name + `"},"height":42,"param":"super","params":["super","duper"]}`)
			is.NoErr(err)
			after, err := x.update(x.name)
			is.NoErr(err)
			is.Equal(after.Param, x.param)
			is.Equal(after.Params, x.params)
		})
	}
	is := is.New(t)
	_, err := c.patch("new-adds-one", `{"params":["duper"]}`)
	is.True(apierrors.IsInvalid(err)) // a new client has to set the singular, too
}
