package generate

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/flags"
	"github.com/kubesim/kubesim/sim/kubectl/patches"
	"github.com/kubesim/kubesim/sim/object"
)

// container returns a container of a generated pod.
func container(name, image string) map[string]any {
	return map[string]any{"name": name, "image": image}
}

// imageName returns the name of the container that runs an image. For registry.example/a/b:1@sha256:… it is b.
func imageName(image string) string {
	name := image[strings.LastIndexByte(image, '/')+1:]
	name, _, _ = strings.Cut(name, ":")
	name, _, _ = strings.Cut(name, "@")
	out := []byte(strings.ToLower(name))
	for i, b := range out {
		if !(b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '-') {
			out[i] = '-'
		}
	}
	return string(out)
}

func deployment(in *Input) (object.Object, error) {
	images := in.List("image")
	if len(images) > 1 && in.Dash >= 0 {
		return nil, fmt.Errorf("cannot specify multiple --image options and command")
	}
	var containers []any
	for i, image := range images {
		one := container(imageName(image), image)
		if command := in.command(); len(command) > 0 {
			one["command"] = command
		}
		if port := in.Number("port", -1); i == 0 && port >= 0 {
			one["ports"] = []any{map[string]any{"containerPort": port}}
		}
		containers = append(containers, one)
	}
	labels := func() map[string]any { return map[string]any{"app": in.Name} }
	obj := made("apps/v1", "Deployment", in.Name)
	obj.SetMeta("labels", labels())
	obj["spec"] = map[string]any{"replicas": in.Number("replicas", 1), "selector": map[string]any{"matchLabels": labels()},
		"template": map[string]any{"metadata": map[string]any{"labels": labels()}, "spec": map[string]any{"containers": containers}}}
	return obj, nil
}

// jobSpec returns the spec of a generated Job.
func jobSpec(name, image, restart string, command []any) map[string]any {
	one := container(name, image)
	if len(command) > 0 {
		one["command"] = command
	}
	return map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{one}, "restartPolicy": restart}}}
}

func job(in *Input) (object.Object, error) {
	image, from := in.Text("image"), in.Text("from")
	switch {
	case (image == "") == (from == ""):
		return nil, fmt.Errorf("either --image or --from must be specified")
	case from != "" && in.Dash >= 0:
		return nil, fmt.Errorf("cannot specify --from and command")
	case image != "":
		obj := made("batch/v1", "Job", in.Name)
		obj["spec"] = jobSpec(in.Name, image, "Never", in.command())
		return obj, nil
	}
	info, err := in.Server.Object(from)
	if err != nil {
		return nil, err
	}
	if info.Mapping.Kind != "CronJob" {
		return nil, fmt.Errorf("unknown object type *%s.%s", info.Mapping.Version, info.Mapping.Kind)
	}
	cron, obj := info.Object, made("batch/v1", "Job", in.Name)
	obj["spec"] = object.Copy(cron.Map("spec", "jobTemplate", "spec"))
	annotations := map[string]any{"cronjob.kubernetes.io/instantiate": "manual"}
	for k, v := range object.As(cron.Map("spec", "jobTemplate")).Annotations() {
		annotations[k] = v
	}
	obj.SetMeta("annotations", annotations)
	if labels := cron.Map("spec", "jobTemplate", "metadata", "labels"); labels != nil {
		obj.SetMeta("labels", object.Copy(labels))
	}
	obj.SetMeta("ownerReferences", []any{map[string]any{"apiVersion": cron.APIVersion(), "kind": cron.Kind(), "name": cron.Name(),
		"uid": cron.UID(), "controller": true}})
	return obj, nil
}

func cronJob(in *Input) (object.Object, error) {
	restart := cmp.Or(in.Text("restart"), "OnFailure")
	obj := made("batch/v1", "CronJob", in.Name)
	obj["spec"] = map[string]any{"schedule": in.Text("schedule"), "jobTemplate": map[string]any{"metadata": map[string]any{"name": in.Name},
		"spec": jobSpec(in.Name, in.Text("image"), restart, in.command())}}
	return obj, nil
}

// Pod returns the pod of kubectl run. restart is its restart policy. With --command, arguments are the container's
// command; otherwise they are its arguments. Pod returns an error if a flag has an invalid value.
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
		kind := cmp.Or(f.Text("override-type"), "merge")
		if kind != "json" && kind != "merge" && kind != "strategic" {
			return nil, fmt.Errorf("invalid override type: %v", kind)
		}
		if _, err := object.Parse([]byte(o)); err != nil && kind == "merge" {
			return nil, fmt.Errorf("Invalid JSON Patch")
		}
		return patches.Apply(obj, kind, []byte(o))
	}
	return obj, nil
}

// PodService returns the Service for a pod of kubectl run --expose.
func PodService(f *flags.Set, pod object.Object) object.Object {
	port := intOrText(f.Text("port"))
	obj := made("v1", "Service", pod.Name())
	obj["spec"] = map[string]any{"ports": []any{map[string]any{"port": port, "protocol": "TCP", "targetPort": port}},
		"selector": object.Copy(pod.Map("metadata", "labels"))}
	return obj
}
