package server

import (
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	registration = "autoregister"

	// APIServices is the storage name of APIServices.
	APIServices = "apiservices.apiregistration.k8s.io"
	// Automanaged is the label of an APIService that servers maintain automatically.
	Automanaged = "kube-aggregator.kubernetes.io/automanaged"
)

// Registration maintains an APIService for each served version of a group of custom resources (kube-apiserver's
// crd-autoregistration, with kube-aggregator's pkg/controllers/autoregister). Its keys are the names of definitions, and .GROUP
// when an APIService in a group was written.
func Registration() controller.Controller {
	return Own(registration, controller.Func(register), controller.Watch{Resource: APIServices, Others: true,
		Keys: func(_ *controller.Client, c *commit.Commit) []controller.Key {
			return []controller.Key{{Name: "." + groupOf(c.Name)}}
		}}, definitions)
}

func register(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	if obj := definitionOutline(api, key.Name); obj != nil && unsettled(api, obj) {
		return 0, nil // the write causes another reconcile
	}
	group := groupOf(key.Name)
	known := inGroup(api, group)
	if len(known) == 0 && strings.HasPrefix(key.Name, ".") {
		return 0, nil // a group without custom resources is not managed here
	}
	want := served(known, group)
	api.Items(APIServices, "", func(it *resource.Item) bool {
		obj := it.Object()
		if kept, _ := it.Label(Automanaged); obj.String("spec", "group") == group && kept == "true" {
			keep(api, obj, want[it.Name])
			delete(want, it.Name)
		}
		return true
	})
	for _, name := range object.SortedKeys(want) {
		if api.Item(APIServices, "", name) != nil {
			continue
		}
		d := api.Definition(APIServices)
		_, _ = api.Create(APIServices, object.Object{"kind": d.Kind, "apiVersion": d.GV(), // the APIService did not exist
			"metadata": map[string]any{"name": name, "labels": map[string]any{Automanaged: "true"}},
			"spec":     specOf(group, want[name])})
	}
	return 0, nil
}

// keep updates the APIService of a version. If the version is not served, keep deletes the APIService.
func keep(api *controller.Client, obj object.Object, version string) {
	if version == "" {
		_ = api.Delete(APIServices, controller.Key{Name: obj.Name()}, controller.Preconditions{}) // no finalizer keeps the object
		return
	}
	if spec := specOf(obj.String("spec", "group"), version); !object.Equal(obj["spec"], spec) {
		obj["spec"] = spec
		_, _ = api.Update(APIServices, "", obj) // a conflict causes another reconcile
	}
}

// specOf returns the spec of the APIService of a version of custom resources.
func specOf(group, version string) map[string]any {
	return map[string]any{"group": group, "version": version, "groupPriorityMinimum": int64(1000), "versionPriority": int64(100)}
}

// served returns the served versions of the definitions in a group, by the names of their APIServices.
func served(known []object.Object, group string) map[string]string {
	want := map[string]string{}
	for _, obj := range known {
		for _, version := range obj.Objects("spec", "versions") {
			if version.True("served") {
				want[version.String("name")+"."+group] = version.String("name")
			}
		}
	}
	return want
}
