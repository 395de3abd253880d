package codec

import (
	"errors"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

// DeleteOptions reads the body of a DELETE. The kind counts, whatever the group and version: clients of a custom resource
// name its group (apimachinery, meta/internalversion: options are unversioned types). A body without a kind is one, too. Unknown
// and repeated fields are dropped in silence.
func (d *Decoder) DeleteOptions(data []byte, mediaType string) (object.Object, *status.Status) {
	want := schema.GVK{Version: "v1", Kind: "DeleteOptions"}
	b := &body{data: data, want: want}
	obj, err := d.deleteOptions(b, mediaType)
	if err != nil {
		return nil, status.BadRequest("%v", err)
	}
	obj["kind"], obj["apiVersion"] = b.gvk.Kind, b.gvk.GV()
	return obj, nil
}

func (d *Decoder) deleteOptions(b *body, mediaType string) (object.Object, error) {
	if err := b.open(mediaType); err != nil {
		return nil, err
	}
	kinds := func(gvk schema.GVK) *schema.Type {
		if withDefaults(gvk, b.want).Kind != b.want.Kind {
			return nil
		}
		return d.Kinds(b.want)
	}
	if b.proto {
		obj, gvk, err := DecodeProto(b.data, kinds)
		b.gvk = withDefaults(gvk, b.want)
		if errors.Is(err, ErrNoKind) {
			err = noKind(b.gvk)
		}
		return obj, err
	}
	t := kinds(b.gvk)
	if t == nil {
		return nil, noKind(b.gvk)
	}
	obj, _, err := decode(b.json, t)
	return obj, err
}
