package resource

import (
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// NilBytes reports whether a map of bytes of an object, such as the data of a Secret, contains a null. Readers see "" instead, but
// the real server stores null differently from "". A write that contains a null is therefore a change, and so is the next write
// that contains "" instead. kubesim stores the null, too.
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
