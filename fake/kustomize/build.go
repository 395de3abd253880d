// Package kustomize builds the objects of a folder with a kustomization.yaml, as "kubectl kustomize" does, from local files and without
// plugins.
//
//	kustomization.yaml ─ resources, components, generators ─▶ objects
//	    ─ patches ─ namespace ─ namePrefix, nameSuffix ─ labels, annotations ─ replicas, images ─▶ objects
//	    ─ new names in the references of built-in kinds ─ replacements ─▶ objects
//
// An unknown field, or a resource that is not a local file, is an error that names it. Only the nameReference section of transformer
// configurations is used: it lists the fields that refer to objects that may be renamed.
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

// Names are those of a file that makes a folder a kustomization.
var Names = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// File returns the path of the kustomization of a folder, "" if it is none.
func File(dir string) string {
	for _, name := range Names {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

// Build returns the objects of a kustomization in their order.
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

// build is one run of Build.
type build struct {
	types      *schema.Set
	configured []reference // of all configurations that were read
}

// item is an object on its way.
type item struct {
	obj object.Object
	// names are the earlier names of a renamed object, with their namespaces.
	names []name
	hash  bool // its name gets a hash of its content
}

type name struct{ namespace, name string }

// allNames returns the names that the item had, and the one that it has.
func (it *item) allNames() []name {
	return append(it.names[:len(it.names):len(it.names)], name{it.obj.Namespace(), it.obj.Name()})
}

// is reports whether the item is, or was, called so. "" is any.
func (it *item) is(namespace, called string) bool {
	return slices.ContainsFunc(it.allNames(), func(n name) bool {
		return n.name == called && (namespace == "" || n.namespace == namespace || n.namespace == "")
	})
}

// known are the fields of a kustomization, and whether they do something here.
var known = []string{"apiVersion", "kind", "metadata", "resources", "bases", "components", "crds", "configurations", "namespace",
	"namePrefix", "nameSuffix", "commonLabels", "labels", "commonAnnotations", "images", "replicas", "patches", "patchesStrategicMerge",
	"patchesJson6902", "configMapGenerator", "secretGenerator", "generatorOptions", "sortOptions", "buildMetadata", "replacements"}

// folder returns the objects of a kustomization behind those there are, which a component changes. way are the folders that led
// to it.
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

// kustomize carries out one kustomization.
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

// resource reads one entry of resources: a file or a folder.
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

// namespaced reports whether objects of a kind are in namespaces. Custom resources always are: kustomize does not read their definition.
func (b *build) namespaced(obj object.Object) bool {
	gvk := schema.ParseGVK(obj.APIVersion(), obj.Kind())
	for _, r := range b.types.Resources() {
		if r.Group == gvk.Group && r.Kind == gvk.Kind {
			return r.Namespaced
		}
	}
	return true
}

// builtin reports whether an object is of a built-in kind, whose references are known.
func (b *build) builtin(obj object.Object) *schema.Type {
	return b.types.Kind(schema.ParseGVK(obj.APIVersion(), obj.Kind()))
}
