package generate

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/kubectl/flags"
	"github.com/kubesim/kubesim/sim/kubectl/patches"
	"github.com/kubesim/kubesim/sim/object"
)

// Pod returns the pod of a run command, with a command or arguments for its container.
func Pod(f *flags.Set, name, restart string, arguments []string) (object.Object, error) {
	one := object.Object(container(name, f.Text("image")))
	if len(arguments) > 0 {
		field := "args"
		if f.On("command") {
			field = "command"
		}
		one[field] = object.FromStrings(arguments)
	}
	if p := f.Text("port"); p != "" {
		one["ports"] = []any{map[string]any{"containerPort": intOrText(p)}}
	}
	var env []any
	for _, e := range f.List("env") {
		k, v, ok := strings.Cut(e, "=")
		if !ok || k == "" {
			return nil, fmt.Errorf("invalid env: %v", e)
		}
		env = append(env, map[string]any{"name": k, "value": v})
	}
	if len(env) > 0 {
		one["env"] = env
	}
	fill(one, f, "image-pull-policy", "imagePullPolicy")
	if f.On("stdin") {
		one["stdin"], one["stdinOnce"] = true, true
	}
	if f.On("tty") {
		one["tty"] = true
	}
	if f.On("privileged") {
		one.Set(true, "securityContext", "privileged")
	}
	labels := map[string]any{"run": name}
	if text := f.Text("labels"); text != "" {
		var err error
		if labels, err = Labels(text); err != nil {
			return nil, err
		}
	}
	obj := made("v1", "Pod", name)
	obj.SetMeta("labels", labels)
	if list := f.List("annotations"); len(list) > 0 {
		annotations, err := Labels(strings.Join(list, ","))
		if err != nil {
			return nil, err
		}
		obj.SetMeta("annotations", annotations)
	}
	obj["spec"] = map[string]any{"containers": []any{map[string]any(one)}, "restartPolicy": restart, "dnsPolicy": "ClusterFirst"}
	if o := f.Text("overrides"); o != "" {
		body, err := codec.YAMLToJSON([]byte(o))
		if err != nil {
			return nil, err
		}
		return patches.Apply(obj, cmp.Or(f.Text("override-type"), "merge"), body)
	}
	return obj, nil
}

// PodService returns the Service of a pod that is run with --expose.
func PodService(f *flags.Set, pod object.Object) object.Object {
	port := intOrText(f.Text("port"))
	obj := made("v1", "Service", pod.Name())
	obj["spec"] = map[string]any{"ports": []any{map[string]any{"port": port, "protocol": "TCP", "targetPort": port}},
		"selector": object.Copy(pod.Map("metadata", "labels"))}
	return obj
}
