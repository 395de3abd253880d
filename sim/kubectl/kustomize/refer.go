package kustomize

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
)

// references are the fields that contain the name of an object of a kind. in is the field that contains the reference, or "" for
// any.
var references = []struct{ in, field, kind string }{
	{"configMap", "name", "ConfigMap"}, {"configMapRef", "name", "ConfigMap"}, {"configMapKeyRef", "name", "ConfigMap"},
	{"secret", "name", "Secret"}, {"secretRef", "name", "Secret"}, {"secretKeyRef", "name", "Secret"},
	{"imagePullSecrets", "name", "Secret"}, {"secrets", "name", "Secret"}, {"", "secretName", "Secret"},
	{"", "serviceAccountName", "ServiceAccount"}, {"", "serviceAccount", "ServiceAccount"},
	{"service", "name", "Service"}, {"", "serviceName", "Service"}, {"", "claimName", "PersistentVolumeClaim"},
	{"", "priorityClassName", "PriorityClass"}, {"", "storageClassName", "StorageClass"}, {"", "ingressClassName", "IngressClass"},
	{"", "volumeName", "PersistentVolume"},
}

// byKind are the references that specify the kind of the named object.
var byKind = []string{"roleRef", "scaleTargetRef", "subjects"}

// reference is a field of a kind that contains the name of an object of another kind.
type reference struct {
	kind string
	path []string
	to   string
}

// configure adds the name references of a transformer configuration to b.configured.
func (b *build) configure(dir, file string) error {
	data, err := b.load(dir, file)
	if err != nil {
		return err
	}
	docs, err := codec.Manifest(data)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, doc := range docs {
		for _, r := range doc.Objects("nameReference") {
			for _, f := range r.Objects("fieldSpecs") {
				b.configured = append(b.configured, reference{f.String("kind"), strings.Split(f.String("path"), "/"), r.String("kind")})
			}
		}
	}
	return nil
}

// walkPath follows a path through objects and all items of lists. It calls f with each map that it reaches and the name of the last
// field.
func walkPath(v any, path []string, f func(m map[string]any, field string)) {
	switch v := v.(type) {
	case map[string]any:
		if len(path) == 1 {
			f(v, path[0])
		} else {
			walkPath(v[path[0]], path[1:], f)
		}
	case []any:
		for _, x := range v {
			walkPath(x, path, f)
		}
	}
}

// refer updates the references of objects to the current names of the objects that they refer to.
func (b *build) refer(all []*item, namespace string) {
	for _, it := range all {
		from := it.obj.Namespace()
		for _, r := range b.configured {
			if r.kind == it.obj.Kind() {
				walkPath(map[string]any(it.obj), r.path, func(m map[string]any, field string) { point(m, field, r.to, from, all, false) })
			}
		}
		if b.builtin(it.obj) == nil || it.obj.Kind() == "CustomResourceDefinition" {
			continue
		}
		each(map[string]any(it.obj), func(in string, m map[string]any) {
			if slices.Contains(byKind, in) {
				kind, _ := m["kind"].(string)
				subject(m, in, kind, namespace)
				point(m, "name", kind, from, all, in == "subjects")
				return
			}
			for _, r := range references {
				if r.in == in || r.in == "" {
					point(m, r.field, r.kind, from, all, false)
				}
			}
		})
	}
}

// subject sets the namespace of the service account "default" in a binding to that of the kustomization.
func subject(m map[string]any, in, kind, namespace string) {
	if in == "subjects" && kind == "ServiceAccount" && m["name"] == "default" && namespace != "" {
		m["namespace"] = namespace
	}
}

// point updates a reference to the current name of its object. It also updates the namespace of the reference if there is one. If
// says is true, it adds a missing namespace.
func point(m map[string]any, field, kind, from string, all []*item, says bool) {
	called, ok := m[field].(string)
	if !ok || called == "" {
		return
	}
	namespace, has := m["namespace"].(string)
	for _, it := range all {
		if it.obj.Kind() != kind {
			continue
		}
		for _, n := range it.names {
			if n.name != called || has && !same(namespace, n.namespace) && namespace != it.obj.Namespace() {
				continue
			}
			if !has && from != "" && it.obj.Namespace() != "" && it.obj.Namespace() != from {
				continue
			}
			m[field] = it.obj.Name()
			if (has || says) && it.obj.Namespace() != "" {
				m["namespace"] = it.obj.Namespace()
			}
			return
		}
	}
}

// same reports whether two namespaces are equal; an empty one is the default namespace.
func same(a, b string) bool { return cmp.Or(a, "default") == cmp.Or(b, "default") }
