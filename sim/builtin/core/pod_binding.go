package core

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// bindPod assigns a pod to a node. Schedulers request it with pods/binding or bindings (API reference, "Binding"). It
// bypasses the pod's strategy, so the generation does not change.
func bindPod(c *resource.Connection) (object.Object, *status.Status) {
	binding := c.Body
	name := binding.Name()
	if name != c.Name {
		return nil, status.BadRequest("name in URL does not match name in Binding object")
	}
	if errs := validateBinding(c.Context, binding); len(errs) > 0 {
		return nil, status.Plain("%s", errs.Text())
	}
	if s := c.Admit(); s != nil {
		return nil, s
	}
	if s := status.NameParameter(name); s != nil {
		return nil, s
	}
	s := c.Write("pods", c.Namespace, name, func(pod object.Object) *status.Status {
		if s := bindingPreconditions(c, pod); s != nil {
			return s
		}
		if why := whyNotBound(pod); why != "" {
			return status.Conflict(status.Resource{Resource: "pods/binding"}, name, why)
		}
		assignPod(pod, binding, object.Time(c.Now))
		return nil
	})
	if s != nil {
		if s.Reason == status.ReasonNotFound { // the error names the pod even if the resource is bindings
			s = status.NotFound(status.Resource{Resource: "pods"}, name)
		}
		return nil, s
	}
	return nil, status.Created()
}

func validateBinding(ctx *resource.Context, binding object.Object) field.ErrorList {
	target := field.CursorAt(binding, nil, "target")
	if kind := target.String("kind"); kind != "" && kind != "Node" {
		target.Child("kind").NotSupported(kind, "Node", "<empty>")
	}
	if target.Require("name"); ctx.Since(37) && len(target.Errors()) == 0 {
		target.Child("name").Check(field.DNS1123Subdomain)
	}
	return target.Errors()
}

// bindingPreconditions returns a conflict if the uid or the resourceVersion of a Binding differs from the pod's.
func bindingPreconditions(c *resource.Connection, pod object.Object) *status.Status {
	pods := status.Resource{Resource: "pods"}
	failed := func(what, want, have string) *status.Status {
		key := "/registry/pods/" + c.Namespace + "/" + pod.Name()
		if c.DryRun {
			key = key[len("/registry"):]
		}
		return status.Conflict(pods, pod.Name(), fmt.Sprintf("StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, "+
			"AdditionalErrorMsg: Precondition failed: %s in precondition: %s, %s in object meta: %s", key, what, want, what, have))
	}
	if want, have := c.Body.UID(), pod.UID(); want != "" && want != have {
		return failed("UID", want, have)
	}
	if want, have := c.Body.ResourceVersion(), pod.ResourceVersion(); want != "" && want != have {
		return failed("ResourceVersion", want, have)
	}
	return nil
}

// whyNotBound returns the reason why a pod cannot be assigned to a node, or "" if it can be.
func whyNotBound(pod object.Object) string {
	switch node := pod.String("spec", "nodeName"); {
	case pod.DeletionTimestamp() != "":
		return fmt.Sprintf("pod %s is being deleted, cannot be assigned to a host", pod.Name())
	case node != "":
		return fmt.Sprintf("pod %s is already assigned to node %q", pod.Name(), node)
	case len(pod.List("spec", "schedulingGates")) > 0:
		return fmt.Sprintf("pod %s has non-empty .spec.schedulingGates", pod.Name())
	}
	return ""
}

// assignPod sets the pod's node and copies the labels and annotations of the binding to the pod.
func assignPod(pod, binding object.Object, now string) {
	pod.Set(binding.String("target", "name"), "spec", "nodeName")
	pod.Remove("status", "nominatedNodeName")
	for _, name := range []string{"annotations", "labels"} {
		values := binding.Map("metadata", name)
		for _, key := range object.SortedKeys(values) {
			pod.Set(values[key], "metadata", name, key)
		}
	}
	setCondition(pod, now, map[string]any{"type": "PodScheduled", "status": "True"})
}

// setCondition adds a condition to an object's status, or replaces the one of the same type. If the condition's status is
// unchanged, lastTransitionTime is kept.
func setCondition(obj object.Object, now string, condition map[string]any) {
	condition["lastTransitionTime"] = now
	list := obj.List("status", "conditions")
	for i, old := range obj.Objects("status", "conditions") {
		if old["type"] != condition["type"] {
			continue
		}
		if old["status"] == condition["status"] {
			condition["lastTransitionTime"] = old["lastTransitionTime"]
		}
		list[i] = condition
		return
	}
	obj.Set(append(list, condition), "status", "conditions")
}
