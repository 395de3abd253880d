package account

import (
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	tokenType   = "kubernetes.io/service-account-token"
	accountName = "kubernetes.io/service-account.name"
	accountUID  = "kubernetes.io/service-account.uid"
)

// Tokens adds tokens to Secrets of the token type, and deletes such Secrets when their account no longer exists
// (pkg/controller/serviceaccount.TokensController).
//
//	account web/bot        ─▶ key account/bot/UID
//	secret  web/bot-token  ─▶ key secret/bot-token/UID/bot/UID   the account that it names, and the account's UID if known
func Tokens(ca *string, by *token.Authority) controller.Controller {
	t := &tokens{ca, by}
	return controller.Controller{Name: "serviceaccount-token-controller", FieldManager: "kube-controller-manager", Retries: 10, Reconciler: t,
		User: resource.User{Name: "system:kube-controller-manager", Groups: []string{"system:authenticated"}},
		Watches: []controller.Watch{{Resource: accounts, Keys: func(_ *controller.Client, c *commit.Commit) []controller.Key {
			return []controller.Key{keyOf(c.Namespace, "account", c.Name, c.Object().UID())}
		}}, {Resource: secrets, Keys: func(_ *controller.Client, c *commit.Commit) []controller.Key {
			s := c.Object()
			if s.String("type") != tokenType {
				return nil
			}
			return []controller.Key{keyOf(c.Namespace, "secret", c.Name, s.UID(), s.Annotations()[accountName], s.Annotations()[accountUID])}
		}}}}
}

func keyOf(namespace string, parts ...string) controller.Key {
	return controller.Key{Namespace: namespace, Name: strings.Join(parts, "/")}
}

type tokens struct {
	ca *string
	by *token.Authority
}

// Reconcile implements controller.Reconciler.
func (t *tokens) Reconcile(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	parts := strings.Split(key.Name, "/")
	if parts[0] == "account" {
		return 0, deleteTokens(api, key.Namespace, parts[1], parts[2])
	}
	name, uid, of, ofUID := parts[1], parts[2], parts[3], parts[4]
	if of == "" {
		return 0, nil
	}
	secret := withUID(api.Get(secrets, key.Namespace, name), uid)
	account := withUID(api.Get(accounts, key.Namespace, of), ofUID)
	switch {
	case secret == nil:
		if account != nil {
			removeReference(api, key.Namespace, of, ofUID, name)
		}
		return 0, nil
	case account == nil:
		account = withUID(api.Live(accounts, key.Namespace, of), ofUID)
	}
	if account == nil {
		return 0, deleteToken(api, secret)
	}
	return 0, t.fill(api, account, secret)
}

// withUID returns obj if it has the given UID, or nil. The UID "" matches any object.
func withUID(obj object.Object, uid string) object.Object {
	if obj == nil || uid != "" && obj.UID() != uid {
		return nil
	}
	return obj
}

// deleteTokens deletes the tokens of an account that no longer exists.
func deleteTokens(api *controller.Client, namespace, name, uid string) (failed *status.Status) {
	if withUID(api.Get(accounts, namespace, name), uid) != nil {
		return nil
	}
	for _, s := range api.All(secrets, namespace) {
		about := s.Annotations()
		if s.String("type") == tokenType && about[accountName] == name && about[accountUID] == uid {
			if x := deleteToken(api, s); x != nil {
				failed = x
			}
		}
	}
	return failed
}

func deleteToken(api *controller.Client, secret object.Object) *status.Status {
	key := controller.Key{Namespace: secret.Namespace(), Name: secret.Name()}
	return settled(api.Delete(secrets, key, controller.Preconditions{UID: secret.UID()}))
}

// settled returns nil if s is a conflict or NotFound, because the controller will be notified of the change, and s otherwise.
func settled(s *status.Status) *status.Status {
	if s != nil && s.Reason == status.ReasonConflict {
		return nil
	}
	return workload.Found(s)
}

// removeReference removes the reference to a deleted Secret from an account.
func removeReference(api *controller.Client, namespace, name, uid, secret string) {
	account := withUID(api.Live(accounts, namespace, name), uid)
	if account == nil {
		return
	}
	before := account.List("secrets")
	left := slices.DeleteFunc(slices.Clone(before), func(v any) bool { return object.As(v).String("name") == secret })
	if len(left) == len(before) {
		return
	}
	if delete(account, "secrets"); len(left) > 0 {
		account["secrets"] = left
	}
	_, _ = api.Update(accounts, "", account) // conflicts are ignored
}

// fill adds missing data to a Secret: a token, the CA certificate, the namespace.
func (t *tokens) fill(api *controller.Client, account, cached object.Object) *status.Status {
	if len(t.missing(account, cached)) == 0 {
		return nil
	}
	live := api.Live(secrets, cached.Namespace(), cached.Name())
	if live == nil || live.ResourceVersion() != cached.ResourceVersion() {
		return nil // another client has written the Secret, of which the controller will be notified
	}
	for name, value := range t.missing(account, live) { // order does not matter: the result is a map
		live.Set(base64.StdEncoding.EncodeToString([]byte(value)), "data", name)
	}
	live.Set(account.Name(), "metadata", "annotations", accountName)
	live.Set(account.UID(), "metadata", "annotations", accountUID)
	_, failed := api.Update(secrets, "", live)
	return settled(failed)
}

// missing returns the data that a Secret lacks.
func (t *tokens) missing(account, secret object.Object) map[string]string {
	missing := map[string]string{}
	if ca := *t.ca; ca != "" && secret.String("data", "ca.crt") != base64.StdEncoding.EncodeToString([]byte(ca)) {
		missing["ca.crt"] = ca
	}
	if secret.String("data", "namespace") == "" {
		missing["namespace"] = secret.Namespace()
	}
	if secret.String("data", "token") == "" {
		missing["token"] = t.by.SignLegacy(account.Namespace(), account.Name(), account.UID(), secret.Name())
	}
	return missing
}
