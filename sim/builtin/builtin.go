// Package builtin holds what the schema data cannot say about Kubernetes' own kinds: defaults written in Go, validation,
// what happens to status and generation, field selectors, Table columns. A file per API group or kind; rules read like
// a table.
//
//	schema.Set.Resources() ── names, scope, verbs, structure ───────┐
//	kinds (pods.go, services.go, …) ── strategy, defaults, columns ─┴─▶ Definitions ─▶ resource.Table
//
// A resource without an entry here is served all the same, as a kind without rules of its own.
package builtin

import (
	"strings"
	"sync"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// kind is what one resource adds to its definition.
type kind struct {
	storage  string // Definition.Storage: "deployments.apps", "pods"
	strategy resource.Strategy
	changed  changes // strategy.SpecChanged, where it needs the type of the objects

	// defaults by version; "" is every version without an entry.
	defaults map[string]func(object.Object)

	// labels are the field selector labels by group/version ("v1", "events.k8s.io/v1"), each mapped to a key of
	// strategy.Fields; "" is every version. unknown is the text for other labels: nil for kinds without labels.
	labels  map[string]map[string]string
	unknown func(label string) string

	// convert turns an object of a version that is not stored into the stored one and back, by version.
	convert map[string]conversion

	deprecated string // Definition.Deprecated

	// connect are the subresources with a body of their own, by name; connectSelf is Definition.Connect.
	connect     map[string]resource.Connector
	connectSelf resource.Connector

	columns []column
	row     func(now time.Time, obj object.Object) resource.Row
	order   func(a, b object.Object) int // of rows
}

// conversion is the way of one version to the hub and back.
type conversion struct {
	toHub, fromHub func(object.Object) (object.Object, error)
}

// column is a Table column. Its description is that of a field of a Go type, or text when typeName is "".
type column struct {
	name, kind, format string
	priority           int
	typeName, field    string // schema.Set.Doc(typeName, field)
	text               string
	without            string // end of the description that this column lacks: it is from an older version
}

// kinds returns the entries of all groups by storage name.
func kinds() map[string]*kind {
	all := map[string]*kind{}
	for _, group := range [][]kind{
		podKinds(), workloadKinds(), batchKinds(), autoscalingKinds(), policyKinds(),
		configKinds(), serviceKinds(), clusterKinds(), volumeKinds(), eventKinds(), networkingKinds(), endpointSliceKinds(),
		storageKinds(), rbacKinds(), schedulingKinds(), coordinationKinds(), admissionKinds(), certificateKinds(),
		flowcontrolKinds(), deviceKinds(), extensionKinds(), reviewKinds(),
	} {
		for i := range group {
			all[group[i].storage] = &group[i]
		}
	}
	return all
}

var (
	cached   sync.Map // *schema.Set → []*resource.Definition
	building sync.Mutex
)

// Definitions returns the definitions of all resources that an API server of the minor serves by default, in the order
// of discovery. They are made once per process and shared.
func Definitions(set *schema.Set) []*resource.Definition {
	if defs, ok := cached.Load(set); ok {
		return defs.([]*resource.Definition)
	}
	building.Lock()
	defer building.Unlock()
	if defs, ok := cached.Load(set); ok {
		return defs.([]*resource.Definition)
	}
	gates, err := GatesOf(set.Minor(), nil)
	if err != nil {
		panic(err) // the schema data names its minor
	}
	defs := DefinitionsWith(set, gates)
	cached.Store(set, defs)
	return defs
}

// DefinitionsWith is Definitions for a server with other feature gates. They are made anew with each call.
func DefinitionsWith(set *schema.Set, gates Gates) []*resource.Definition {
	known := gatedKinds(gates)
	for _, k := range known { // order does not matter
		reword(&k.strategy, set.Minor())
	}
	return define(set, known)
}

// gatedKinds returns kinds that obey the gates.
func gatedKinds(gates Gates) map[string]*kind {
	known := kinds()
	for _, storage := range object.SortedKeys(known) {
		gates.apply(known[storage])
	}
	return known
}

func define(set *schema.Set, known map[string]*kind) []*resource.Definition {
	var defs []*resource.Definition
	served := map[schema.GVK]*resource.Definition{}
	for _, r := range set.Resources() {
		d := defineOne(set, r, known)
		defs = append(defs, d)
		served[d.GVK] = d
	}
	for i, r := range set.Resources() {
		if defs[i].Hub = served[r.Storage]; defs[i].Hub == nil {
			defs[i].Hub = defs[i] // virtual, or stored in a version that is not served
		}
	}
	return defs
}

// defineOne makes one definition; its Hub is set later.
func defineOne(set *schema.Set, r schema.Resource, known map[string]*kind) *resource.Definition {
	d := &resource.Definition{
		GVK: r.GVK, Resource: r.Resource, Singular: r.Singular, ShortNames: r.ShortNames, Categories: r.Categories,
		Namespaced: r.Namespaced, Verbs: r.Verbs, Storage: storageName(r),
	}
	d.Type = func() *schema.Type { return set.Kind(d.GVK) }
	d.Raw = sync.OnceValue(func() *object.Places { return d.Type().Raw() })
	k := known[d.Storage]
	if k == nil {
		k = &kind{}
	}
	for _, s := range r.Subresources {
		sub := resource.Subresource{Name: s.Name, GVK: s.GVK, Verbs: s.Verbs, Stream: streams[s.Name], Connect: k.connect[s.Name]}
		sub.NoTable = noTable(d.Storage, s.Name)
		if s.Kind == "Scale" {
			sub.Row = scaleRow
			for _, c := range scaleColumns() {
				sub.Columns = append(sub.Columns, c.define(set))
			}
		}
		if sub.Connect != nil {
			sub.Body = resource.Body(s.GVK, func() *schema.Type { return set.Kind(s.GVK) }, bodyDefaults[s.Kind])
		}
		d.Subresources = append(d.Subresources, sub)
	}
	d.Connect = k.connectSelf
	k.strategy.Looks = looks(d.Storage)
	if k.changed != nil {
		k.strategy.SpecChanged = k.changed(func() *schema.Type { return set.Kind(d.Hub.GVK) })
	}
	d.Strategy = &k.strategy
	if d.Default = k.defaults[r.Version]; d.Default == nil {
		d.Default = k.defaults[""]
	}
	if d.FieldLabels = k.labels[r.GV()]; d.FieldLabels == nil {
		d.FieldLabels = k.labels[""]
	}
	d.UnknownField = k.unknown
	if c, ok := k.convert[r.GV()]; ok {
		d.ToHub, d.FromHub = c.toHub, c.fromHub
	}
	d.Row, d.RowOrder, d.Deprecated = k.row, k.order, k.deprecated
	for _, c := range k.columns {
		d.Columns = append(d.Columns, c.define(set))
	}
	return d
}

func (c column) define(set *schema.Set) resource.Column {
	out := resource.Column{Name: c.name, Type: c.kind, Format: c.format, Priority: c.priority, Description: c.text}
	if c.typeName != "" {
		out.Describe = func() string { return strings.TrimSuffix(set.Doc(c.typeName, c.field), c.without) }
	}
	return out
}

// streams are the subresources that stream or proxy; they are not simulated.
var streams = map[string]bool{"attach": true, "exec": true, "log": true, "portforward": true, "proxy": true}

// storageName is the resource part of the storage key. Events of both groups are one resource.
func storageName(r schema.Resource) string {
	if r.Group == "" || r.Resource == "events" {
		return r.Resource
	}
	return r.Resource + "." + r.Group
}
