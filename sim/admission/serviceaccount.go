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

// setServiceAccount returns the step that gives pods a service account, which must exist, and mounts its token into their containers
// (Kubernetes documentation, "Configure Service Accounts for Pods"). The plugin is optional: without the controllers that make service
// accounts no pod could be created.
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

// checkServiceAccount refuses mirror pods that use what a service account could, and other pods without an account.
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
	// accountAttempts is the number of attempts to find the account default of a namespace: a controller creates it soon after the
	// namespace (plugin/pkg/admission/serviceaccount).
	accountAttempts = 10
	// accountRetry is the time between two attempts. The real server draws 100 to 200 ms.
	accountRetry = 150 * time.Millisecond
)

// awaitServiceAccount returns the service account of a pod. It waits a moment for one of the name default that is not there yet, where
// the Cluster's time passes by itself.
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

// automounts reports whether the token is mounted: the pod's setting decides, then the account's.
func automounts(pod, account object.Object) bool {
	if mount, ok := pod.Bool("spec", "automountServiceAccountToken"); ok {
		return mount
	}
	mount, ok := account.Bool("automountServiceAccountToken")
	return mount || !ok
}

// mountToken mounts a volume with a token into every container that has nothing mounted in its place.
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

// tokenSource is a volume with a token, the certificate of the server and the namespace.
func tokenSource(name string) map[string]any {
	return map[string]any{"name": name, "projected": map[string]any{"defaultMode": int64(420), "sources": []any{
		map[string]any{"serviceAccountToken": map[string]any{"expirationSeconds": tokenSeconds, "path": "token"}},
		map[string]any{"configMap": map[string]any{"name": "kube-root-ca.crt", "items": []any{map[string]any{"key": "ca.crt", "path": "ca.crt"}}}},
		map[string]any{"downwardAPI": map[string]any{"items": []any{map[string]any{"path": "namespace",
			"fieldRef": map[string]any{"apiVersion": "v1", "fieldPath": "metadata.namespace"}}}}},
	}}}
}
