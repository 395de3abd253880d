package kustomize

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/patch"
	"github.com/kubesim/kubesim/sim/selector"
)

// transform applies the transformations of a kustomization to its objects, in kustomize's order.
func (b *build) transform(k object.Object, dir string, all []*item) ([]*item, error) {
	var err error
	for _, text := range k.List("patchesStrategicMerge") {
		if all, err = b.patch(object.Object{"patch": text}, dir, all, true); err != nil {
			return nil, err
		}
	}
	for _, p := range slices.Concat(k.Objects("patches"), k.Objects("patchesJson6902")) {
		if all, err = b.patch(p, dir, all, false); err != nil {
			return nil, err
		}
	}
	if namespace := k.String("namespace"); namespace != "" {
		b.place(all, namespace)
	}
	rename(all, k.String("namePrefix"), k.String("nameSuffix"))
	b.label(k, all)
	for _, it := range all {
		addAll(it.obj, k.Map("commonAnnotations"), "metadata", "annotations")
		annotateTemplates(it.obj, k.Map("commonAnnotations"))
	}
	for _, r := range k.Objects("replicas") {
		if err := replicas(r, all); err != nil {
			return nil, err
		}
	}
	for _, it := range all {
		images(slices.Concat(k.Objects("images"), k.Objects("imageTags")), map[string]any(it.obj))
	}
	b.refer(all, k.String("namespace"))
	for _, r := range k.Objects("replacements") {
		if err := b.replace(r, dir, all); err != nil {
			return nil, fmt.Errorf("replacements: %w", err)
		}
	}
	return all, nil
}

// patch applies a patch, given inline or as a file, to its targets: the objects that it selects, or the object that it describes.
func (b *build) patch(p object.Object, dir string, all []*item, mayBeFile bool) ([]*item, error) {
	text := p.String("patch")
	file := p.String("path")
	if mayBeFile && !strings.Contains(text, "\n") {
		file, text = text, ""
	}
	if file != "" {
		data, err := b.load(dir, file)
		if err != nil {
			return nil, fmt.Errorf("failed to get the patch file from path(%s): %w", file, err)
		}
		text = string(data)
	}
	if operations, err := codec.YAMLToJSON([]byte(text)); err == nil && strings.HasPrefix(string(operations), "[") {
		return all, b.patchJSON(operations, p, all)
	}
	docs, err := codec.Manifest([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("unable to parse SM or JSON patch from [patch: %q]", text)
	}
	for _, doc := range docs {
		if all, err = b.patchStrategic(doc, p, all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (b *build) patchJSON(operations []byte, p object.Object, all []*item) error {
	targets, err := targetsOf(p, all)
	if err != nil {
		return err
	}
	for _, it := range targets {
		out, _, err := patch.Operations(object.JSON(map[string]any(it.obj)), operations)
		if err != nil {
			return fmt.Errorf("%s %s: %w", it.obj.Kind(), it.obj.Name(), err)
		}
		if it.obj, err = object.Parse(out); err != nil {
			return err
		}
	}
	return nil
}

func (b *build) patchStrategic(doc object.Object, p object.Object, all []*item) ([]*item, error) {
	targets, err := targetsOf(p, all)
	if p.Map("target") == nil {
		targets, err = nil, nil
		for _, it := range all {
			if it.obj.Kind() == doc.Kind() && groupOf(it.obj) == groupOf(doc) && it.is(doc.Namespace(), doc.Name()) {
				targets = append(targets, it)
			}
		}
		const unique = "failed to find unique target for patch"
		switch {
		case len(targets) == 0:
			err = fmt.Errorf("no resource matches strategic merge patch %q: no matches for Id %s; %s %s", id(doc), id(doc), unique, id(doc))
		case len(targets) > 1:
			err = fmt.Errorf("multiple matches for Id %s; %s %s", id(doc), unique, id(doc))
		}
	}
	if err != nil {
		return nil, err
	}
	for _, it := range targets {
		if doc.String("$patch") == "delete" {
			all = slices.DeleteFunc(all, func(x *item) bool { return x == it })
			continue
		}
		if err := b.merge(it, doc.Copy()); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// merge applies a strategic merge patch, or a JSON merge patch if the object is a custom resource.
func (b *build) merge(it *item, doc object.Object) error {
	for _, field := range []string{"name", "namespace"} { // the patch uses them only to find its target
		if v, ok := it.obj.Get("metadata", field); ok {
			doc.Set(v, "metadata", field)
		} else {
			doc.Remove("metadata", field)
		}
	}
	doc["kind"], doc["apiVersion"] = it.obj["kind"], it.obj["apiVersion"]
	before, text := object.JSON(map[string]any(it.obj)), object.JSON(map[string]any(doc))
	if t := b.builtin(it.obj); t != nil {
		merged, s := patch.Strategic(before, text, t, patch.Ignore, true)
		if s != nil {
			return errors.New(s.Message)
		}
		it.obj = merged.Object
		return nil
	}
	out, _, s := patch.Merge(before, text, patch.Ignore)
	if s != nil {
		return errors.New(s.Message)
	}
	var err error
	it.obj, err = object.Parse(out)
	return err
}

// targetsOf returns the objects that the target of a patch selects. group, version, kind, name and namespace are regular
// expressions that must match completely.
func targetsOf(p object.Object, all []*item) (some []*item, err error) {
	t := object.Object(p.Map("target"))
	if t == nil {
		return nil, errors.New("must specify a target for JSON patch")
	}
	labels, err := selector.ParseLabels(t.String("labelSelector"))
	if err != nil {
		return nil, err
	}
	annotations, err := selector.ParseLabels(t.String("annotationSelector"))
	if err != nil {
		return nil, err
	}
	for _, it := range all {
		group, version := groupOf(it.obj), versionOf(it.obj)
		if matches(t, "group", group) && matches(t, "version", version) && matches(t, "kind", it.obj.Kind()) && it.matchesNames(t) &&
			labels.Match(lookupIn(it.obj.Labels())) && annotations.Match(lookupIn(it.obj.Annotations())) {
			some = append(some, it)
		}
	}
	return some, nil
}

func lookupIn(m map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := m[name]
		return v, ok
	}
}

func (it *item) matchesNames(t object.Object) bool {
	return slices.ContainsFunc(it.allNames(), func(n name) bool { return matches(t, "name", n.name) && matches(t, "namespace", n.namespace) })
}

func matches(t object.Object, field, value string) bool {
	want := t.String(field)
	if want == "" {
		return true
	}
	re, err := regexp.Compile("^(?:" + want + ")$")
	return err == nil && re.MatchString(value)
}

func groupOf(obj object.Object) string {
	group, _, ok := strings.Cut(obj.APIVersion(), "/")
	if !ok {
		return ""
	}
	return group
}

func versionOf(obj object.Object) string {
	return obj.APIVersion()[strings.IndexByte(obj.APIVersion(), '/')+1:]
}

// servicesOf lists the fields of cluster-scoped kinds that refer to a service. Their namespaces are also changed.
var servicesOf = map[string][][]string{
	"APIService":               {{"spec", "service"}},
	"CustomResourceDefinition": {{"spec", "conversion", "webhook", "clientConfig", "service"}},
}

// place sets the namespace of all objects.
func (b *build) place(all []*item, namespace string) {
	for _, it := range all {
		switch {
		case it.obj.Kind() == "Namespace" && groupOf(it.obj) == "":
			it.renamed()
			it.obj.Set(namespace, "metadata", "name")
		case b.namespaced(it.obj):
			it.renamed()
			it.obj.Set(namespace, "metadata", "namespace")
		}
		for _, path := range servicesOf[it.obj.Kind()] {
			if it.obj.Has(path...) {
				it.obj.Set(namespace, append(path[:len(path):len(path)], "namespace")...)
			}
		}
	}
}

// renamed records the current name of the item as one of its earlier names.
func (it *item) renamed() { it.names = append(it.names, name{it.obj.Namespace(), it.obj.Name()}) }

// keepName lists the kinds that keep their names, because the names have a meaning.
var keepName = []string{"Namespace", "CustomResourceDefinition", "APIService"}

func rename(all []*item, prefix, suffix string) {
	if prefix+suffix == "" {
		return
	}
	for _, it := range all {
		if !slices.Contains(keepName, it.obj.Kind()) {
			it.renamed()
			it.obj.Set(prefix+it.obj.Name()+suffix, "metadata", "name")
		}
	}
}

// addAll adds entries to the map of strings at a path of an object.
func addAll(obj object.Object, more map[string]any, path ...string) {
	if len(more) == 0 {
		return
	}
	values := maps.Clone(obj.Map(path...))
	if values == nil {
		values = map[string]any{}
	}
	for name, v := range more { // order does not matter: the result is a map
		values[name] = v
	}
	obj.Set(values, path...)
}
