package codec

import (
	"errors"
	"fmt"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

// DeleteOptions reads the body of a DELETE. The kind counts, whatever the group and version: clients of a custom resource
// name its group (apimachinery, meta/internalversion: options are unversioned types). A body without a kind is one, too. Unknown
// and repeated fields are dropped in silence.
func (d *Decoder) DeleteOptions(data []byte, mediaType string) (object.Object, *status.Status) {
	want := schema.GVK{Group: "meta.k8s.io", Version: "v1", Kind: "DeleteOptions"}
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
		return d.Kinds(schema.GVK{Version: "v1", Kind: "DeleteOptions"})
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
	if goType := metaType(b.gvk); t == nil && goType != "" {
		return nil, fmt.Errorf("converting (%s) to (v1.DeleteOptions): unknown conversion", goType)
	} else if t == nil {
		return nil, noKind(b.gvk)
	}
	obj, _, err := decode(b.json, t)
	return obj, err
}

// metaType returns the Go type of another kind that the reader of options knows: the unversioned kinds in every group and version,
// the rest of meta.k8s.io in its own. Otherwise it returns "".
func metaType(gvk schema.GVK) string {
	const meta = "meta.k8s.io"
	switch gvk.Kind {
	case "CreateOptions", "UpdateOptions", "Status", "APIVersions", "APIGroup", "APIGroupList", "APIResourceList":
		return "v1." + gvk.Kind
	case "WatchEvent", "ListOptions", "GetOptions", "PatchOptions":
		if gvk.Group == meta && gvk.Version == "v1" {
			return "v1." + gvk.Kind
		}
	case "Table", "TableOptions", "PartialObjectMetadata":
		if gvk.Group == meta && (gvk.Version == "v1" || gvk.Version == "v1beta1") {
			return "v1." + gvk.Kind
		}
	case "PartialObjectMetadataList":
		if gvk.Group == meta && (gvk.Version == "v1" || gvk.Version == "v1beta1") {
			return gvk.Version + "." + gvk.Kind
		}
	}
	return ""
}
