package account

import (
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	cleanEvery = 24 * time.Hour
	unusedFor  = 365 * 24 * time.Hour // --legacy-service-account-token-clean-up-period
	dateFormat = "2006-01-02"

	systemNamespace = "kube-system"
	trackingMap     = "kube-apiserver-legacy-service-account-token-tracking"
)

// LegacyTokens deletes auto-generated tokens of service accounts that have not been used for a year and that no pod mounts
// (pkg/controller/serviceaccount.LegacySATokenCleaner; KEP-2799):
//
//	in use ─ a year ─▶ marked invalid: API servers refuse it ─ a year ─▶ deleted
//
// It checks once a day while there are tokens in Secrets.
func LegacyTokens() controller.Controller {
	c := controller.Account("legacy-serviceaccount-token-cleaner-controller", "legacy-service-account-token-cleaner", &legacyTokens{},
		controller.Watch{Resource: secrets, Keys: func(_ *controller.Client, c *commit.Commit) []controller.Key {
			if c.Deleted() || c.Object().String("type") != tokenType {
				return nil
			}
			return []controller.Key{{}}
		}})
	c.Upkeep = true
	return c
}

// legacyTokens contains the time of its last check.
type legacyTokens struct {
	memory struct {
		Looked time.Time `json:",omitzero"`
	}
}

// Memory implements controller.Rememberer.
func (l *legacyTokens) Memory() any { return &l.memory }

// Reconcile implements controller.Reconciler.
func (l *legacyTokens) Reconcile(api *controller.Client, _ controller.Key) (again time.Duration, failed *status.Status) {
	now := api.Now().UTC()
	if next := l.memory.Looked.Add(cleanEvery); now.Before(next) {
		return next.Sub(now), nil
	}
	found := false
	tracked := trackedLongEnough(api, now)
	for _, s := range api.All(secrets, "") {
		if s.String("type") != tokenType {
			continue
		}
		found = true
		if tracked && outOfUse(api, s, now) {
			clean(api, s, now)
		}
	}
	if !found {
		return 0, nil
	}
	l.memory.Looked = now
	return cleanEvery, nil
}

// trackedLongEnough reports whether API servers have recorded the use of tokens for long enough.
func trackedLongEnough(api *controller.Client, now time.Time) bool {
	since, err := time.Parse(dateFormat, api.Live(configMaps, systemNamespace, trackingMap).String("data", "since"))
	return err == nil && !now.Before(since.AddDate(0, 0, 1).Add(unusedFor))
}

// outOfUse reports whether a token was generated automatically for its account and is not used by clients or pods.
func outOfUse(api *controller.Client, secret object.Object, now time.Time) bool {
	limit := now.Add(-unusedFor)
	created, err := time.Parse(time.RFC3339, secret.String("metadata", "creationTimestamp"))
	if err != nil || !created.Before(limit) || secret.DeletionTimestamp() != "" {
		return false
	}
	if used, ok := secret.Labels()[token.LastUsedLabel]; ok {
		if _, err := time.Parse(dateFormat, used); err != nil || used >= limit.Format(dateFormat) {
			return false
		}
	}
	about := secret.Annotations()
	account := withUID(api.Get(accounts, secret.Namespace(), about[accountName]), about[accountUID])
	named := slices.ContainsFunc(account.Objects("secrets"), func(ref object.Object) bool { return ref.String("name") == secret.Name() })
	if !named {
		return false
	}
	return !slices.ContainsFunc(api.All("pods", secret.Namespace()), func(pod object.Object) bool {
		return names(map[string]any(pod.At("spec")), secret.Name())
	})
}

// names reports whether a pod's spec, or a part of it, refers to a Secret (podutil.VisitPodSecretNames).
func names(part any, secret string) bool {
	switch part := part.(type) {
	case []any:
		return slices.ContainsFunc(part, func(v any) bool { return names(v, secret) })
	case map[string]any:
		for key, v := range part { // order does not matter: any match suffices
			switch key {
			case "secretName":
				if v == secret {
					return true
				}
			case "secretRef", "secretKeyRef", "nodePublishSecretRef", "secret":
				if object.As(v).String("name") == secret || names(v, secret) {
					return true
				}
			case "imagePullSecrets":
				if slices.ContainsFunc(object.ObjectsOf(object.Object(part).List(key)), func(ref object.Object) bool { return ref.String("name") == secret }) {
					return true
				}
			default:
				if names(v, secret) {
					return true
				}
			}
		}
	}
	return false
}

// clean marks a token as invalid, or deletes it if it was marked long ago.
func clean(api *controller.Client, secret object.Object, now time.Time) {
	since := secret.Labels()[token.InvalidSinceLabel]
	key := controller.Key{Namespace: secret.Namespace(), Name: secret.Name()}
	if _, err := time.Parse(dateFormat, since); err != nil {
		_ = api.Patch(secrets, "", key, func(live object.Object) { // a failed write is retried the next day
			if live.UID() == secret.UID() {
				live.Set(now.Format(dateFormat), "metadata", "labels", token.InvalidSinceLabel)
			}
		})
		return
	}
	if since < now.Add(-unusedFor).Format(dateFormat) {
		_ = api.Delete(secrets, key, controller.Preconditions{UID: secret.UID(), ResourceVersion: secret.ResourceVersion()}) // a failed deletion is retried the next day
	}
}
