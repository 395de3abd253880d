package crd

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/crd/structural"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/webhook"
)

// Server creates the resources that one API server serves for CustomResourceDefinitions. It is not safe for concurrent
// use: the Cluster's lock guards it.
type Server struct {
	Schema *schema.Set     // for descriptions of columns
	Minor  int             // 36 is Kubernetes 1.36
	Meta   structural.Meta // decodes metadata
	Host   Host            // calls conversion webhooks; nil if there are none

	definitions map[string]*definition
	kinds       map[schema.GVK]*served // for the decoder
}

// Host provides the registered functions and the webhooks that convert objects.
type Host interface {
	// NewUID returns a uid for a review.
	NewUID() string
	// Converter returns the conversion function that was registered for a definition, or nil.
	Converter(name string) Converter
	// Call has the signature of webhook.Call.
	Call(ctx context.Context, q *webhook.Request) (*webhook.Answer, error)
	// Memory returns the cache of webhook results, which all Servers of a Cluster share.
	Memory() *Memory
	// After calls f after d of the Cluster's time. The function stop cancels the call.
	After(d time.Duration, f func()) (stop func())
	// Wait returns when d of the Cluster's time has passed or the context is done. It is called without the Cluster's lock.
	Wait(ctx context.Context, d time.Duration)
}

// definition is one CustomResourceDefinition, prepared for serving.
type definition struct {
	server     *Server
	name       string
	conversion object.Object                   // spec.conversion
	versions   map[string]*served              // versions by apiVersion
	stored     string                          // apiVersion in which objects are stored
	form       string                          // identifies everything that determines how stored objects are decoded
	spec       string                          // spec and accepted names
	resources  []*resource.Definition          // resources of the served versions
	all        map[string]*resource.Definition // resources of all versions, by apiVersion
	hub        *resource.Definition            // resource of the storage version, whether it is served or not
}

// served is one version of a definition.
type served struct {
	apiVersion string
	raw        string // the schema as JSON
	selectable []any  // spec.versions[*].selectableFields
	schema     *structural.Schema
	root       *structural.Schema // schema as the schema of a whole resource
	typ        *schema.Type
	rules      *cel.Rules
	embeds     bool // the schema has embedded resources
	keeps      bool // fields that are not in the schema are kept (preserveUnknownFields)
	cached     bool // watch caches contain objects in this version, because it is served or stored
	codec      *resource.StorageCodec
}

// Change is the result of Define.
type Change struct {
	Old, New []*resource.Definition
	// Restarted reports whether the storage of the objects is restarted. As in the real server, that ends watches.
	Restarted bool
}

// Define adds or replaces a stored definition, and returns the changes of its resources.
func (s *Server) Define(it *resource.Item) Change {
	from := readingOf(it)
	crd := from.crd
	old := s.definitions[crd.Name()]
	d := &definition{server: s, name: crd.Name(), conversion: crd.Map("spec", "conversion"), versions: map[string]*served{}, spec: from.text}
	c := Change{}
	if old != nil {
		c.Old, c.Restarted = old.resources, old.spec != d.spec
	}
	if Served(crd) {
		d.read(from, old)
		d.resources = d.define(from)
	}
	if s.definitions == nil {
		s.definitions, s.kinds = map[string]*definition{}, map[schema.GVK]*served{}
	}
	s.forget(old)
	s.definitions[d.name] = d
	for _, r := range d.resources {
		s.kinds[r.GVK] = d.versions[r.GV()]
	}
	c.New = d.resources
	return c
}

// Remove removes a definition and returns its resources.
func (s *Server) Remove(name string) []*resource.Definition {
	d := s.definitions[name]
	if d == nil {
		return nil
	}
	s.forget(d)
	delete(s.definitions, name)
	return d.resources
}

// Reset removes all definitions and returns their resources.
func (s *Server) Reset() []*resource.Definition {
	var all []*resource.Definition
	for _, name := range object.SortedKeys(s.definitions) {
		all = append(all, s.Remove(name)...)
	}
	return all
}

func (s *Server) forget(d *definition) {
	if d == nil {
		return
	}
	for _, r := range d.resources {
		delete(s.kinds, r.GVK)
	}
}

// CallsWebhook reports whether a definition specifies a webhook that converts its objects.
func (s *Server) CallsWebhook() bool {
	for _, d := range s.definitions { // the order does not matter
		if d.conversion.String("strategy") == "Webhook" {
			return true
		}
	}
	return false
}

// Hub returns the resource of a definition's storage version, or nil if the definition does not exist.
func (s *Server) Hub(name string) *resource.Definition {
	if d := s.definitions[name]; d != nil {
		return d.hub
	}
	return nil
}

// Version returns the resource of another version of the same definition, whether served or not. If there is no such version, it
// returns nil.
func (s *Server) Version(d *resource.Definition, apiVersion string) *resource.Definition {
	if of := s.definitions[d.Storage]; of != nil {
		return of.all[apiVersion]
	}
	return nil
}

// Known reports whether a kind belongs to a custom resource.
func (s *Server) Known(kind schema.GVK) bool { return s.kinds[kind] != nil }

// Prune removes fields that are not in the schema of the kind from an object in a request. It returns their paths. The paths in
// the metadata of embedded resources are last. If the version has no schema, only apiVersion, kind and metadata remain.
func (s *Server) Prune(kind schema.GVK, obj object.Object) ([]string, error) {
	v := s.kinds[kind]
	if v == nil {
		v = &served{root: (&structural.Schema{}).Root()}
	}
	pruned := v.root.Prune(map[string]any(obj))
	unknown, bad := v.schema.Coerce(map[string]any(obj), field.Path{}, s.Meta, false)
	if bad != nil {
		return nil, bad
	}
	slices.Sort(unknown)
	return append(pruned, unknown...), nil
}

// Published returns the openAPIV3Schema of a resource, to which it adds the selectable fields. It returns nil for a version without a
// schema, and for a definition that keeps unknown fields.
func (s *Server) Published(d *resource.Definition) object.Object {
	v := s.kinds[d.GVK]
	if v == nil || v.raw == "" || v.keeps {
		return nil
	}
	obj, err := object.Parse([]byte(v.raw))
	if err != nil {
		return nil
	}
	var fields []any
	for _, f := range v.selectable {
		fields = append(fields, map[string]any{"fieldPath": strings.TrimPrefix(object.As(f).String("jsonPath"), ".")})
	}
	if fields != nil {
		obj["x-kubernetes-selectable-fields"] = fields
	}
	return obj
}

// read creates the versions of a definition. It reuses versions of old whose schema is unchanged.
func (d *definition) read(from *reading, old *definition) {
	crd, s := from.crd, from.spec
	d.stored = group(crd) + "/" + s.storageVersion()
	form := d.stored + string(object.JSON(map[string]any(d.conversion)))
	for i, x := range s.versions {
		v := &served{apiVersion: group(crd) + "/" + x.name, selectable: x.whole.fields, cached: x.served || x.storage,
			keeps: crd.True("spec", "preserveUnknownFields"), raw: from.raw[i]}
		var was *served
		if old != nil {
			was = old.versions[v.apiVersion]
		}
		if was != nil && was.raw == v.raw && was.keeps == v.keeps {
			v.schema, v.root, v.typ, v.rules = was.schema, was.root, was.typ, was.rules
		} else {
			d.compile(v, x.whole.openAPI())
		}
		v.embeds = v.schema.Embeds()
		d.versions[v.apiVersion] = v
		form += "\n" + v.apiVersion + v.raw + string(object.JSON(v.selectable)) + strconv.FormatBool(v.cached) + strconv.FormatBool(v.keeps)
	}
	if d.form = form; old != nil && old.form != form {
		d.server.forgetAnswers(d.name)
	}
	asks := d.conversion.String("strategy") == "Webhook"
	for _, name := range object.SortedKeys(d.versions) {
		v := d.versions[name]
		if old != nil && old.form == form && old.versions[name] != nil {
			v.codec = old.versions[name].codec
			continue
		}
		v.codec = &resource.StorageCodec{Stored: schema.ParseGVK(d.stored, crd.String("status", "acceptedNames", "kind")),
			Read: func(by resource.Asker, obj object.Object) (object.Object, error) {
				return d.fromStored(obj, v, d.recall(by))
			},
			Write: func(by resource.Asker, obj object.Object) (object.Object, error) {
				return d.converted(obj, d.stored, d.ask(by))
			},
			Convert: d.convert,
			Prepare: d.prepare,
			Fill:    func(obj object.Object) { v.schema.Fill(map[string]any(obj)) },
			Tidy:    func(obj object.Object) { d.tidy(obj, v) },
			Whole:   func(obj object.Object) bool { return v.root.Whole(map[string]any(obj)) && d.server.readable(obj) },
		}
		if asks {
			v.codec.Ask = func(by resource.Asker, obj object.Object) (object.Object, error) {
				return d.fromStored(obj, v, d.ask(by))
			}
		}
	}
}

func (d *definition) compile(v *served, openAPI map[string]any) {
	objectMeta := d.server.Schema.Named(ObjectMeta)
	if openAPI != nil {
		c := source{d.server.Minor, v.raw, objectMeta}.compile(openAPI, d.server.Meta)
		v.schema, v.root, v.typ, v.rules = c.schema, c.root, c.typ, c.rules
	}
	if v.keeps {
		free := &structural.Schema{Preserve: true}
		v.root, v.typ = free.Root(), free.TypeOf(objectMeta)
	}
}

// fromStored converts a stored object to version v. An object without a generation gets the first one. Then fromStored prunes the object
// and sets defaults, according to the schema of the stored version. After the conversion it prunes the object again, according to the
// schema of v.
func (d *definition) fromStored(obj object.Object, v *served, webhook Converter) (object.Object, error) {
	d.server.dropUnreadable(obj)
	if generation, _ := obj.Int("metadata", "generation"); generation == 0 {
		obj.Set(int64(1), "metadata", "generation")
	}
	if from := d.versions[obj.APIVersion()]; from != nil {
		_, _ = from.schema.Coerce(map[string]any(obj), field.Path{}, d.server.Meta, true) // removes invalid metadata
		from.root.Prune(map[string]any(obj))
		from.schema.ApplyDefaults(map[string]any(obj))
	}
	return d.converted(obj, v.apiVersion, webhook)
}

// tidy normalizes the metadata of an object and of its embedded resources to the form that it has after decoding.
func (d *definition) tidy(obj object.Object, v *served) {
	for _, x := range obj.Metadata() { // order does not matter: one blank field suffices
		if object.Blank(x) {
			if meta, _, err := d.server.Meta(obj["metadata"]); err == nil {
				obj["metadata"] = meta
			}
			break
		}
	}
	if v.embeds {
		_, _ = v.schema.Coerce(map[string]any(obj), field.Path{}, d.server.Meta, true)
	}
}

// converted converts an object to another version and prunes it according to the schema of that version.
func (d *definition) converted(obj object.Object, apiVersion string, webhook Converter) (object.Object, error) {
	if obj.APIVersion() == apiVersion {
		return obj, nil
	}
	obj, err := d.convertBy(webhook, obj, apiVersion)
	if err != nil {
		return nil, err
	}
	if err := d.server.readMeta(obj); err != nil {
		return nil, err
	}
	if to := d.versions[apiVersion]; to != nil {
		if _, err := to.schema.Coerce(map[string]any(obj), field.Path{}, d.server.Meta, false); err != nil {
			return nil, err
		}
		to.root.Prune(map[string]any(obj))
		to.schema.DropNulls(map[string]any(obj))
	}
	return obj, nil
}
