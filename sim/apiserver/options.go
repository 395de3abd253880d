package apiserver

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/metadata"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/status"
)

// writeOptions holds CreateOptions, UpdateOptions or PatchOptions of meta/v1.
type writeOptions struct {
	dryRun  bool
	manager string // the field manager, never empty
	level   codec.Level
	force   bool
	sent    object.Object // the options for admission
}

// managerMax is the maximum length of a field manager's name in bytes.
const managerMax = 128

// writeOptions parses the query of a write. kind is CreateOptions, UpdateOptions or PatchOptions. apply reports that a patch is an
// apply.
func (e *Exchange) writeOptions(kind string, apply bool) (writeOptions, *status.Status) {
	query := e.Query
	o := writeOptions{force: registry.ParseBool(query, "force")}
	var errs field.ErrorList
	manager := query.Get("fieldManager")
	if kind == "PatchOptions" {
		if apply && manager == "" {
			errs = append(errs, field.Required(field.Root("fieldManager"), "is required for apply patch"))
		}
		if !apply && query.Has("force") {
			errs = append(errs, field.Forbidden(field.Root("force"), "may not be specified for non-apply patch"))
		}
	}
	errs = append(errs, metadata.FieldManager(manager, field.Root("fieldManager"))...)
	dryRun, err := registry.ParseDryRun(query["dryRun"])
	o.dryRun = dryRun
	errs = append(errs, err...)
	level, ok := codec.ParseLevel(query.Get("fieldValidation"))
	if !ok {
		errs = append(errs, field.NotSupported(field.Root("fieldValidation"), query.Get("fieldValidation"), "", "Ignore", "Strict", "Warn"))
	}
	o.level = level
	o.sent = object.Object{}
	for _, name := range []string{"fieldManager", "fieldValidation"} {
		if value := query.Get(name); value != "" {
			o.sent[name] = value
		}
	}
	if dryRun {
		o.sent["dryRun"] = object.FromStrings(query["dryRun"])
	}
	if o.manager = manager; manager == "" {
		o.manager = defaultManager(e.UserAgent)
	}
	if len(errs) > 0 {
		return o, status.Invalid(status.Resource{Group: "meta.k8s.io", Resource: kind}, "", errs)
	}
	return o, nil
}

// defaultManager returns the field manager of a write that does not specify one: the client's name in its User-Agent.
func defaultManager(userAgent string) string {
	name, _, _ := strings.Cut(userAgent, "/")
	name = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, name)
	for len(name) > managerMax {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	if name == "" {
		return "unknown"
	}
	return name
}
