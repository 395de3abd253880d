// Package account implements the controllers that provide the pods of a namespace with access to the API server: a service
// account, the CA certificate, and tokens in Secrets (pkg/controller/serviceaccount, certificates/rootcacertpublisher).
//
//	Namespace web ─┬─▶ ServiceAccount web/default
//	               └─▶ ConfigMap web/kube-root-ca.crt
//	Secret of type kubernetes.io/service-account-token ─▶ its token, as long as its account exists
package account

import (
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	namespaces = "namespaces"
	accounts   = "serviceaccounts"
	configMaps = "configmaps"
	secrets    = "secrets"
)

// Default creates the ServiceAccount default in each namespace (pkg/controller/serviceaccount.ServiceAccountsController).
func Default() controller.Controller {
	return controller.Account("serviceaccount-controller", "service-account-controller", controller.Func(ensureDefault),
		controller.Watch{Resource: namespaces, Keys: written}, controller.Watch{Resource: accounts, Keys: deleted})
}

// written returns the key of a namespace that was created or updated.
func written(_ *controller.Client, c *commit.Commit) []controller.Key {
	if c.Deleted() {
		return nil
	}
	return []controller.Key{{Name: c.Name}}
}

// deleted returns the key of the namespace of a deleted object.
func deleted(_ *controller.Client, c *commit.Commit) []controller.Key {
	if !c.Deleted() {
		return nil
	}
	return []controller.Key{{Name: c.Namespace}}
}

func ensureDefault(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	namespace := api.Get(namespaces, "", key.Name)
	if namespace.String("status", "phase") != "Active" || api.Item(accounts, key.Name, "default") != nil {
		return 0, nil
	}
	_, failed := api.Create(accounts, object.Object{"kind": "ServiceAccount", "apiVersion": "v1",
		"metadata": map[string]any{"name": "default", "namespace": key.Name}})
	if failed != nil && (failed.Reason == status.ReasonAlreadyExists || workload.Terminating(failed)) {
		return 0, nil
	}
	return 0, failed
}

const (
	// Publisher is the name of the controller that RootCA returns.
	Publisher = "root-ca-certificate-publisher-controller"

	rootCA      = "kube-root-ca.crt"
	description = "kubernetes.io/description"
	purpose     = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the " +
		"internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters."
)

// RootCA creates a ConfigMap in each namespace with the PEM certificates that clients of the API server must trust
// (pkg/controller/certificates/rootcacertpublisher). ca is empty if clients use HTTP and need no certificates.
func RootCA(ca *string) controller.Controller {
	return controller.Account(Publisher, "root-ca-cert-publisher", publisher{ca},
		controller.Watch{Resource: namespaces, Keys: func(api *controller.Client, c *commit.Commit) []controller.Key {
			if !c.Created() && !c.Deleted() && c.Object().String("status", "phase") != "Active" {
				return nil
			}
			return written(api, c)
		}},
		controller.Watch{Resource: configMaps, Keys: func(_ *controller.Client, c *commit.Commit) []controller.Key {
			if c.Name != rootCA || c.Created() {
				return nil
			}
			return []controller.Key{{Name: c.Namespace}}
		}})
}

type publisher struct{ ca *string }

// Reconcile implements controller.Reconciler.
func (p publisher) Reconcile(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	data := map[string]any{"ca.crt": *p.ca}
	obj := api.Get(configMaps, key.Name, rootCA)
	if obj == nil {
		_, failed := api.Create(configMaps, object.Object{"kind": "ConfigMap", "apiVersion": "v1", "data": data,
			"metadata": map[string]any{"name": rootCA, "namespace": key.Name, "annotations": map[string]any{description: purpose}}})
		if failed != nil && (failed.Reason == status.ReasonNotFound || workload.Terminating(failed)) {
			return 0, nil
		}
		return 0, failed
	}
	if object.Equal(obj.Map("data"), data) && obj.Annotations()[description] != "" {
		return 0, nil
	}
	obj["data"] = data
	obj.Set(purpose, "metadata", "annotations", description)
	_, failed := api.Update(configMaps, "", obj)
	return 0, failed
}
