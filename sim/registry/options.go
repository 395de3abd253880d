package registry

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
	"github.com/kubesim/kubesim/sim/status"
)

// ListOptions is meta/v1 ListOptions: the query of a list or watch.
type ListOptions struct {
	Name              string // name of the only selected object, or "" for all
	Labels            selector.Labels
	Fields            selector.Fields
	ResourceVersion   string
	Match             string // resourceVersionMatch
	Limit             int64
	Continue          string
	Watch             bool
	Bookmarks         bool  // allowWatchBookmarks
	SendInitialEvents *bool // nil if not set
	TimeoutSeconds    int64 // 0 if not set
	ShardSelector     string

	shards cel.Shards // ShardSelector, parsed if its feature gate is enabled
	paged  bool       // the list belongs to a deletecollection and is read in pages, like a list with a limit
}

// Matches reports whether an object matches the selectors.
func (o *ListOptions) Matches(it *resource.Item) bool {
	return (o.Labels.Empty() || o.Labels.Match(it.Label)) && (o.Fields.Empty() || o.Fields.Matches(it.Field)) && o.inShard(it)
}

// SelectName restricts the selection to the object with the name.
func (o *ListOptions) SelectName(name string) { o.Name = name }

// ParseListOptions parses the options of a list or watch of d. It reports malformed values first (400), then, after applying
// defaults, invalid combinations (422), and then field labels that the kind does not have (400).
func ParseListOptions(query url.Values, d *resource.Definition) (ListOptions, *status.Status) {
	var o ListOptions
	if s := o.decode(query); s != nil {
		return o, s
	}
	o.setDefaults()
	if errs := o.validate(); len(errs) > 0 {
		return o, status.Invalid(status.Resource{Group: "meta.k8s.io", Resource: "ListOptions"}, "", errs)
	}
	fields, err := o.Fields.Transform(func(label, value string) (string, string, error) {
		hub, err := fieldLabel(d, label)
		return hub, value, err
	})
	if err != nil {
		return o, status.BadRequest("%s", err.Error())
	}
	o.Fields = fields
	return o, nil
}

func (o *ListOptions) decode(query url.Values) *status.Status {
	first := func(name string) string { return query.Get(name) }
	var err error
	o.Watch = ParseBool(query, "watch")
	o.Bookmarks = ParseBool(query, "allowWatchBookmarks")
	o.ResourceVersion, o.Match, o.Continue = first("resourceVersion"), first("resourceVersionMatch"), first("continue")
	o.ShardSelector = first("shardSelector")
	if query.Has("sendInitialEvents") {
		send := ParseBool(query, "sendInitialEvents")
		o.SendInitialEvents = &send
	}
	if o.TimeoutSeconds, err = parseInt(query, "timeoutSeconds"); err != nil {
		return status.BadRequest("%s", err.Error())
	}
	if o.Limit, err = parseInt(query, "limit"); err != nil {
		return status.BadRequest("%s", err.Error())
	}
	if o.Labels, err = selector.ParseLabels(first("labelSelector")); err != nil {
		return status.BadRequest("%s", err.Error())
	}
	if o.Fields, err = selector.ParseFields(first("fieldSelector")); err != nil {
		return status.BadRequest("%s", err.Error())
	}
	return nil
}

// setDefaults requests initial events if a watch specifies no revision, like servers with WatchList (KEP-3157).
func (o *ListOptions) setDefaults() {
	if o.Watch && o.SendInitialEvents == nil && o.Match == "" && (o.ResourceVersion == "" || o.ResourceVersion == "0") {
		send := true
		o.SendInitialEvents, o.Match = &send, notOlderThan
	}
}

// ListsFirst reports whether a watch begins with a list and a bookmark that marks its end (API concepts, "Streaming lists").
func (o *ListOptions) ListsFirst() bool {
	return o.SendInitialEvents != nil && *o.SendInitialEvents && o.Bookmarks
}

const notOlderThan, exact = "NotOlderThan", "Exact"

func (o *ListOptions) validate() field.ErrorList {
	match := field.Root("resourceVersionMatch")
	if o.Watch {
		return o.validateWatch(match)
	}
	var errs field.ErrorList
	if o.Match != "" {
		if o.ResourceVersion == "" {
			errs = append(errs, field.Forbidden(match, "resourceVersionMatch is forbidden unless resourceVersion is provided"))
		}
		if o.Continue != "" {
			errs = append(errs, field.Forbidden(match, "resourceVersionMatch is forbidden when continue is provided"))
		}
		if o.Match != exact && o.Match != notOlderThan {
			errs = append(errs, field.NotSupported(match, field.Named(o.Match), exact, notOlderThan, ""))
		}
		if o.Match == exact && o.ResourceVersion == "0" {
			errs = append(errs, field.Forbidden(match, `resourceVersionMatch "exact" is forbidden for resourceVersion "0"`))
		}
	}
	if o.SendInitialEvents != nil {
		errs = append(errs, field.Forbidden(field.Root("sendInitialEvents"), "sendInitialEvents is forbidden for list"))
	}
	return errs
}

func (o *ListOptions) validateWatch(match field.Path) field.ErrorList {
	var errs field.ErrorList
	if o.SendInitialEvents != nil && o.Match != notOlderThan {
		errs = append(errs, field.Forbidden(match, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"))
	}
	if o.Match == "" {
		return errs
	}
	if o.SendInitialEvents == nil {
		errs = append(errs, field.Forbidden(match, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"))
	}
	if o.Match != notOlderThan {
		errs = append(errs, field.NotSupported(match, field.Named(o.Match), notOlderThan))
	}
	if o.Continue != "" {
		errs = append(errs, field.Forbidden(match, "resourceVersionMatch is forbidden when continue is provided"))
	}
	return errs
}

// fieldLabel returns the key in Strategy.Fields for a field label of d. A cluster-scoped built-in kind supports metadata.namespace
// only if it defines no field labels of its own.
func fieldLabel(d *resource.Definition, label string) (string, error) {
	if label == "metadata.name" || label == "metadata.namespace" && (d.Namespaced || !d.Custom && d.FieldLabels == nil) {
		return label, nil
	}
	if key, ok := d.FieldLabels[label]; ok {
		return key, nil
	}
	if d.UnknownField != nil {
		return "", badLabel(d.UnknownField(label))
	}
	return "", badLabel(strconv.Quote(label) + ` is not a known field selector: only "metadata.name", "metadata.namespace"`)
}

type badLabel string

func (b badLabel) Error() string { return string(b) }

// ParseBool parses a boolean parameter like the conversion of queries in apimachinery: it is false if it is absent, 0 or false, and
// true otherwise. Only the first value counts.
func ParseBool(query url.Values, name string) bool {
	values, ok := query[name]
	if !ok || len(values) == 0 {
		return false
	}
	return values[0] != "0" && !strings.EqualFold(values[0], "false")
}

func parseInt(query url.Values, name string) (int64, error) {
	if !query.Has(name) {
		return 0, nil
	}
	return strconv.ParseInt(query.Get(name), 10, 64)
}
