package apiserver

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/http"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// streamPurpose says what a stream or proxy would need, and what a test can do without it.
var streamPurpose = map[string]string{
	"attach":      "there are no containers to attach to; test against an interface of your own in front of the call",
	"exec":        "there are no containers to run a command in; test against an interface of your own in front of the call",
	"log":         "there are no containers that write logs; set the pod's status through /status instead",
	"portforward": "there are no containers that listen; connect to your own server in the test",
	"proxy":       "there is nothing to connect to behind it; connect to your own server in the test",
}

// notSimulated answers for streams and proxies: there is no kubelet behind the simulator. What the real server refuses
// before it would connect to one is refused as there.
func (c *call) notSimulated() *status.Status {
	r := c.route
	target := r.name
	switch {
	case r.sub.Name == "log":
		errs, err := checkLogOptions(c.q.Query)
		if err != nil {
			return status.BadRequest("%s", err.Error())
		}
		if len(errs) > 0 {
			return status.Invalid(status.Resource{Resource: "PodLogOptions"}, target, errs)
		}
	case strings.Join(c.q.Query["dryRun"], "") != "":
		return status.BadRequest("dryRun is not supported")
	case r.sub.Name == "proxy":
		var ok bool
		if target, ok = proxied(r.name); !ok {
			return status.BadRequest("invalid %s request %q", strings.TrimSuffix(r.def.Resource, "s"), r.name)
		}
	}
	obj := c.s.Registry.Reader().Get(r.def.Storage, r.namespace, target)
	if obj == nil {
		return status.NotFound(r.def.Resourced(), target)
	}
	if slices.Contains([]string{"attach", "exec", "log"}, r.sub.Name) {
		if s := checkContainer(obj, c.q.Query.Get("container")); s != nil {
			return s
		}
	}
	if node := obj.String("spec", "nodeName"); node != "" && r.def.Storage == "pods" && r.sub.Name != "proxy" &&
		c.s.Registry.Reader().Get("nodes", "", node) == nil {
		return status.NotFound(r.def.Resourced(), node) // sic: the node is said to be a pod
	}
	name := r.def.Resource + "/" + r.sub.Name
	return &status.Status{Code: http.StatusNotImplemented, Reason: "NotImplemented",
		Message: "kubesim does not simulate " + name + ": " + streamPurpose[r.sub.Name],
		Details: &status.Details{Name: r.name, Group: r.def.Group, Kind: name}}
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
	var names []string
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		for _, c := range pod.List("spec", list) {
			if m, ok := c.(map[string]any); ok {
				names = append(names, object.Object(m).String("name"))
			}
		}
	}
	switch {
	case container == "" && len(pod.List("spec", "containers")) > 1:
		return status.BadRequest("a container name must be specified for pod %s, choose one of: %s", pod.Name(), fmt.Sprint(names))
	case container != "" && !slices.Contains(names, container):
		return status.BadRequest("container %s is not valid for pod %s", container, pod.Name())
	}
	return nil
}

// checkLogOptions checks a query for a log (PodLogOptions); err is about a number that is none.
func checkLogOptions(query map[string][]string) (errs field.ErrorList, err error) {
	const positive = "must be greater than 0"
	number := func(name string) (int64, bool) {
		if len(query[name]) == 0 {
			return 0, false
		}
		n, problem := strconv.ParseInt(query[name][0], 10, 64)
		if problem != nil && err == nil {
			err = problem
		}
		return n, problem == nil
	}
	if n, ok := number("tailLines"); ok && n < 0 {
		errs = append(errs, field.Invalid(field.Root("tailLines"), n, field.TextNonNegative))
	}
	if n, ok := number("limitBytes"); ok && n < 1 {
		errs = append(errs, field.Invalid(field.Root("limitBytes"), n, positive))
	}
	if n, ok := number("sinceSeconds"); ok && len(query["sinceTime"]) > 0 {
		errs = append(errs, field.Forbidden(field.Root("[]"), "at most one of `sinceTime` or `sinceSeconds` may be specified"))
	} else if ok && n < 1 {
		errs = append(errs, field.Invalid(field.Root("sinceSeconds"), n, positive))
	}
	if len(query["stream"]) > 0 {
		errs = append(errs, field.Forbidden(field.Root("stream"), "may not be specified"))
	}
	return errs, err
}
