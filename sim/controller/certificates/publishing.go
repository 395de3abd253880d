//go:build !page

package certificates

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	trustBundles  = "clustertrustbundles.certificates.k8s.io"
	servingSigner = "kubernetes.io/kube-apiserver-serving"
	servingPrefix = "kubernetes.io:kube-apiserver-serving:"
)

// Publishing maintains the ClusterTrustBundle with the certificates that clients of the API server must trust, if the server has
// that kind (pkg/controller/certificates/clustertrustbundlepublisher). Its name contains a hash of the certificates. Other bundles of
// the same signer are deleted. ca is empty if clients use HTTP; then there is no bundle.
func Publishing(ca *string) controller.Controller {
	only := []controller.Key{{}}
	return controller.Account(PublishingController, "kube-apiserver-serving-clustertrustbundle-publisher", publishing{ca},
		controller.Watch{Resource: trustBundles, Keys: func(_ *controller.Client, c *commit.Commit) []controller.Key {
			if c.Object().String("spec", "signerName") != servingSigner {
				return nil
			}
			return only
		}},
		controller.Watch{Resource: "namespaces", Keys: func(_ *controller.Client, c *commit.Commit) []controller.Key {
			if c.Name != "kube-system" || !c.Created() { // it exists when the controller starts
				return nil
			}
			return only
		}})
}

type publishing struct{ ca *string }

// Reconcile implements controller.Reconciler.
func (p publishing) Reconcile(api *controller.Client, _ controller.Key) (time.Duration, *status.Status) {
	if *p.ca == "" || api.Definition(trustBundles) == nil {
		return 0, nil
	}
	hash := sha256.Sum256([]byte(*p.ca))
	name := fmt.Sprintf("%s%x", servingPrefix, hash[:12])
	obj := api.Get(trustBundles, "", name)
	var failed *status.Status
	switch {
	case obj == nil:
		_, failed = api.Create(trustBundles, object.Object{"metadata": map[string]any{"name": name},
			"spec": map[string]any{"signerName": servingSigner, "trustBundle": *p.ca}})
	case obj.String("spec", "trustBundle") != *p.ca:
		obj.Set(*p.ca, "spec", "trustBundle")
		_, failed = api.Update(trustBundles, "", obj)
	}
	if failed != nil {
		return 0, failed
	}
	for _, other := range api.All(trustBundles, "") {
		if other.Name() == name || other.String("spec", "signerName") != servingSigner {
			continue
		}
		if s := api.Delete(trustBundles, controller.Key{Name: other.Name()}, controller.Preconditions{}); s != nil && s.Reason != status.ReasonNotFound {
			failed = s
		}
	}
	return 0, failed
}
