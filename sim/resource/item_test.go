package resource

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
)

// Raw values are shown without spaces and stored as they were written, also where an item is read back from the store, or
// gets another resourceVersion.
func TestItemsKeepRawValues(t *testing.T) {
	is := is.New(t)
	d := &Definition{Strategy: &Strategy{}, Raw: func() *object.Places {
		return &object.Places{Fields: map[string]*object.Places{"data": {Raw: true}}}
	}}
	d.Hub = d
	const raw = object.Raw(`{ "b":1, "a":"<" }`)
	stored := `{"metadata":{"name":"x","resourceVersion":"9"},"data":` + string(raw) + `}`
	it := ItemOf(d, &mvcc.KV{Key: "x", Value: []byte(stored), ModRev: 9})
	is.Equal(string(it.Bytes), `{"metadata":{"name":"x","resourceVersion":"9"},"data":{"b":1,"a":"\u003c"}}`)
	is.Equal(it.Object()["data"], raw)
	is.Equal(string(d.Value(it)), stored)
	moved := it.At(10)
	is.Equal(string(moved.Bytes), `{"metadata":{"name":"x","resourceVersion":"10"},"data":{"b":1,"a":"\u003c"}}`)
	is.Equal(string(d.Value(moved)), `{"metadata":{"name":"x","resourceVersion":"10"},"data":`+string(raw)+`}`)
	is.Equal(moved.Object()["data"], raw)

	same := `{"metadata":{},"data":{"b":1,"a":1.0}}` // shown as it was written
	it = ItemOf(d, &mvcc.KV{Key: "x", Value: []byte(same), ModRev: 9})
	is.Equal(string(it.Bytes), same)
	is.Equal(it.Stored, nil)
	is.Equal(it.Object()["data"], object.Raw(`{"b":1,"a":1.0}`))
}
