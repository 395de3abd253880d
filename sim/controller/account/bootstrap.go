//go:build !page

package account

import (
	"maps"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// Names of the controllers of bootstrap tokens. kube-controller-manager runs them only if they are named.
const (
	BootstrapSigner = "bootstrap-signer-controller"
	TokenCleaner    = "token-cleaner-controller"
)

const (
	publicNamespace = "kube-public"
	clusterInfo     = "cluster-info"
	signaturePrefix = "jws-kubeconfig-"
)

// ofBootstrapTokens returns a watch of bootstrap tokens. key returns the key for a Secret.
func ofBootstrapTokens(key func(c *commit.Commit) controller.Key) controller.Watch {
	return controller.Watch{Resource: secrets, Keys: func(_ *controller.Client, c *commit.Commit) []controller.Key {
		if c.Namespace != systemNamespace || c.Object().String("type") != token.BootstrapType {
			return nil
		}
		return []controller.Key{key(c)}
	}}
}

// Signer signs the kubeconfig in the ConfigMap kube-public/cluster-info with each bootstrap token, so that a kubelet that joins
// can check it (pkg/controller/bootstrap.Signer).
func Signer() controller.Controller {
	info := controller.Key{Namespace: publicNamespace, Name: clusterInfo}
	return controller.Account(BootstrapSigner, "bootstrap-signer", controller.Func(signInfo),
		ofBootstrapTokens(func(*commit.Commit) controller.Key { return info }),
		controller.Watch{Resource: configMaps, Keys: func(_ *controller.Client, c *commit.Commit) []controller.Key {
			if c.Namespace != publicNamespace || c.Name != clusterInfo || c.Deleted() {
				return nil
			}
			return []controller.Key{info}
		}})
}

func signInfo(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	info := api.Get(configMaps, key.Namespace, key.Name)
	text, ok := info.Get("data", "kubeconfig")
	if !ok {
		return 0, nil
	}
	data := maps.Clone(info.Map("data"))
	maps.DeleteFunc(data, func(name string, _ any) bool { return strings.HasPrefix(name, signaturePrefix) })
	for _, s := range api.All(secrets, systemNamespace) {
		if s.String("type") != token.BootstrapType {
			continue
		}
		if id, signature, ok := token.BootstrapSignature(s, api.Now(), text.(string)); ok { // values of a ConfigMap are strings
			data[signaturePrefix+id] = signature
		}
	}
	if object.Equal(data, info.Map("data")) {
		return 0, nil
	}
	info["data"] = data
	_, failed := api.Update(configMaps, "", info)
	return 0, workload.Found(failed)
}

// Cleaner deletes bootstrap tokens when they expire (pkg/controller/bootstrap.TokenCleaner).
func Cleaner() controller.Controller {
	return controller.Account(TokenCleaner, "token-cleaner", controller.Func(cleanToken),
		ofBootstrapTokens(func(c *commit.Commit) controller.Key { return controller.Key{Namespace: c.Namespace, Name: c.Name} }))
}

func cleanToken(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	s := api.Get(secrets, key.Namespace, key.Name)
	if s.String("type") != token.BootstrapType {
		return 0, nil
	}
	left, expired := token.BootstrapExpiry(s, api.Now())
	if !expired {
		return left, nil
	}
	return 0, workload.Found(api.Delete(secrets, key, controller.Preconditions{UID: s.UID()}))
}
