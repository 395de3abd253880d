package codec

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/json"
	"github.com/kubesim/kubesim/sim/schema"
)

// SaysVersion reports whether a body of the media type contains an apiVersion. For protobuf, it always returns true.
func (d *Decoder) SaysVersion(data []byte, mediaType string) bool {
	b := &body{data: data, cbor: d.CBOR}
	return b.open(mediaType) != nil || b.proto || b.gvk.Version != ""
}

// KindOf returns the kind and apiVersion in the JSON of an object. It returns an error if they are malformed; missing ones are
// empty.
func KindOf(data []byte) (schema.GVK, error) { return typeMeta(string(data)) }

// typeMeta returns the kind and apiVersion in JSON. The names of these two fields are case-insensitive here, as in encoding/json,
// but nowhere else.
func typeMeta(text string) (schema.GVK, error) {
	d := &decoder{Scanner: json.Scanner{Text: text}}
	var apiVersion, kind string
	switch c := d.Next(); c {
	case '{':
		for more := d.Enter('}'); more; more = d.More('}') {
			switch key := d.Key(); {
			case strings.EqualFold(key, "apiVersion"):
				apiVersion = d.metaString("apiVersion", apiVersion)
			case strings.EqualFold(key, "kind"):
				kind = d.metaString("kind", kind)
			default:
				d.Skip()
			}
		}
	case 'n':
		d.Literal("null")
	default:
		d.mismatch(typeMetaType, nil)
	}
	d.End()
	err := d.first
	if d.Bad {
		err = json.SyntaxError(text)
	}
	if err != nil {
		return schema.GVK{}, fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
	}
	return parseGVK(strings.Clone(apiVersion), strings.Clone(kind))
}

// typeMetaType has the type name that encoding/json reports for the struct that holds kind and apiVersion.
var typeMetaType = &schema.Type{
	GoType: `struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`,
}

// metaString decodes the value of a field of typeMetaType.
func (d *decoder) metaString(name, old string) string {
	d.where = append(d.where, step{name: name, field: &schema.Field{Proto: 1}, owner: &schema.Type{}})
	v := d.value(stringType, old, false)
	d.where = d.where[:0]
	s, _ := v.(string)
	return s
}

// parseGVK returns the kind in the group and version of apiVersion. It returns an error if apiVersion is malformed.
func parseGVK(apiVersion, kind string) (schema.GVK, error) {
	if apiVersion == "/" {
		apiVersion = ""
	}
	group, version, ok := strings.Cut(apiVersion, "/")
	switch {
	case !ok:
		return schema.GVK{Version: apiVersion, Kind: kind}, nil
	case strings.Contains(version, "/"):
		return schema.GVK{}, errors.New("unexpected GroupVersion string: " + apiVersion)
	}
	return schema.GVK{Group: group, Version: version, Kind: kind}, nil
}

// InternalType returns the Go type to which the server converts every version of a kind ("apps.Deployment"). A kind that has moved
// from one group to another has the same type in both.
func InternalType(gvk schema.GVK) string {
	pkg, _, _ := strings.Cut(gvk.Group, ".")
	kind := strings.TrimSuffix(gvk.Kind, "List")
	switch gvk.Group {
	case "", "events.k8s.io":
		pkg = "core"
	case "internal.apiserver.k8s.io":
		pkg = "apiserverinternal"
	case "extensions":
		pkg = "apps"
		if kind == "Ingress" || kind == "NetworkPolicy" {
			pkg = "networking"
		}
	}
	if kind == "Scale" {
		pkg = "autoscaling"
	}
	return pkg + "." + gvk.Kind
}

// accepts reports whether an endpoint accepts a body in another version unconverted: evictions are accepted in either version of
// policy.
func accepts(want, gvk schema.GVK) bool {
	return want.Group == "policy" && want.Kind == "Eviction" && gvk.Group == "policy"
}
