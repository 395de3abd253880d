package resource

import (
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// NilBytes reports whether a map of bytes of an object, such as the data of a Secret, has a null. Readers see "" in its place, but the
// real server stores it in another way, and so takes a write that has one, and the next one that has "", for a change. Here the store
// holds the null.
func (d *Definition) NilBytes(obj object.Object) bool {
	t := d.Hub.Layout()
	if t == nil {
		return false
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Type.Kind != schema.Map || f.Type.Elem.Kind != schema.Bytes {
			continue
		}
		for _, v := range obj.Map(f.Name) { // order does not matter
			if v == nil {
				return true
			}
		}
	}
	return false
}
