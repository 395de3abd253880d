package admission

import (
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// serviceAccounts is the storage name of ServiceAccounts.
const serviceAccounts = "serviceaccounts"

const (
	tokenVolume    = "kube-api-access-"
	tokenPath      = "/var/run/secrets/kubernetes.io/serviceaccount"
	tokenSeconds   = int64(3607)
	mirrorPod      = "kubernetes.io/config.mirror"
	suffixLetters  = "bcdfghjklmnpqrstvwxz2456789"
	suffixLength   = 5
	defaultAccount = "default"
)

// setServiceAccount returns the step that sets the service account of a pod and mounts its token into the containers
// (Kubernetes documentation, "Configure Service Accounts for Pods"). It rejects the pod if the account does not exist. The
// plugin is therefore optional: without the controllers that create service accounts, it would reject all pods.
func setServiceAccount(h *Server) Step {
	return func(a *Attributes) *status.Status { return h.setServiceAccount(a) }
}

func (h *Server) setServiceAccount(a *Attributes) *status.Status {
	pod := a.Object
	if _, ok := pod.Annotations()[mirrorPod]; ok {
		return checkServiceAccount(a)
	}
	if pod.String("spec", "serviceAccountName") == "" {
		pod.Set(defaultAccount, "spec", "serviceAccountName")
	}
	pod.Set(pod.String("spec", "serviceAccountName"), "spec", "serviceAccount")
	account, s := h.awaitServiceAccount(a)
	if s != nil {
		return s
	}
	if automounts(pod, account) {
		mountToken(a)
	}
	if secrets := account.List("imagePullSecrets"); len(secrets) > 0 && len(pod.List("spec", "imagePullSecrets")) == 0 {
		pod.Set(object.Copy(secrets), "spec", "imagePullSecrets")
	}
	return nil
}

// checkServiceAccount rejects mirror pods that use service accounts or secrets, and other pods whose account does not
// exist.
func checkServiceAccount(a *Attributes) *status.Status {
	pod := a.Object
	if _, mirror := pod.Annotations()[mirrorPod]; !mirror {
		_, s := serviceAccountOf(a)
		return s
	}
	if pod.String("spec", "serviceAccountName") != "" {
		return a.refuse("a mirror pod may not reference service accounts")
	}
	for _, v := range pod.Objects("spec", "volumes") {
		if v.Map("secret") != nil {
			return a.refuse("a mirror pod may not reference secrets")
		}
		for _, source := range v.Objects("projected", "sources") {
			if source.Map("serviceAccountToken") != nil {
				return a.refuse("a mirror pod may not use ServiceAccountToken volume projections")
			}
		}
	}
	return nil
}

func serviceAccountOf(a *Attributes) (object.Object, *status.Status) {
	name := a.Object.String("spec", "serviceAccountName")
	if account := a.Objects.Get(serviceAccounts, a.Namespace, name); account != nil {
		return account, nil
	}
	return nil, a.refuse("error looking up service account %s/%s: serviceaccount %q not found", a.Namespace, name, name)
}

const (
	// accountAttempts is the number of attempts to find a namespace's account "default", which a controller creates soon
	// after the namespace (plugin/pkg/admission/serviceaccount).
	accountAttempts = 10
	// accountRetry is the time between two attempts. The real server uses random times between 100 and 200 ms.
	accountRetry = 150 * time.Millisecond
)

// awaitServiceAccount returns the service account of a pod. If the Cluster's time advances by itself, it waits briefly
// for an account "default" that does not exist yet.
func (h *Server) awaitServiceAccount(a *Attributes) (account object.Object, s *status.Status) {
	attempts := 1
	if a.Object.String("spec", "serviceAccountName") == defaultAccount && h.Host != nil && h.Waits() {
		attempts = accountAttempts
	}
	for i := range attempts {
		if i > 0 {
			ctx := a.Deadline.Context()
			h.Unlocked(func() { h.Wait(ctx, accountRetry) })
		}
		if account, s = serviceAccountOf(a); s == nil || a.Deadline.Err() != nil {
			break
		}
	}
	return account, s
}

// automounts reports whether the token is mounted. The pod's setting takes precedence over the account's.
func automounts(pod, account object.Object) bool {
	if mount, ok := pod.Bool("spec", "automountServiceAccountToken"); ok {
		return mount
	}
	mount, ok := account.Bool("automountServiceAccountToken")
	return mount || !ok
}

// mountToken mounts a volume with a token into every container that has no mount at the token's path.
func mountToken(a *Attributes) {
	pod, name := a.Object, ""
	for _, v := range pod.Objects("spec", "volumes") {
		if n := v.String("name"); strings.HasPrefix(n, tokenVolume) {
			name = n
		}
	}
	isNew := name == ""
	if isNew {
		name = tokenVolume + suffix(a)
	}
	mounted := false
	for _, list := range []string{"initContainers", "containers"} {
		for _, c := range pod.Objects("spec", list) {
			mounted = mountInto(c, name) || mounted
		}
	}
	if isNew && mounted {
		pod.Set(append(pod.List("spec", "volumes"), any(tokenSource(name))), "spec", "volumes")
	}
}

func mountInto(c object.Object, volume string) bool {
	mounts := c.List("volumeMounts")
	for _, m := range object.ObjectsOf(mounts) {
		if m.String("mountPath") == tokenPath {
			return false
		}
	}
	c.Set(append(mounts, any(map[string]any{"name": volume, "readOnly": true, "mountPath": tokenPath})), "volumeMounts")
	return true
}

func suffix(a *Attributes) string {
	b := make([]byte, suffixLength)
	for i := range b {
		b[i] = suffixLetters[a.Random(len(suffixLetters))]
	}
	return string(b)
}

// tokenSource returns a volume with a token, the server's CA certificate and the namespace.
func tokenSource(name string) map[string]any {
	return map[string]any{"name": name, "projected": map[string]any{"defaultMode": int64(420), "sources": []any{
		map[string]any{"serviceAccountToken": map[string]any{"expirationSeconds": tokenSeconds, "path": "token"}},
		map[string]any{"configMap": map[string]any{"name": "kube-root-ca.crt", "items": []any{map[string]any{"key": "ca.crt", "path": "ca.crt"}}}},
		map[string]any{"downwardAPI": map[string]any{"items": []any{map[string]any{"path": "namespace",
			"fieldRef": map[string]any{"apiVersion": "v1", "fieldPath": "metadata.namespace"}}}}},
	}}}
}
