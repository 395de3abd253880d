//go:build !page

package token

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
)

// BootstrapType is the type of the Secrets that contain bootstrap tokens. Kubelets that join a cluster use such a token
// (Kubernetes documentation, "Authenticating with Bootstrap Tokens"):
//
//	Secret kube-system/bootstrap-token-ID ─▶ bearer token ID.SECRET ─▶ user system:bootstrap:ID, group system:bootstrappers
//	                                      └▶ signature of ConfigMap kube-public/cluster-info
const BootstrapType = "bootstrap.kubernetes.io/token"

const (
	bootstrapPrefix = "bootstrap-token-"
	bootstrapGroup  = "system:bootstrappers"
)

var (
	bootstrapToken  = regexp.MustCompile(`\A([a-z0-9]{6})\.([a-z0-9]{16})\z`)
	bootstrapName   = regexp.MustCompile(`\Abootstrap-token-([a-z0-9]{6})\z`)
	bootstrapGroups = regexp.MustCompile(`\Asystem:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]\z`)
)

// Bootstrap returns the holder of a bootstrap token, without audiences, or nil if the token is not valid at the time now
// (plugin/pkg/auth/authenticator/token/bootstrap).
func Bootstrap(text string, now time.Time, objects Objects) *Holder {
	parts := bootstrapToken.FindStringSubmatch(text)
	if parts == nil {
		return nil
	}
	id, key := parts[1], parts[2]
	s := objects.Get("secrets", "kube-system", bootstrapPrefix+id)
	if s == nil {
		return nil
	}
	known := subtle.ConstantTimeCompare([]byte(secretData(s, "token-secret")), []byte(key)) == 1
	if _, expired := BootstrapExpiry(s, now); expired || !known || s.DeletionTimestamp() != "" || s.String("type") != BootstrapType ||
		secretData(s, "token-id") != id || secretData(s, "usage-bootstrap-authentication") != "true" {
		return nil
	}
	groups := []string{bootstrapGroup}
	if extra := secretData(s, "auth-extra-groups"); extra != "" {
		for group := range strings.SplitSeq(extra, ",") {
			if !bootstrapGroups.MatchString(group) {
				return nil
			}
			groups = append(groups, group)
		}
	}
	slices.Sort(groups)
	return &Holder{Name: "system:bootstrap:" + id, Groups: slices.Compact(groups)}
}

// BootstrapExpiry returns the time until a bootstrap token expires, or 0 if it does not, and reports whether it has expired. A
// token with an invalid time has expired.
func BootstrapExpiry(secret object.Object, now time.Time) (left time.Duration, expired bool) {
	text := secretData(secret, "expiration")
	if text == "" {
		return 0, false
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || !at.After(now) {
		return 0, true
	}
	return at.Sub(now), false
}

// BootstrapSignature returns the ID of a bootstrap token, and its detached signature of a text (RFC 7515, HS256). It returns false if
// the token may not sign.
func BootstrapSignature(secret object.Object, now time.Time, text string) (id, signature string, ok bool) {
	name, id, key := bootstrapName.FindStringSubmatch(secret.Name()), secretData(secret, "token-id"), secretData(secret, "token-secret")
	if _, expired := BootstrapExpiry(secret, now); expired || name == nil || id != name[1] || key == "" || secretData(secret, "usage-bootstrap-signing") != "true" {
		return "", "", false
	}
	header, _ := json.Marshal(map[string]string{"alg": "HS256", "kid": id}) // strings can always be printed
	protected := base64.RawURLEncoding.EncodeToString(header)
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(protected + "." + base64.RawURLEncoding.EncodeToString([]byte(text))))
	return id, protected + ".." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)), true
}

// secretData returns a decoded value of a Secret, or "".
func secretData(secret object.Object, name string) string {
	value, _ := base64.StdEncoding.DecodeString(secret.String("data", name)) // stored values are valid
	return string(value)
}
