package resource

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/pack"
)

// An item knows whether its object has owner references, also with a different resourceVersion or JSON. Those of a template do not count.
func TestOwned(t *testing.T) {
	d := &Definition{Strategy: &Strategy{}}
	d.Hub = d
	for _, tt := range []struct {
		text string
		want bool
	}{
		{`{"metadata":{"name":"x","resourceVersion":"9","ownerReferences":[{"uid":"a"}]}}`, true},
		{`{"metadata":{"name":"x","resourceVersion":"9","ownerReferences":[]}}`, false},
		{`{"metadata":{"name":"x","resourceVersion":"9"},"template":{"metadata":{"ownerReferences":[{"uid":"a"}]}}}`, false},
	} {
		t.Run(tt.text, func(t *testing.T) {
			is := is.New(t)
			obj, err := object.ParseRaw([]byte(tt.text), nil)
			is.NoErr(err)
			it := NewItem(d, obj, 9, []byte(tt.text))
			is.Equal(it.Owned(), tt.want)
			is.Equal(it.At(10).Owned(), tt.want)
			is.Equal(it.Reprinted([]byte(tt.text)).Owned(), tt.want)
		})
	}
}

// Clients see raw values without spaces, and the store contains them as they were written. This also holds if an item is decoded
// from the store or gets a different resourceVersion.
func TestItemsKeepRawValues(t *testing.T) {
	is := is.New(t)
	d := &Definition{Strategy: &Strategy{}, Raw: func() *object.Places {
		return &object.Places{Fields: map[string]*object.Places{"data": {Raw: true}}}
	}}
	d.Hub = d
	const raw = object.Raw(`{ "b":1, "a":"<" }`)
	stored := `{"metadata":{"name":"x","resourceVersion":"9"},"data":` + string(raw) + `}`
	it := ItemOf(d, &mvcc.KV{Key: "x", Text: pack.New([]byte(stored)), ModRev: 9})
	is.Equal(string(it.Bytes()), `{"metadata":{"name":"x","resourceVersion":"9"},"data":{"b":1,"a":"\u003c"}}`)
	is.Equal(it.Object()["data"], raw)
	is.Equal(string(d.Value(it)), stored)
	moved := it.At(10)
	is.Equal(string(moved.Bytes()), `{"metadata":{"name":"x","resourceVersion":"10"},"data":{"b":1,"a":"\u003c"}}`)
	is.Equal(string(d.Value(moved)), `{"metadata":{"name":"x","resourceVersion":"10"},"data":`+string(raw)+`}`)
	is.Equal(moved.Object()["data"], raw)

	same := `{"metadata":{},"data":{"b":1,"a":1.0}}` // readers see it as it was written
	it = ItemOf(d, &mvcc.KV{Key: "x", Text: pack.New([]byte(same)), ModRev: 9})
	is.Equal(string(it.Bytes()), same)
	is.Equal(it.Stored(), nil)
	is.Equal(it.Object()["data"], object.Raw(`{"b":1,"a":1.0}`))
}
