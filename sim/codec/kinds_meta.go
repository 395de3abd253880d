package codec

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/json"
	"github.com/kubesim/kubesim/sim/schema"
)

// SaysVersion reports whether a body of a media type has an apiVersion. A protobuf body always has one.
func SaysVersion(data []byte, mediaType string) bool {
	b := &body{data: data}
	return b.open(mediaType) != nil || b.proto || b.gvk.Version != ""
}

// typeMeta finds kind and apiVersion in a JSON text. It is the one place where names match in any case, as in
// encoding/json.
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

// typeMetaType has the name that encoding/json gives to the struct with which kind and apiVersion are read.
var typeMetaType = &schema.Type{
	GoType: `struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`,
}

// metaString reads the value of a field of typeMetaType.
func (d *decoder) metaString(name, old string) string {
	d.where = append(d.where, step{name: name, field: &schema.Field{Proto: 1}, owner: &schema.Type{}})
	v := d.value(stringType, old, false)
	d.where = d.where[:0]
	s, _ := v.(string)
	return s
}

// parseGVK takes an apiVersion apart.
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

// InternalType returns the Go type into which the server converts every version of a kind ("apps.Deployment"). Kinds that
// moved from one group to another are one type.
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

// accepts reports whether an endpoint takes a body of another version as it is: evictions are read in either version of
// policy.
func accepts(want, gvk schema.GVK) bool {
	return want.Group == "policy" && want.Kind == "Eviction" && gvk.Group == "policy"
}
