package core

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// podStreams are the streams of pods.
func podStreams() map[string]*resource.Stream {
	return map[string]*resource.Stream{
		"attach":      {Instead: "there are no containers to attach to; test against an interface of your own in front of the call", Refuse: refuseIn(true)},
		"exec":        {Instead: "there are no containers to run a command in; test against an interface of your own in front of the call", Refuse: refuseIn(true)},
		"log":         {Instead: "there are no containers that write logs; set the pod's status through /status instead", Refuse: refuseLog, Text: true},
		"portforward": {Instead: "there are no containers that listen; connect to your own server in the test", Refuse: refuseIn(false)},
		"proxy":       proxy(),
	}
}

// proxy is the proxy to a pod, a service or a node.
func proxy() *resource.Stream {
	return &resource.Stream{Instead: "there is nothing to connect to behind it; connect to your own server in the test", Refuse: refuseProxy}
}

func refuseProxy(r *resource.StreamRequest) *status.Status {
	if s := refuseDryRun(r); s != nil {
		return s
	}
	target, ok := proxied(r.Name)
	if !ok {
		return status.BadRequest("invalid %s request %q", strings.TrimSuffix(r.Definition.Resource, "s"), r.Name)
	}
	if r.Objects.Get(r.Definition.Storage, r.Namespace, target) == nil {
		return status.NotFound(r.Definition.Resourced(), target)
	}
	return nil
}

func refuseDryRun(r *resource.StreamRequest) *status.Status {
	if strings.Join(r.Query["dryRun"], "") != "" {
		return status.BadRequest("dryRun is not supported")
	}
	return nil
}

// refuseIn refuses to connect to a pod, or to a container of it.
func refuseIn(container bool) func(*resource.StreamRequest) *status.Status {
	return func(r *resource.StreamRequest) *status.Status {
		if s := refuseDryRun(r); s != nil {
			return s
		}
		return refusePod(r, container)
	}
}

func refuseLog(r *resource.StreamRequest) *status.Status {
	errs, err := checkLogOptions(r.Query)
	if err != nil {
		return status.BadRequest("%s", err.Error())
	}
	if len(errs) > 0 {
		return status.Invalid(status.Resource{Resource: "PodLogOptions"}, r.Name, errs)
	}
	return refusePod(r, true)
}

// refusePod wants the pod, its container where one is meant, and its node.
func refusePod(r *resource.StreamRequest, inContainer bool) *status.Status {
	pod := r.Objects.Get(r.Definition.Storage, r.Namespace, r.Name)
	if pod == nil {
		return status.NotFound(r.Definition.Resourced(), r.Name)
	}
	if inContainer {
		container := ""
		if asked := r.Query["container"]; len(asked) > 0 {
			container = asked[0]
		}
		if s := checkContainer(pod, container); s != nil {
			return s
		}
	}
	if node := pod.String("spec", "nodeName"); node != "" && r.Objects.Get("nodes", "", node) == nil {
		return status.NotFound(r.Definition.Resourced(), node) // sic: the node is said to be a pod
	}
	return nil
}

// proxied returns the name in what a proxy is asked for: name, name:port or scheme:name:port.
func proxied(id string) (name string, ok bool) {
	switch parts := strings.Split(id, ":"); len(parts) {
	case 1, 2:
		name, ok = parts[0], true
	case 3:
		name, ok = parts[1], slices.Contains([]string{"", "http", "https"}, parts[0])
	}
	return name, ok && name != ""
}

// checkContainer checks the container that is asked for; only a pod with a single one need not be told.
func checkContainer(pod object.Object, container string) *status.Status {
	names := kind.Texts(slices.Collect(podspec.Containers(pod.At("spec"))), "name")
	switch {
	case container == "" && len(pod.List("spec", "containers")) > 1:
		return status.BadRequest("a container name must be specified for pod %s, choose one of: %s", pod.Name(), fmt.Sprint(names))
	case container != "" && !slices.Contains(names, container):
		return status.BadRequest("container %s is not valid for pod %s", container, pod.Name())
	}
	return nil
}

// readLogOptions returns the error of the first number or time in a query for a log that cannot be read, in the order of the
// fields of PodLogOptions.
func readLogOptions(query map[string][]string) error {
	for _, name := range []string{"sinceSeconds", "sinceTime", "tailLines", "limitBytes"} {
		if len(query[name]) == 0 {
			continue
		}
		text := query[name][0]
		if name != "sinceTime" {
			if _, err := strconv.ParseInt(text, 10, 64); err != nil {
				return err
			}
		} else if _, err := time.Parse(time.RFC3339, text); text != "" && text != "null" && err != nil {
			return err
		}
	}
	return nil
}

// checkLogOptions checks a query for a log (PodLogOptions); err is about a number or time that is none.
func checkLogOptions(query map[string][]string) (errs field.ErrorList, err error) {
	if err := readLogOptions(query); err != nil {
		return nil, err
	}
	const positive = "must be greater than 0"
	number := func(name string) (int64, bool) {
		if len(query[name]) == 0 {
			return 0, false
		}
		n, _ := strconv.ParseInt(query[name][0], 10, 64)
		return n, true
	}
	at := field.CursorAt(nil, nil)
	check := func(name string, least int64, text string) {
		if n, ok := number(name); ok {
			at.Child(name).With(n).Min(least, text)
		}
	}
	check("tailLines", 0, field.TextNonNegative)
	check("limitBytes", 1, positive)
	if _, ok := number("sinceSeconds"); ok && len(query["sinceTime"]) > 0 {
		at.Report(field.ErrorList{field.Forbidden(podspec.Whole, "at most one of `sinceTime` or `sinceSeconds` may be specified")})
	} else {
		check("sinceSeconds", 1, positive)
	}
	at.Child("stream").ForbidIf(len(query["stream"]) > 0, "may not be specified")
	return at.Errors(), nil
}
