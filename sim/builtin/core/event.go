package core

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

const (
	eventsGroup   = "events.k8s.io"
	eventsVersion = "events.k8s.io/v1"
	eventTTL      = time.Hour // the server's default, --event-ttl
)

func eventKind() kind.Kind {
	const event = table.DocCore + "Event"
	references := []string{"kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"}
	fields := resource.Fields{resource.FieldAt("reason", "reason"), resource.FieldAt("type", "type"), {Name: "source", Text: eventSource},
		resource.FieldAt("reportingComponent", "reportingComponent")}
	core := map[string]string{"reason": "reason", "reportingComponent": "reportingComponent", "source": "source", "type": "type"}
	group := map[string]string{"reason": "reason", "reportingController": "reportingComponent", "type": "type"}
	for _, name := range references {
		core["involvedObject."+name] = "involvedObject." + name
		group["regarding."+name] = "involvedObject." + name
		fields = append(fields, resource.FieldAt("involvedObject."+name, "involvedObject", name))
	}
	return kind.Kind{
		Storage: "events",
		Strategy: resource.Strategy{
			Uncounted: true,
			Checks: resource.Checks{
				Create: []resource.Check{resource.CheckKind},
				Update: []resource.Check{resource.CheckKind},
				Groups: map[string]resource.Checks{eventsGroup: { // events.k8s.io has stricter rules than the core group, in which events are stored
					Create: []resource.Check{resource.CheckFirst, resource.CheckMeta, resource.CheckKind}, Update: []resource.Check{resource.CheckFirst, resource.CheckMetaUpdate, resource.CheckKind},
				}},
			},
			AllowCreateOnUpdate: true, NoGarbageCollection: true, Uncached: true, TTL: eventTTL,
			Fields: fields,
		},
		Validate: validateEvent, ValidateFirst: validateAnyEvent,
		Labels: map[string]map[string]string{"v1": core, eventsVersion: group},
		Convert: map[string]kind.Conversion{eventsVersion: {
			ToHub:   func(obj object.Object) (object.Object, error) { return renameEvent(obj, "v1", 0, 1), nil },
			FromHub: func(obj object.Object) (object.Object, error) { return renameEvent(obj, eventsVersion, 1, 0), nil },
		}},
		Columns: []table.Column{table.Doc("Last Seen", event, "lastTimestamp"), table.Doc("Type", event, "type"), table.Doc("Reason", event, "reason"),
			table.Doc("Object", event, "involvedObject"), table.Doc("Subobject", table.DocCore+"ObjectReference", "fieldPath").Wide(),
			table.Doc("Source", event, "source").Wide(), table.Doc("Message", event, "message"),
			table.Doc("First Seen", event, "firstTimestamp").Wide(), table.Doc("Count", event, "count").Wide(), table.Name().Wide()},
		Row: eventRow,
	}
}

// eventSource returns the component that reported an event.
func eventSource(event object.Object) string {
	return cmp.Or(event.String("source", "component"), event.String("reportingComponent"))
}

// eventNames are the fields whose names differ between the groups: first the name in events.k8s.io, then the name in
// core.
var eventNames = [][2]string{
	{"regarding", "involvedObject"},
	{"note", "message"},
	{"reportingController", "reportingComponent"},
	{"deprecatedSource", "source"},
	{"deprecatedFirstTimestamp", "firstTimestamp"},
	{"deprecatedLastTimestamp", "lastTimestamp"},
	{"deprecatedCount", "count"},
}

// renameEvent converts an event of one group to the other group. It renames the fields whose names differ.
func renameEvent(obj object.Object, apiVersion string, from, to int) object.Object {
	obj["apiVersion"] = apiVersion
	for _, names := range eventNames {
		if v, ok := obj[names[from]]; ok {
			delete(obj, names[from])
			obj[names[to]] = v
		}
	}
	return obj
}

// validateEvent checks an event. For events.k8s.io it checks only the additional rules of that group (KEP-383), because
// validateAnyEvent and the checks of metadata have already run.
func validateEvent(ctx *resource.Context, at field.Cursor) {
	switch {
	case ctx.Definition.Group != eventsGroup:
		validateAnyEvent(ctx, at)
		return
	case at.Updates():
		validateEventUpdate(at)
		return
	}
	validateSeries(at.Child("series"))
	at.Require("eventTime")
	if kind := at.String("type"); kind != "Normal" && kind != "Warning" {
		at.Child("type").Invalid("", "has invalid value: "+kind)
	}
	for _, name := range []string{"firstTimestamp", "lastTimestamp", "count", "source"} {
		set := at.Child(name).IfGiven().Has()
		if name == "source" {
			set = at.String("source", "component") != "" || at.String("source", "host") != ""
		}
		at.Child(name).With("").InvalidIf(set, "needs to be unset")
	}
}

// validateAnyEvent checks the rules that apply to events of both groups. An event with an eventTime must also have a reporter and
// an action.
func validateAnyEvent(ctx *resource.Context, at field.Cursor) {
	namespace, involved := at.Object().Namespace(), at.Child("involvedObject", "namespace").OrEmpty()
	fits := involved.String() == namespace || involved.String() == "" && namespace == "default"
	timed := at.String("eventTime") != ""
	if timed {
		fits = involved.String() != "" || namespace == "default" || namespace == "kube-system"
	}
	involved.InvalidIf(!fits, "does not match event.namespace")
	if timed {
		reporter := at.Child("reportingComponent").OrEmpty()
		if ctx.Definition.Group == eventsGroup {
			reporter = reporter.ReportAt(at.Child("reportingController"))
		}
		reporter.Required()
		reporter.Check(field.QualifiedName)
		for _, name := range []string{"reportingInstance", "action", "reason"} {
			atMost(at.Child(name).Required(), 128)
		}
		atMost(at.Child("message"), 1024)
	}
	at.Child("namespace").With(namespace).Check(field.DNS1123Subdomain)
}

func atMost(at field.Cursor, limit int) {
	at.With("").InvalidIf(len(at.String()) > limit, "can have at most "+strconv.Itoa(limit)+" characters")
}

func validateSeries(at field.Cursor) {
	if at.Has() {
		at.Child("count").With("").InvalidIf(at.Int64("count") < 2, "should be at least 2")
		at.Require("lastObservedTime")
	}
}

func validateEventUpdate(at field.Cursor) {
	obj, old := at.Object(), at.Old()
	if series := at.Child("series"); series.Has() != old.Has("series") || series.Changed() {
		validateSeries(series)
	}
	// reason is checked twice, as on the real server
	for _, name := range []string{"involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count", "reason",
		"type", "eventTime", "action", "related", "reportingController", "reportingInstance"} {
		key := name
		if name == "reportingController" {
			key = "reportingComponent"
		}
		if !object.SemanticEqual(zeroless(obj[key]), zeroless(old[key])) {
			at.Child(name).Invalid(eventValue(key, obj), field.TextImmutable)
		}
	}
}

// zeroless returns nil if v is a zero value, and v otherwise. Clients may send zero values for fields that they do not set.
func zeroless(v any) any {
	if v == "" || v == int64(0) {
		return nil
	}
	return v
}

// eventValue returns the value of the named event field for use in an error message.
func eventValue(name string, obj object.Object) any {
	switch name {
	case "involvedObject":
		return gotext.Value(gotext.ObjectReference, obj.At(name))
	case "related":
		return kind.GoPointer(gotext.ObjectReference, obj.At(name))
	case "source":
		return gotext.Value(gotext.EventSource, obj.At(name))
	case "count":
		return obj.Int64(name)
	case "firstTimestamp", "lastTimestamp", "eventTime":
		return obj[name]
	}
	return obj.String(name)
}

func eventRow(now time.Time, obj object.Object) resource.Row {
	first := table.SinceCell(now, cmp.Or(obj.String("firstTimestamp"), obj.String("eventTime")))
	last := first
	if stamp := obj.String("lastTimestamp"); stamp != "" {
		last = table.SinceCell(now, stamp)
	}
	count := obj.Int64("count")
	if series := obj.At("series"); series != nil {
		last, count = table.SinceCell(now, series.String("lastObservedTime")), series.Int64("count")
	} else if count == 0 {
		count = 1
	}
	involved := obj.At("involvedObject")
	target := strings.ToLower(involved.String("kind"))
	if name := involved.String("name"); name != "" {
		target += "/" + name
	}
	source := eventSource(obj)
	if host := cmp.Or(obj.String("source", "host"), obj.String("reportingInstance")); host != "" {
		source += ", " + host
	}
	return table.Row(last, obj.String("type"), obj.String("reason"), target, involved.String("fieldPath"), source,
		strings.TrimSpace(obj.String("message")), first, count, obj.Name())
}
