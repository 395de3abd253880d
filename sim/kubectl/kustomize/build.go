// Package kustomize builds the objects of a directory with a kustomization.yaml, like "kubectl kustomize", from local files and
// without plugins.
//
//	kustomization.yaml ─ resources, generators, components ─▶ objects
//	    ─ patches ─ namespace ─ namePrefix, nameSuffix ─ labels, annotations ─ replicas, images ─▶ objects
//	    ─ new names in the references of built-in kinds ─ replacements ─ vars ─ order ─▶ objects
//
// Errors and warnings are those of the real kustomize, with the working directory as /. An unknown field, or a resource that is not a
// local file, is an error that names it. Only the nameReference section of transformer configurations is used. It lists fields that
// refer to objects whose names may change. Resources are read as YAML 1.1, in which an unquoted y, n, yes, no, on or off is a boolean;
// the real kustomize reads it as text.
package kustomize

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// Build returns the objects of the kustomization in a directory, in the order that its sortOptions require. It prints warnings about
// deprecated fields. It returns an error for an unknown field or a resource that is not a local file.
func Build(files Files, dir string, warnings io.Writer) ([]object.Object, error) {
	types, err := schema.Load(schema.Default)
	if err != nil {
		return nil, err
	}
	b := &build{types: types, files: files, warnings: warnings}
	if File(files, dir) == "" {
		return nil, b.notFolder(dir, dir)
	}
	k, all, err := b.folder(dir, nil, nil)
	if err == nil {
		err = hashNames(all)
	}
	if err != nil {
		return nil, err
	}
	b.refer(all, "")
	if err := b.expand(all); err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(it *item) bool { return it.obj.Annotations()["config.kubernetes.io/local-config"] == "true" })
	if err := order(k, all); err != nil {
		return nil, err
	}
	out := make([]object.Object, len(all))
	for i, it := range all {
		if slices.Contains(k.Strings("buildMetadata"), "managedByLabel") {
			it.obj.Set("kustomize-"+Version, "metadata", "labels", "app.kubernetes.io/managed-by")
		}
		out[i] = it.obj
	}
	return out, nil
}

// Version is the version of kustomize in kubectl.
const Version = "v5.8.1"

// build is the state of a Build.
type build struct {
	types      *schema.Set
	files      Files
	warnings   io.Writer
	configured []reference // from all configurations
	vars       []variable  // of all kustomizations
}

// item is an object during a Build.
type item struct {
	obj object.Object
	// names are the earlier names of a renamed object, with their namespaces.
	names []name
	hash  bool // whether a hash of its content is appended to its name
}

type name struct{ namespace, name string }

// allNames returns the earlier names of the item and its current one.
func (it *item) allNames() []name {
	return append(it.names[:len(it.names):len(it.names)], name{it.obj.Namespace(), it.obj.Name()})
}

// is reports whether the item has or had the given name. An empty namespace matches any.
func (it *item) is(namespace, called string) bool {
	return slices.ContainsFunc(it.allNames(), func(n name) bool {
		return n.name == called && (namespace == "" || n.namespace == namespace || n.namespace == "")
	})
}

// id returns the identifier of an object in messages, such as Deployment.v1.apps/web.[noNs] (resid.ResId).
func id(obj object.Object) string {
	return fmt.Sprintf("%s.%s.%s/%s.%s", obj.Kind(), cmp.Or(versionOf(obj), "[noVer]"), cmp.Or(groupOf(obj), "[noGrp]"),
		cmp.Or(obj.Name(), "[noName]"), cmp.Or(obj.Namespace(), "[noNs]"))
}

// folder returns the kustomization in a directory, and before with its objects appended; a component may change the objects of before.
// way lists the directories that led to this one, so that folder can detect cycles.
func (b *build) folder(dir string, before []*item, way []string) (object.Object, []*item, error) {
	dir = path.Clean(dir)
	if slices.Contains(way, dir) {
		return nil, nil, fmt.Errorf("cycle detected: candidate root '%s' contains visited root '%s'", absolute(dir), absolute(dir))
	}
	k, err := b.read(File(b.files, dir))
	if err != nil {
		return nil, nil, err
	}
	before, err = b.kustomize(k, dir, before, append(way[:len(way):len(way)], dir))
	return k, before, err
}

// kustomize processes a kustomization or component in dir. It returns all with the new items; a component also changes the items in
// all. way are the directories that led here.
func (b *build) kustomize(k object.Object, dir string, all []*item, way []string) ([]*item, error) {
	component := k.Kind() == "Component"
	var err error
	own := all
	if !component {
		own = nil
	}
	for _, file := range slices.Concat(k.Strings("resources"), k.Strings("bases")) {
		if own, err = b.resource(dir, file, own, way); err != nil {
			return nil, fmt.Errorf("accumulating resources: %w", err)
		}
	}
	for _, file := range k.Strings("configurations") {
		if err := b.configure(dir, file); err != nil {
			return nil, err
		}
	}
	if own, err = b.generate(k, dir, own); err != nil {
		return nil, err
	}
	for _, name := range k.Strings("components") {
		if own, err = b.component(path.Join(dir, name), own, way); err != nil {
			return nil, fmt.Errorf("accumulating components: %w", err)
		}
	}
	if own, err = b.transform(k, dir, own); err != nil {
		return nil, err
	}
	if err := b.declare(k, own); err != nil {
		return nil, err
	}
	if component {
		return own, nil
	}
	return append(all, own...), nil
}

// component applies the component in a directory to the items.
func (b *build) component(dir string, all []*item, way []string) ([]*item, error) {
	if File(b.files, dir) == "" {
		return nil, fmt.Errorf("loader.New \"%w\"", b.notFolder(absolute(dir), dir))
	}
	if slices.Contains(way, path.Clean(dir)) {
		_, _, err := b.folder(dir, all, way)
		return nil, fmt.Errorf("loader.New \"%w\"", err)
	}
	_, all, err := b.folder(dir, all, way)
	return all, err
}

// resource adds the items of an entry of resources to all. The entry is a file or a directory, not a URL (accumulateResources).
func (b *build) resource(dir, entry string, all []*item, way []string) ([]*item, error) {
	name := path.Join(dir, entry)
	from := fmt.Sprintf("accumulating resources from '%s'", entry)
	if File(b.files, name) != "" {
		way := slices.Clone(way)
		within := func(err error) error {
			return fmt.Errorf("accumulation err='%s: '%s' must resolve to a file': %w", from, absolute(name), err)
		}
		if slices.Contains(way, path.Clean(name)) {
			_, _, err := b.folder(name, nil, way)
			return nil, within(err)
		}
		_, list, err := b.folder(name, nil, way)
		if err != nil {
			return nil, within(fmt.Errorf("recursed accumulation of path '%s': %w", absolute(name), err))
		}
		if err := b.unique(all, list); err != nil {
			return nil, within(fmt.Errorf("recursed merging from path '%s': %w", absolute(name), err))
		}
		return append(all, list...), nil
	}
	var data []byte
	var err error
	if strings.HasPrefix(entry, "https://") || strings.HasPrefix(entry, "http://") {
		if data, err = b.files.ReadFile(entry); err != nil { // the page has copies of some well-known files
			return nil, fmt.Errorf("nothing is fetched from %s: paste it into a file, and name that", entry)
		}
	} else if data, err = b.load(dir, entry); err != nil {
		return nil, fmt.Errorf("accumulation err='%s: %w': %w", from, err, b.notFolder(absolute(name), name))
	}
	list, err := codec.Manifest(data)
	if err != nil {
		return nil, fmt.Errorf("%s: MalformedYAMLError: %w in File: %s", from, plainYAML(err), entry)
	}
	items := make([]*item, len(list))
	for i, obj := range list {
		if obj.Map("metadata") == nil {
			return nil, fmt.Errorf("accumulation err='%s: missing Resource metadata': %w", from, b.notFolder(absolute(name), name))
		}
		items[i] = &item{obj: obj}
		if err := b.unique(append(all, items[:i]...), items[i:i+1]); err != nil {
			return nil, fmt.Errorf("accumulation err='merging resources from '%s': %w': %w", entry, err, b.notFolder(absolute(name), name))
		}
	}
	return append(all, items...), nil
}

// unique returns an error if an item of more has the kind and the name of one of all.
func (b *build) unique(all, more []*item) error {
	ids := map[string]bool{}
	for _, it := range all {
		ids[id(it.obj)] = true
	}
	for _, it := range more {
		if ids[id(it.obj)] {
			return fmt.Errorf("may not add resource with an already registered id: %s", id(it.obj))
		}
	}
	return nil
}

// namespaced reports whether objects of a kind are namespaced. Custom resources always are, because kustomize does not read their
// definitions.
func (b *build) namespaced(obj object.Object) bool {
	gvk := schema.ParseGVK(obj.APIVersion(), obj.Kind())
	for _, r := range b.types.Resources() {
		if r.Group == gvk.Group && r.Kind == gvk.Kind {
			return r.Namespaced
		}
	}
	return true
}

// builtin returns the type of an object of a built-in kind, whose references are known, or nil.
func (b *build) builtin(obj object.Object) *schema.Type {
	return b.types.Kind(schema.ParseGVK(obj.APIVersion(), obj.Kind()))
}
