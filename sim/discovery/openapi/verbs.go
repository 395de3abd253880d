package openapi

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// add appends an operation of a resource. If produces or consumes is not set, add sets the default.
func (b *builder) add(op operation, params ...[]param) {
	op.tag = b.tag()
	op.params = b.supported(slices.Concat(params...))
	b.describeParams(op.action, op.params)
	if op.produces == nil {
		op.produces = mediaTypes
		if b.custom {
			op.produces = customTypes
		}
	}
	if op.consumes == nil {
		op.consumes = anyType
		if b.custom {
			op.consumes = customTypes
		}
	}
	b.ops = append(b.ops, op)
}

// resource adds the operations of a resource.
func (b *builder) resource(def *resource.Definition) {
	at := b.scope(def)
	kind, own := def.GVK, b.nameOf(def.GVK)
	pretty := []param{prettyParam}
	if def.Allows("list") {
		b.list(def, at)
	}
	if def.Allows("create") {
		b.add(operation{path: at.path, method: "post", description: "create " + article(def.Kind), id: b.id("create", at.word+def.Kind),
			action: "post", kind: kind, body: own, bodyRequired: true, codes: []int{200, 201, 202}, result: own},
			at.params, writeParams, pretty)
	}
	if def.Allows("deletecollection") {
		op := operation{path: at.path, method: "delete", description: "delete collection of " + def.Kind,
			id: b.id("delete", "Collection"+at.word+def.Kind), action: "deletecollection", kind: kind,
			codes: []int{200}, result: meta + "Status"}
		if b.custom { // the real server ignores their DeleteOptions
			b.add(op, at.params, listParams, pretty)
		} else {
			op.body = meta + "DeleteOptions"
			b.add(op, at.params, manyParams, pretty)
		}
	}
	item := append(slices.Clone(at.params), nameParam(def.Kind), prettyParam)
	b.single(target{path: at.path + "/{name}", suffix: at.word + def.Kind, kind: def.GVK, parent: def.GVK, allows: def.Allows}, def.Kind, item)
	if def.Allows("delete") {
		result := meta + "Status"
		if def.Hub != nil && def.Hub.Strategy != nil && def.ReturnsDeleted() && def.Sub("finalize") == nil {
			result = own // except a namespace's, which is published as a Status
		}
		b.add(operation{path: at.path + "/{name}", method: "delete", description: "delete " + article(def.Kind),
			id: b.id("delete", at.word+def.Kind), action: "delete", kind: kind, body: meta + "DeleteOptions",
			codes: []int{200, 202}, result: result}, item, deleteParams)
	}
	if def.Allows("watch") && !b.custom {
		b.watch(def)
	}
}

// list adds the operations on a collection, in one namespace and in all namespaces.
func (b *builder) list(def *resource.Definition, at scope) {
	kind := def.GVK
	kind.Kind = def.ListKind()
	op := operation{path: at.path, method: "get", description: "list objects of kind " + def.Kind, id: b.id("list", at.word+def.Kind),
		action: "list", kind: def.GVK, codes: []int{200}, result: b.nameOf(kind)}
	if def.Allows("watch") && !b.custom {
		op.description = "list or watch objects of kind " + def.Kind
	}
	if !b.custom {
		op.produces = streamTypes
	}
	pretty := []param{prettyParam}
	b.add(op, at.params, listParams, pretty)
	if def.Namespaced {
		op.path, op.id = b.root()+"/"+def.Resource, b.id("list", def.Kind+"ForAllNamespaces")
		b.add(op, listParams, pretty)
	}
}

// watch adds the deprecated paths below /watch.
func (b *builder) watch(def *resource.Definition) {
	path := b.root() + "/watch/" + def.Resource
	word, params := "", []param{prettyParam}
	op := operation{method: "get", kind: def.GVK, produces: streamTypes, codes: []int{200}, result: meta + "WatchEvent"}
	op.description = "watch individual changes to a list of " + def.Kind + ". deprecated: use the 'watch' parameter with a list operation instead."
	op.action = "watchlist"
	if def.Namespaced {
		op.path, op.id = path, b.id("watch", def.Kind+"ListForAllNamespaces")
		b.add(op, listParams, params)
		path = b.root() + "/watch/namespaces/{namespace}/" + def.Resource
		word, params = "Namespaced", append(params, namespaceParam)
	}
	op.path, op.id = path, b.id("watch", word+def.Kind+"List")
	b.add(op, listParams, params)
	if !def.Allows("get") {
		return
	}
	op.path, op.id, op.action = path+"/{name}", b.id("watch", word+def.Kind), "watch"
	op.description = "watch changes to an object of kind " + def.Kind + ". deprecated: use the 'watch' parameter with a list operation " +
		"instead, filtered to a single item with the 'fieldSelector' parameter."
	b.add(op, listParams, params, []param{nameParam(def.Kind)})
}

// target is the object or subresource on which get, put and patch operate.
type target struct {
	path   string
	of     string // precedes "the specified Pod": "status of ", or "" for the object itself
	suffix string // ends the operationIds
	kind   schema.GVK
	parent schema.GVK // kind of the object, which operations of custom resources name even for scale
	allows func(verb string) bool
}

// single adds the operations get, put and patch on an object or a subresource.
func (b *builder) single(t target, parent string, item []param) {
	name := b.nameOf(t.kind)
	var read []param
	if b.custom {
		read, t.kind = readParams, t.parent
	}
	if t.allows("get") {
		b.add(operation{path: t.path, method: "get", description: "read " + t.of + "the specified " + parent,
			id: b.id("read", t.suffix), action: "get", kind: t.kind, codes: []int{200}, result: name}, item, read)
	}
	if t.allows("update") {
		b.add(operation{path: t.path, method: "put", description: "replace " + t.of + "the specified " + parent, id: b.id("replace", t.suffix),
			action: "put", kind: t.kind, body: name, bodyRequired: true, codes: []int{200, 201}, result: name}, item, writeParams)
	}
	if t.allows("patch") {
		op := operation{path: t.path, method: "patch", description: "partially update " + t.of + "the specified " + parent,
			id: b.id("patch", t.suffix), action: "patch", kind: t.kind, body: meta + "Patch", bodyRequired: true,
			consumes: patchTypes, codes: []int{200, 201}, result: name}
		if b.custom {
			op.consumes, op.codes = customPatchTypes, []int{200}
		}
		b.add(op, item, patchParams)
	}
}

// subresource adds the operations of a subresource.
func (b *builder) subresource(def *resource.Definition, sub *resource.Subresource) {
	at := b.scope(def)
	path, suffix := at.path+"/{name}/"+sub.Name, at.word+def.Kind+word(sub.Name, true)
	named := sub.Kind
	if b.custom {
		named = def.Kind
	}
	item := append(slices.Clone(at.params), nameParam(named))
	if strings.HasSuffix(sub.Kind, "Options") {
		b.connect(def, sub, path, item)
		return
	}
	item = append(item, prettyParam)
	if options := b.Schema.Kind(schema.GVK{Group: def.Group, Version: def.Version, Kind: def.Kind + word(sub.Name, true) + "Options"}); options != nil {
		b.add(operation{path: path, method: "get", description: "read " + sub.Name + " of the specified " + def.Kind,
			id: b.id("read", suffix), action: "get", kind: sub.GVK, codes: []int{200},
			produces: append([]string{"text/plain"}, mediaTypes...)}, item, b.optionParams(options))
		return
	}
	if sub.Allows("create") {
		own := b.nameOf(sub.GVK)
		b.add(operation{path: path, method: "post", description: "create " + sub.Name + " of " + article(def.Kind), id: b.id("create", suffix),
			action: "post", kind: sub.GVK, body: own, bodyRequired: true, codes: []int{200, 201, 202}, result: own}, item, writeParams)
	}
	b.single(target{path: path, of: sub.Name + " of ", suffix: suffix, kind: sub.GVK, parent: def.GVK, allows: sub.Allows}, def.Kind, item)
}

var connectMethods = []string{"delete", "get", "head", "options", "patch", "post", "put"}

// connect adds the operations of a streaming or proxy subresource. If the subresource allows delete, there is one for every method;
// otherwise there are GET and POST.
func (b *builder) connect(def *resource.Definition, sub *resource.Subresource, path string, item []param) {
	if options := b.Schema.Kind(sub.GVK); options != nil {
		item = append(item, b.optionParams(options)...)
	}
	methods := []string{"get", "post"}
	if sub.Allows("delete") {
		methods = connectMethods
	}
	for _, method := range methods {
		op := operation{path: path, method: method, action: "connect", kind: sub.GVK, produces: anyType, codes: []int{200},
			description: "connect " + strings.ToUpper(method) + " requests to " + sub.Name + " of " + def.Kind,
			id:          b.id("connect", word(method, true)+b.scope(def).word+def.Kind+word(sub.Name, true))}
		b.add(op, item)
		if sub.Name == "proxy" {
			op.path, op.id = path+"/{path}", op.id+"WithPath"
			b.add(op, item, []param{proxyPathParam})
		}
	}
}
