package kubelet

import (
	"encoding/base64"
	"fmt"
	"maps"
	"path"
	"strings"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
)

// resolver looks up the ConfigMaps and Secrets that pods refer to, in the kubelet's cache.
type resolver struct {
	api *controller.Client
	k   *Kubelet
}

// source describes a kind of object that contains data: ConfigMap or Secret.
type source struct{ resource, kind, title string }

var (
	fromConfigMap = source{configMaps, "configmap", "ConfigMap"}
	fromSecret    = source{secrets, "secret", "Secret"}
)

// values returns the data of a ConfigMap or Secret, and reports whether the object exists.
func (r resolver) values(s source, namespace, name string) (map[string]string, bool) {
	obj := r.api.Get(s.resource, namespace, name)
	if obj == nil {
		return nil, false
	}
	all := object.StringMap(obj.Map("data"))
	decoded := obj.Map("binaryData")
	if s == fromSecret {
		all, decoded = map[string]string{}, obj.Map("data")
	}
	for key, v := range decoded { // order does not matter: the result is a map
		text, _ := v.(string)
		if data, err := base64.StdEncoding.DecodeString(text); err == nil {
			all[key] = string(data)
		}
	}
	return all, true
}

// mount reports whether the volumes of the pod exist and are attached, so that they can be mounted. If not, it records which object is missing.
func (w *worker) mount() bool {
	for _, v := range w.pod.Objects("spec", "volumes") {
		if missing := w.missing(v); missing != "" {
			text := fmt.Sprintf("MountVolume.SetUp failed for volume %q : %s", v.String("name"), missing)
			if v.Has("persistentVolumeClaim") {
				text = fmt.Sprintf("Unable to attach or mount volumes: unmounted volumes=[%s], unattached volumes=[], failed to process volumes=[%[1]s]: %s",
					v.String("name"), missing)
			}
			if w.rec.Missing != text {
				w.rec.Missing = text
				w.event(nil, "Warning", "FailedMount", text)
			}
			return false
		}
	}
	w.rec.Missing = ""
	if !w.attach() {
		w.rec.Missing = "its volumes are not attached"
		return false
	}
	return true
}

// missing returns an error message if a volume needs an object that does not exist, and "" otherwise.
func (w *worker) missing(v object.Object) string {
	switch {
	case v.Has("configMap"):
		return w.lacks(fromConfigMap, v.At("configMap"), "name")
	case v.Has("secret"):
		return w.lacks(fromSecret, v.At("secret"), "secretName")
	case v.Has("projected"):
		for _, s := range v.Objects("projected", "sources") {
			for _, of := range []source{fromConfigMap, fromSecret} {
				if part := s.At(map[source]string{fromConfigMap: "configMap", fromSecret: "secret"}[of]); part != nil {
					if missing := w.lacks(of, part, "name"); missing != "" {
						return missing
					}
				}
			}
		}
	case v.Has("persistentVolumeClaim"):
		name, namespace := v.String("persistentVolumeClaim", "claimName"), w.pod.Namespace()
		claim := w.api.Get(claims, namespace, name)
		switch {
		case claim == nil:
			return fmt.Sprintf("error processing PVC %s/%s: failed to fetch PVC from API server: persistentvolumeclaims %q not found", namespace, name, name)
		case claim.String("status", "phase") != "Bound":
			return fmt.Sprintf("error processing PVC %s/%s: PVC is not bound", namespace, name)
		}
	}
	return ""
}

// lacks returns an error message if the ConfigMap or Secret of a reference, or one of its keys, is missing, and "" otherwise.
func (w *worker) lacks(s source, ref object.Object, field string) string {
	if ref.True("optional") {
		return ""
	}
	values, ok := (resolver{w.api, w.k}).values(s, w.pod.Namespace(), ref.String(field))
	if !ok {
		return fmt.Sprintf("%s %q not found", s.kind, ref.String(field))
	}
	for _, item := range ref.Objects("items") {
		if _, ok := values[item.String("key")]; !ok {
			return fmt.Sprintf("references non-existent %s key: %s", map[source]string{fromConfigMap: "config", fromSecret: "secret"}[s], item.String("key"))
		}
	}
	return ""
}

// check returns an error if the environment of a container refers to a missing object or key.
func (r resolver) check(pod, c object.Object) error {
	for _, from := range c.Objects("envFrom") {
		for field, s := range map[string]source{"configMapRef": fromConfigMap, "secretRef": fromSecret} { // order does not matter: at most one is set
			if ref := from.At(field); ref != nil && !ref.True("optional") {
				if _, ok := r.values(s, pod.Namespace(), ref.String("name")); !ok {
					return fmt.Errorf("%s %q not found", s.kind, ref.String("name"))
				}
			}
		}
	}
	for _, env := range c.Objects("env") {
		for field, s := range map[string]source{"configMapKeyRef": fromConfigMap, "secretKeyRef": fromSecret} { // order does not matter: at most one is set
			ref := env.At("valueFrom", field)
			if ref == nil || ref.True("optional") {
				continue
			}
			values, ok := r.values(s, pod.Namespace(), ref.String("name"))
			if !ok {
				return fmt.Errorf("%s %q not found", s.kind, ref.String("name"))
			}
			if _, ok := values[ref.String("key")]; !ok {
				return fmt.Errorf("couldn't find key %s in %s %s/%s", ref.String("key"), s.title, pod.Namespace(), ref.String("name"))
			}
		}
	}
	return nil
}

// environment returns the environment variables of a container, without those of services.
func (r resolver) environment(pod, c object.Object) map[string]string {
	all := map[string]string{"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOSTNAME": pod.Name(), "HOME": "/root"}
	if name := pod.String("spec", "hostname"); name != "" {
		all["HOSTNAME"] = name
	}
	for _, from := range c.Objects("envFrom") {
		for field, s := range map[string]source{"configMapRef": fromConfigMap, "secretRef": fromSecret} { // order does not matter: at most one is set
			if ref := from.At(field); ref != nil {
				values, _ := r.values(s, pod.Namespace(), ref.String("name"))
				for key, value := range values { // order does not matter: the result is a map
					all[from.String("prefix")+key] = value
				}
			}
		}
	}
	for _, env := range c.Objects("env") {
		all[env.String("name")] = r.value(pod, env, all)
	}
	return all
}

func (r resolver) value(pod, env object.Object, before map[string]string) string {
	from := env.At("valueFrom")
	switch {
	case from.Has("configMapKeyRef"):
		values, _ := r.values(fromConfigMap, pod.Namespace(), from.String("configMapKeyRef", "name"))
		return values[from.String("configMapKeyRef", "key")]
	case from.Has("secretKeyRef"):
		values, _ := r.values(fromSecret, pod.Namespace(), from.String("secretKeyRef", "name"))
		return values[from.String("secretKeyRef", "key")]
	case from.Has("fieldRef"):
		return r.field(pod, from.String("fieldRef", "fieldPath"))
	}
	text := env.String("value")
	for name, value := range before { // order does not matter: the names differ
		text = strings.ReplaceAll(text, "$("+name+")", value)
	}
	return text
}

// field returns the value of a field of a pod for the downward API.
func (r resolver) field(pod object.Object, name string) string {
	switch name {
	case "status.podIP", "status.podIPs":
		p := r.k.memory.Pods[pod.Namespace()+"/"+pod.Name()]
		if p == nil {
			return ""
		}
		if name == "status.podIP" {
			return r.k.podIP(p, pod)
		}
		return strings.Join(r.k.podIPs(p, pod), ",")
	case "status.hostIP":
		return r.k.hostIPs()[0]
	case "status.hostIPs":
		return strings.Join(r.k.hostIPs(), ",")
	}
	for _, of := range []string{"labels", "annotations"} {
		if name == "metadata."+of {
			return lines(pod.Map("metadata", of))
		}
		if key, ok := strings.CutPrefix(name, "metadata."+of+"['"); ok {
			return pod.String("metadata", of, strings.TrimSuffix(key, "']"))
		}
	}
	return pod.String(strings.Split(name, ".")...)
}

// lines returns labels or annotations as the text of a file of the downward API.
func lines(values map[string]any) string {
	var all []string
	for _, key := range object.SortedKeys(values) {
		all = append(all, fmt.Sprintf("%s=%q", key, values[key]))
	}
	return strings.Join(all, "\n")
}

// volumeFiles returns the files that the volumes of a container have from the API: by their paths in the container.
func (r resolver) volumeFiles(pod, c object.Object) map[string]string {
	all := map[string]string{}
	for _, m := range c.Objects("volumeMounts") {
		for _, v := range pod.Objects("spec", "volumes") {
			if v.String("name") != m.String("name") {
				continue
			}
			for name, text := range r.contents(pod, v) { // order does not matter: the result is a map
				rest, below := strings.CutPrefix("/"+name, strings.TrimSuffix("/"+m.String("subPath"), "/"))
				if below && (rest == "" || rest[0] == '/') {
					all[path.Join(m.String("mountPath"), rest)] = text
				}
			}
		}
	}
	return all
}

// contents returns the files of a volume that has data from the API, by their paths in the volume.
func (r resolver) contents(pod, volume object.Object) map[string]string {
	all := map[string]string{}
	for _, part := range append(volume.Objects("projected", "sources"), volume) {
		for field, s := range map[string]source{"configMap": fromConfigMap, "secret": fromSecret} { // order does not matter: at most one is set
			if ref := part.At(field); ref != nil {
				r.addData(all, s, pod.Namespace(), ref)
			}
		}
		for _, item := range part.Objects("downwardAPI", "items") {
			all[item.String("path")] = r.field(pod, item.String("fieldRef", "fieldPath"))
		}
		if token := part.At("serviceAccountToken"); token != nil {
			all[token.String("path")] = "a token that servers do not accept" // containers send no requests
		}
	}
	return all
}

// addData adds the keys of a ConfigMap or Secret to the files of a volume.
func (r resolver) addData(all map[string]string, s source, namespace string, ref object.Object) {
	name := ref.String("name")
	if name == "" {
		name = ref.String("secretName")
	}
	values, _ := r.values(s, namespace, name)
	items := ref.Objects("items")
	for _, item := range items {
		if text, ok := values[item.String("key")]; ok {
			all[item.String("path")] = text
		}
	}
	if len(items) == 0 {
		maps.Copy(all, values)
	}
}
