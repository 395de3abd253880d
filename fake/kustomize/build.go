// Package kustomize builds the objects of a directory with a kustomization.yaml, like "kubectl kustomize", from local files and
// without plugins.
//
//	kustomization.yaml ─ resources, components, generators ─▶ objects
//	    ─ patches ─ namespace ─ namePrefix, nameSuffix ─ labels, annotations ─ replicas, images ─▶ objects
//	    ─ new names in the references of built-in kinds ─ replacements ─▶ objects
//
// An unknown field, or a resource that is not a local file, is an error that names it. Only the nameReference section of
// transformer configurations is used. It lists fields that refer to objects whose names may change.
package kustomize

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// Names are the possible names of a kustomization file.
var Names = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// File returns the path of the kustomization file in a directory, or "" if there is none.
func File(dir string) string {
	for _, name := range Names {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

// Build returns the objects of the kustomization in a directory, in the order of its resources. It returns an error for an unknown
// field or a resource that is not a local file.
func Build(dir string) ([]object.Object, error) {
	types, err := schema.Load(schema.Default)
	if err != nil {
		return nil, err
	}
	b := &build{types: types}
	all, err := b.folder(dir, nil, nil)
	if err == nil {
		err = hashNames(all)
	}
	if err != nil {
		return nil, err
	}
	b.refer(all, "")
	out := make([]object.Object, len(all))
	for i, it := range all {
		out[i] = it.obj
	}
	return out, nil
}

// build is the state of a Build.
type build struct {
	types      *schema.Set
	configured []reference // from all configurations
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

// known are the fields of a kustomization that are accepted.
var known = []string{"apiVersion", "kind", "metadata", "resources", "bases", "components", "crds", "configurations", "namespace",
	"namePrefix", "nameSuffix", "commonLabels", "labels", "commonAnnotations", "images", "replicas", "patches", "patchesStrategicMerge",
	"patchesJson6902", "configMapGenerator", "secretGenerator", "generatorOptions", "sortOptions", "buildMetadata", "replacements"}

// folder appends the objects of a kustomization to before, whose objects a component may change. way lists the directories that led
// to this one, so that folder can detect cycles.
func (b *build) folder(dir string, before []*item, way []string) ([]*item, error) {
	dir = filepath.Clean(dir)
	if slices.Contains(way, dir) {
		return nil, fmt.Errorf("%s: it is made of itself", dir)
	}
	file := File(dir)
	if file == "" {
		return nil, fmt.Errorf("%s: there is no %s", dir, Names[0])
	}
	k, err := read(file)
	if err == nil {
		way = append(way[:len(way):len(way)], dir)
		before, err = b.kustomize(k, dir, before, way)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return before, nil
}

func read(file string) (object.Object, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	text, err := codec.YAMLToJSON(data)
	if err != nil {
		return nil, err
	}
	k, err := object.Parse(text)
	if err != nil {
		return nil, err
	}
	for _, field := range object.SortedKeys(k) {
		if !slices.Contains(known, field) {
			return nil, fmt.Errorf("the field %s is not simulated: run kubectl kustomize, and load what it prints", field)
		}
	}
	return k, nil
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
	for _, path := range k.Strings("configurations") {
		if err := b.configure(filepath.Join(dir, path)); err != nil {
			return nil, err
		}
	}
	for _, path := range slices.Concat(k.Strings("resources"), k.Strings("bases")) {
		if own, err = b.resource(filepath.Join(dir, path), own, way); err != nil {
			return nil, err
		}
	}
	for _, path := range k.Strings("components") {
		if own, err = b.folder(filepath.Join(dir, path), own, way); err != nil {
			return nil, err
		}
	}
	if own, err = generate(k, dir, own); err != nil {
		return nil, err
	}
	if own, err = b.transform(k, dir, own); err != nil {
		return nil, err
	}
	if component {
		return own, nil
	}
	return append(all, own...), nil
}

// resource adds the items of an entry of resources to all. The entry is a file or a directory, not a URL.
func (b *build) resource(path string, all []*item, way []string) ([]*item, error) {
	info, err := os.Stat(path)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%s: it is not a local file or folder", path)
		}
		return nil, err
	}
	if info.IsDir() {
		list, err := b.folder(path, nil, way)
		return append(all, list...), err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	list, err := codec.Manifest(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, obj := range list {
		all = append(all, &item{obj: obj})
	}
	return all, nil
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
