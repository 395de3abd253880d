package volume

import (
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/claims"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	attributesClasses = "volumeattributesclasses.storage.k8s.io"
	classFinalizer    = "kubernetes.io/vac-protection"
)

// ClassProtection delays the deletion of VolumeAttributesClasses until no claim or volume names them
// (pkg/controller/volume/vacprotection).
func ClassProtection() controller.Controller {
	return controller.Account("volumeattributesclass-protection-controller", "volumeattributesclass-protection-controller",
		controller.Func(func(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
			return 0, protect(api, attributesClasses, key, classFinalizer, func(class object.Object) bool {
				return namedIn(api, claims.Claims, class.Name()) || namedIn(api, claims.Volumes, class.Name())
			})
		}), controller.Watch{Resource: attributesClasses}, controller.Watch{Resource: claims.Claims, Keys: formerClasses},
		controller.Watch{Resource: claims.Volumes, Keys: formerClasses})
}

// classNames lists the VolumeAttributesClasses that a claim or volume names.
type classNames []string

func classesOf(it *resource.Item) classNames {
	return resource.Derived(it, func(obj object.Object) (names classNames) {
		for _, path := range [][]string{{"spec", "volumeAttributesClassName"}, {"status", "currentVolumeAttributesClassName"},
			{"status", "modifyVolumeStatus", "targetVolumeAttributesClassName"}} {
			if name := obj.String(path...); name != "" {
				names = append(names, name)
			}
		}
		return names
	})
}

// namedIn reports whether an object of a resource names a class.
func namedIn(api *controller.Client, of, class string) (found bool) {
	api.Items(of, "", func(it *resource.Item) bool {
		found = slices.Contains(classesOf(it), class)
		return !found
	})
	return found
}

// formerClasses returns the keys of the classes that a claim or volume no longer names after a commit.
func formerClasses(_ *controller.Client, c *commit.Commit) (keys []controller.Key) {
	if c.Created() {
		return nil
	}
	for _, name := range classesOf(c.Before()) {
		if c.Deleted() || !slices.Contains(classesOf(c.Item()), name) {
			keys = append(keys, controller.Key{Name: name})
		}
	}
	return keys
}
