package server

import (
	"maps"
	"time"

	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// Authentication is the name of the controller that publishes the trusted certificate authorities.
const Authentication = "cluster-authentication-trust-controller"

const configMaps = "configmaps"

var published = controller.Key{Namespace: "kube-system", Name: "extension-apiserver-authentication"}

// Publishing maintains the ConfigMap extension-apiserver-authentication: it adds the trusted certificate authorities when an API
// server starts, when the authorities change (Manager.Resync), and when the ConfigMap is deleted. Certificates in the ConfigMap
// are kept until they expire (kube-apiserver, clusterauthenticationtrust).
func Publishing(s *auth.Signers) controller.Controller {
	return Own(Authentication, &publisher{s}, controller.Watch{Resource: configMaps, Keys: ofPublished},
		controller.Watch{Resource: "namespaces", Keys: ofPublishedNamespace})
}

type publisher struct{ signers *auth.Signers }

// ofPublished returns the key of the ConfigMap if the commit creates or deletes it.
func ofPublished(_ *controller.Client, c *commit.Commit) []controller.Key {
	if c.Namespace != published.Namespace || c.Name != published.Name || !c.Deleted() && c.Prev != nil {
		return nil
	}
	return []controller.Key{published}
}

// ofPublishedNamespace returns the key of the ConfigMap if the commit creates its namespace. Manager.Resync also lists
// namespaces. Therefore it queues the key even if the ConfigMap does not exist yet.
func ofPublishedNamespace(_ *controller.Client, c *commit.Commit) []controller.Key {
	if c.Name != published.Namespace || c.Deleted() || c.Prev != nil {
		return nil
	}
	return []controller.Key{published}
}

// Reconcile implements controller.Reconciler.
func (p *publisher) Reconcile(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	obj := api.Live(configMaps, key.Namespace, key.Name)
	exists := obj != nil
	if !exists {
		obj = object.Object{"metadata": map[string]any{"namespace": key.Namespace, "name": key.Name}}
	}
	before := object.StringMap(obj.Map("data"))
	data, err := p.signers.Publish(before, api.Now())
	if err != nil {
		return 0, status.Internal(err)
	}
	if maps.Equal(data, before) {
		return 0, nil
	}
	for name, value := range data { // order does not matter
		obj.Set(value, "data", name)
	}
	var s *status.Status
	if exists {
		_, s = api.Update(configMaps, "", obj)
	} else {
		_, s = api.Create(configMaps, obj)
	}
	return 0, s
}
