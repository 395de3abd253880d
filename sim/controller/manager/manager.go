// Package manager holds the controllers of kube-controller-manager, a file each.
package manager

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// all are the controllers, in the order in which they are told of a commit.
var all = []func() controller.Controller{RoleAggregation, Namespace, GarbageCollector, ReplicaSet,
	ReplicationController, Deployment}

// All names all controllers, for New.
const All = "all"

// New returns controllers by name: All of them, or some, as kube-controller-manager's flag --controllers has it. -NAME is
// one that does not run. nil: those that run in every cluster. An unknown name is an error.
func New(names []string) (run []controller.Controller, err error) {
	if names == nil {
		return []controller.Controller{RoleAggregation()}, nil
	}
	known := map[string]bool{All: true}
	for _, make := range all {
		c := make()
		known[c.Name] = true
		if (slices.Contains(names, All) || slices.Contains(names, c.Name)) && !slices.Contains(names, "-"+c.Name) {
			run = append(run, c)
		}
	}
	for _, name := range names {
		if !known[strings.TrimPrefix(name, "-")] {
			return nil, fmt.Errorf("there is no controller %q: there are %s", name, strings.Join(object.SortedKeys(known), ", "))
		}
	}
	return run, nil
}

// account is a controller that asks as the service account of its name, which bootstrap roles let do what it does.
func account(name string, r controller.Reconciler, watches ...controller.Watch) controller.Controller {
	return controller.Controller{Name: name, FieldManager: "kube-controller-manager", Watches: watches, Reconciler: r,
		User: resource.User{Name: "system:serviceaccount:kube-system:" + name, Groups: []string{"system:serviceaccounts",
			"system:serviceaccounts:kube-system", "system:authenticated"}}}
}

// condition returns a condition of an object, or nil.
func condition(obj object.Object, kind string) object.Object {
	for _, c := range obj.Objects("status", "conditions") {
		if c.String("type") == kind {
			return c
		}
	}
	return nil
}

// setCondition makes a condition of an object say something, and reports whether it did not before. Its time is when its
// status changed.
func setCondition(obj object.Object, now time.Time, kind, value, reason, message string) (changed bool) {
	c := condition(obj, kind)
	if c == nil {
		c = object.Object{"type": kind}
		obj.Set(append(obj.List("status", "conditions"), map[string]any(c)), "status", "conditions")
	}
	if c.String("status") == value && c.String("reason") == reason && c.String("message") == message {
		return false
	}
	if c.String("status") != value {
		c["lastTransitionTime"] = object.Time(now)
	}
	c["status"], c["reason"], c["message"] = value, reason, message
	return true
}
