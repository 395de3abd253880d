// Package patch applies the patches that clients send to objects.
//
//	Content-Type ─ Type ─▶ JSONPatch       JSON(doc)      ─┐ bytes ─ decode with the Type ─▶ object
//	                       MergePatch      Merge(doc)     ─┘           │ fails
//	                       StrategicPatch  Strategic(object) ─ object ─┴──────▶ Undecodable(result, error)
//	                       ApplyPatch      (server-side apply, another package)
//
// doc is the current object in the version of the request, printed as the server prints it. Repeated and unknown keys
// of the patch itself are returned as strict errors: the caller turns them into warnings or, together with those of the
// patched object, into StrictlyUndecodable.
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
	"github.com/kubesim/kubesim/sim/wire"
)

// Kind is the way in which a patch describes a change.
type Kind int

const (
	JSONPatch      Kind = iota // RFC 6902
	MergePatch                 // RFC 7386
	StrategicPatch             // API concepts, "Strategic merge patch"
	ApplyPatch                 // API concepts, "Server-side apply"
)

// Level is the treatment of repeated and unknown keys of a patch.
type Level int

const (
	Warn   Level = iota // they are returned
	Ignore              // they are not looked for
)

const (
	typeJSON      = "application/json-patch+json"
	typeMerge     = "application/merge-patch+json"
	typeStrategic = "application/strategic-merge-patch+json"
	typeApply     = "application/apply-patch+yaml"
)

// ContentTypes returns the media types of a PATCH on a custom or a built-in resource, in the order the server names them.
func ContentTypes(custom bool) []string {
	if custom {
		return []string{typeJSON, typeMerge, typeApply}
	}
	return []string{typeJSON, typeMerge, typeStrategic, typeApply}
}

// Type returns the Kind of a patch with the Content-Type, or the 415 for one that the resource does not take.
func Type(contentType string, custom bool) (Kind, *status.Status) {
	mediaType, _, _ := strings.Cut(contentType, ";")
	switch strings.TrimSpace(mediaType) {
	case typeJSON:
		return JSONPatch, nil
	case typeMerge:
		return MergePatch, nil
	case typeApply:
		return ApplyPatch, nil
	case typeStrategic:
		if !custom {
			return StrategicPatch, nil
		}
	}
	if custom || offers(contentType) {
		return 0, status.UnsupportedMediaType(ContentTypes(custom))
	}
	return 0, &status.Status{Code: wire.StatusUnsupportedMediaType, Reason: status.ReasonMediaType,
		Message: "415: Unsupported Media Type", Details: &status.Details{}}
}

// offers reports whether one of several media types is that of a patch: the router lets such a request pass.
func offers(contentTypes string) bool {
	for part := range strings.SplitSeq(contentTypes, ",") {
		mediaType, _, _ := strings.Cut(part, ";")
		if slices.Contains(ContentTypes(false), strings.TrimSpace(mediaType)) {
			return true
		}
	}
	return false
}

// Undecodable answers for a patch whose result is not an object of the kind. value is the patched JSON, or the text of a strategic
// patch, and err is the error of decoding it.
func Undecodable(value string, err error) *status.Status {
	return status.Invalid(status.Resource{}, "", field.ErrorList{field.Invalid(field.Root("patch"), value, err.Error())})
}

// StrictlyUndecodable answers for a patch that is only invalid under fieldValidation=Strict: strict has the errors of JSON, Merge
// or Strategic, followed by those of decoding the result.
func StrictlyUndecodable(value string, strict []string) *status.Status {
	why := "strict decoding error: " + strings.Join(strict, ", ")
	return status.Invalid(status.Resource{}, "", field.ErrorList{field.Invalid(field.Root("patch"), value, why)})
}

// Merge applies a JSON merge patch (RFC 7386) to doc: null deletes, objects are merged, everything else replaces.
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
	case err != nil || c != '{' && c != '[': // the library takes anything else, too
		return nil, nil, status.BadRequest("Invalid JSON Patch")
	case c == '[':
		return appendAllSorted(nil, object.Text(made)), strict, nil
	}
	return appendMerged(make([]byte, 0, len(made)), object.Text(made), object.Text(doc), change.Text), strict, nil
}

// appendMerged prints an object that a patch made of another with sorted keys wherever the patch looked: the real server does so, and
// the library adds keys in the order of a Go map.
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
