// Package patch applies patches to objects.
//
//	Content-Type ─ Type ─▶ JSONPatch       JSON(doc)      ─┐ bytes ─ decode with the Type ─▶ object
//	                       MergePatch      Merge(doc)     ─┘           │ fails
//	                       StrategicPatch  Strategic(object) ─ object ─┴──────▶ Undecodable(result, error)
//	                       ApplyPatch      (server-side apply, another package)
//
// doc is the JSON of the current object in the version of the request. Repeated and unknown keys in the patch itself are returned
// as strict errors. The caller converts them to warnings, or passes them to StrictlyUndecodable together with the strict errors of
// the patched object.
package patch

import (
	"slices"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/json"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// Kind is the format of a patch.
type Kind int

const (
	JSONPatch      Kind = iota // RFC 6902
	MergePatch                 // RFC 7386
	StrategicPatch             // API concepts, "Strategic merge patch"
	ApplyPatch                 // API concepts, "Server-side apply"
)

// Level determines how repeated and unknown keys in a patch are handled.
type Level int

const (
	Warn   Level = iota // they are returned
	Ignore              // they are not detected
)

const (
	typeJSON      = "application/json-patch+json"
	typeMerge     = "application/merge-patch+json"
	typeStrategic = "application/strategic-merge-patch+json"
	typeApply     = "application/apply-patch+yaml"
	typeApplyCBOR = "application/apply-patch+cbor"
)

// contentTypes returns the media types for a PATCH of a custom or built-in resource, in the server's order. cbor reports whether the
// server supports CBOR.
func contentTypes(custom, cbor bool) []string {
	types := []string{typeJSON, typeMerge}
	if !custom {
		types = append(types, typeStrategic)
	}
	if types = append(types, typeApply); cbor {
		types = append(types, typeApplyCBOR)
	}
	return types
}

// IsCBOR reports whether a Content-Type is that of an applied configuration in CBOR.
func IsCBOR(contentType string) bool { return mediaType(contentType) == typeApplyCBOR }

func mediaType(contentType string) string {
	name, _, _ := strings.Cut(contentType, ";")
	return strings.TrimSpace(name)
}

// Type returns the Kind of a patch with the given Content-Type. If the resource does not support that type, it returns a 415.
func Type(contentType string, custom, cbor bool) (Kind, *status.Status) {
	switch mediaType(contentType) {
	case typeJSON:
		return JSONPatch, nil
	case typeMerge:
		return MergePatch, nil
	case typeApply:
		return ApplyPatch, nil
	case typeApplyCBOR:
		if cbor {
			return ApplyPatch, nil
		}
	case typeStrategic:
		if !custom {
			return StrategicPatch, nil
		}
	}
	if custom || offers(contentType, cbor) {
		return 0, status.UnsupportedMediaType(contentTypes(custom, cbor))
	}
	return 0, status.NotConsumed()
}

// offers reports whether a list of media types includes a patch format. The router accepts such a request.
func offers(list string, cbor bool) bool {
	for part := range strings.SplitSeq(list, ",") {
		if slices.Contains(contentTypes(false, cbor), mediaType(part)) {
			return true
		}
	}
	return false
}

// Undecodable returns the response to a patch whose result is not an object of the kind. value is the patched JSON, or the text of
// a strategic patch, and err is the decoding error.
func Undecodable(value string, err error) *status.Status {
	return status.Invalid(status.Resource{}, "", field.ErrorList{field.Invalid(field.Root("patch"), value, err.Error())})
}

// StrictlyUndecodable returns the response to a patch that is invalid only with fieldValidation=Strict. strict contains the strict
// errors of JSON, Merge or Strategic, followed by the errors of decoding the result.
func StrictlyUndecodable(value string, strict []string) *status.Status {
	why := "strict decoding error: " + strings.Join(strict, ", ")
	return status.Invalid(status.Resource{}, "", field.ErrorList{field.Invalid(field.Root("patch"), value, why)})
}

// Merge applies a JSON merge patch (RFC 7386) to doc: null removes a member, objects are merged, and any other value replaces the
// old one. If the patch cannot be parsed, the Status is a 400. strict contains the repeated keys of the patch.
func Merge(doc, patch []byte, level Level) (result []byte, strict []string, s *status.Status) {
	if level != Ignore {
		var err error
		if _, strict, err = codec.DecodeJSON(patch, nil); err != nil {
			return nil, nil, status.BadRequest("error decoding patch: %v", err)
		}
	}
	change := json.Scanner{Text: object.Text(patch)}
	made, err := jsonpatch.MergePatch(doc, patch)
	switch c := change.Next(); {
	case err != nil || c != '{' && c != '[': // the library accepts any other value, too
		return nil, nil, status.BadRequest("Invalid JSON Patch")
	case c == '[':
		return appendAllSorted(nil, object.Text(made)), strict, nil
	}
	return appendMerged(make([]byte, 0, len(made)), object.Text(made), object.Text(doc), change.Text), strict, nil
}

// appendMerged prints the result of a patch. In the objects that the patch changes, the keys are sorted, as in the real server; the
// library would add keys in the random order of a Go map.
func appendMerged(dst []byte, made, doc, patch string) []byte {
	had, changes := members(doc), members(patch)
	return appendObject(dst, members(made), func(dst []byte, key, value string) []byte {
		change, named := changes[key]
		switch {
		case named && !isObject(had[key]):
			return appendAllSorted(dst, value)
		case isObject(change):
			return appendMerged(dst, value, had[key], change)
		}
		return append(dst, value...)
	})
}
