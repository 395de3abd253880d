package kustomize

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// templates contains, for each kind, the paths of pod templates and similar objects. selectors contains the paths of label
// selectors. A path is only used if it exists, except for selectors that a kind requires.
var (
	templates = map[string][][]string{
		"Deployment": {{"spec", "template"}}, "ReplicaSet": {{"spec", "template"}}, "DaemonSet": {{"spec", "template"}},
		"StatefulSet": {{"spec", "template"}}, "ReplicationController": {{"spec", "template"}}, "Job": {{"spec", "template"}},
		"CronJob": {{"spec", "jobTemplate"}, {"spec", "jobTemplate", "spec", "template"}},
	}
	selectors = map[string][]string{
		"Deployment": {"spec", "selector", "matchLabels"}, "ReplicaSet": {"spec", "selector", "matchLabels"},
		"DaemonSet": {"spec", "selector", "matchLabels"}, "StatefulSet": {"spec", "selector", "matchLabels"},
		"Service": {"spec", "selector"}, "ReplicationController": {"spec", "selector"},
	}
	selectorsIfThere = map[string][]string{
		"Job": {"spec", "selector", "matchLabels"}, "PodDisruptionBudget": {"spec", "selector", "matchLabels"},
		"NetworkPolicy": {"spec", "podSelector", "matchLabels"},
	}
)

// label adds the labels that a kustomization specifies.
func (b *build) label(k object.Object, all []*item) {
	for _, it := range all {
		b.addLabels(it.obj, k.Map("commonLabels"), true, true)
		for _, l := range k.Objects("labels") {
			inSelectors := l.True("includeSelectors")
			b.addLabels(it.obj, l.Map("pairs"), inSelectors, inSelectors || l.True("includeTemplates"))
			for _, f := range l.Objects("fields") {
				path := strings.Split(f.String("path"), "/")
				if f.String("kind") == it.obj.Kind() && (f.True("create") || it.obj.Has(path...)) {
					addAll(it.obj, l.Map("pairs"), path...)
				}
			}
		}
	}
}

func (b *build) addLabels(obj object.Object, labels map[string]any, inSelectors, inTemplates bool) {
	addAll(obj, labels, "metadata", "labels")
	if b.builtin(obj) == nil || len(labels) == 0 {
		return
	}
	if inTemplates {
		for _, path := range templates[obj.Kind()] {
			addAll(obj, labels, append(slices.Clone(path), "metadata", "labels")...)
		}
		if inSelectors && obj.Kind() == "StatefulSet" {
			for _, claim := range obj.Objects("spec", "volumeClaimTemplates") {
				addAll(claim, labels, "metadata", "labels")
			}
		}
	}
	if !inSelectors {
		return
	}
	if path := selectors[obj.Kind()]; path != nil {
		addAll(obj, labels, path...)
	}
	if path := selectorsIfThere[obj.Kind()]; path != nil && obj.Has(path...) {
		addAll(obj, labels, path...)
	}
}

func annotateTemplates(obj object.Object, annotations map[string]any) {
	for _, path := range templates[obj.Kind()] {
		addAll(obj, annotations, append(slices.Clone(path), "metadata", "annotations")...)
	}
}

// replicas sets the number of replicas of all workloads with the given name. It returns an error if there is none.
func replicas(r object.Object, all []*item) error {
	n, ok := r.Int("count")
	found := false
	for _, it := range all {
		switch it.obj.Kind() {
		case "Deployment", "ReplicaSet", "StatefulSet", "ReplicationController":
			if ok && it.is("", r.String("name")) {
				it.obj.Set(n, "spec", "replicas")
				found = true
			}
		}
	}
	if !found {
		return fmt.Errorf("resource with name %s does not match a config with the following GVK [Deployment.[noVer].[noGrp] "+
			"StatefulSet.[noVer].[noGrp] ReplicaSet.[noVer].[noGrp] ReplicationController.[noVer].[noGrp]]", r.String("name"))
	}
	return nil
}

// images replaces image references in all containers and init containers.
func images(list []object.Object, v any) {
	each(v, func(field string, m map[string]any) {
		text, ok := m["image"].(string)
		if !ok || (field != "containers" && field != "initContainers") {
			return
		}
		for _, image := range list {
			text = changed(image, text)
		}
		m["image"] = text
	})
}

// changed applies an entry of images to an image reference. If the entry is for another image, it returns the reference unchanged.
func changed(image object.Object, text string) string {
	base, digest, _ := strings.Cut(text, "@")
	tag := ""
	if i := strings.LastIndexByte(base, ':'); i > strings.LastIndexByte(base, '/') {
		base, tag = base[:i], base[i:]
	}
	if base != image.String("name") {
		return text
	}
	if digest != "" {
		digest = "@" + digest
	}
	if n := image.String("newName"); n != "" {
		base = n
	}
	if v, ok := image.Get("newTag"); ok {
		tag, digest = ":"+fmt.Sprint(v), ""
	}
	if d := image.String("digest"); d != "" {
		digest = "@" + d
		if !image.Has("newTag") {
			tag = ""
		}
	}
	return base + tag + digest
}

// each calls f for each object in v. field is the name of the field that contains the object, or the list of which it is an item.
func each(v any, f func(field string, m map[string]any)) { walk("", v, f) }

func walk(field string, v any, f func(string, map[string]any)) {
	switch v := v.(type) {
	case object.Object:
		walk(field, map[string]any(v), f)
	case map[string]any:
		f(field, v)
		for _, name := range object.SortedKeys(v) {
			if name != "openAPIV3Schema" {
				walk(name, v[name], f)
			}
		}
	case []any:
		for _, x := range v {
			walk(field, x, f)
		}
	}
}
