package builtin

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// tokenLeeway is how far apart the clocks of servers may be: a token is good for that much longer than it says, and
// begins that much earlier. What a token is bound to may have been deleted for that long.
const tokenLeeway = time.Minute

// What is wrong with a token of a service account (pkg/serviceaccount of kube-apiserver, and go-jose).
var (
	errNoTokenKey       = errors.New("invalid signature, no keys found")
	errTokenSignature   = errors.New("go-jose/go-jose: error in cryptographic primitive")
	errTokenExpired     = errors.New("service account token has expired")
	errTokenEarly       = errors.New("service account token is not valid yet")
	errTokenInvalidated = errors.New("service account token has been invalidated")
)

// extraKey begins the names of what a user's extra says about a token.
const extraKey = "authentication.kubernetes.io/"

// TokenUser returns the service account that holds a token which the Cluster of the seed signed, and for which of the
// wanted audiences the token is good. An error says what is wrong with a token of a service account: a bad signature,
// audiences of others, a token out of its time, an account or a bound object that no longer exists (Kubernetes
// documentation, "Bound service account tokens"). A text that is no such token has neither audiences nor an error.
func TokenUser(seed uint64, token string, wanted []string, now time.Time, objects resource.Reader) (
	user resource.User, good []string, err error) {
	claims, err := readToken(seed, token)
	if claims == nil || err != nil {
		return user, nil, err
	}
	audiences := stringsAt(claims, "aud")
	for _, name := range wanted {
		if slices.Contains(audiences, name) {
			good = append(good, name)
		}
	}
	if len(good) == 0 {
		return user, nil, fmt.Errorf("token audiences %q is invalid for the target audiences %q", audiences, wanted)
	}
	if now.Add(tokenLeeway).Unix() < intAt(claims, "nbf") {
		return user, nil, errTokenEarly
	}
	if now.Add(-tokenLeeway).Unix() > intAt(claims, "exp") {
		return user, nil, errTokenExpired
	}
	about := objectAt(claims, "kubernetes.io")
	deleted := object.Time(now.Add(-tokenLeeway))
	if err := accountOfToken(about, objects, deleted); err != nil {
		return user, nil, err
	}
	if err := boundOfToken(about, objects, deleted); err != nil {
		return user, nil, err
	}
	return tokenHolder(claims, about), good, nil
}

// accountOfToken checks that the service account of a token exists.
func accountOfToken(about object.Object, objects resource.Reader, deleted string) error {
	namespace, name, uid := about.String("namespace"), about.String("serviceaccount", "name"), about.String("serviceaccount", "uid")
	account := objects.Get("serviceaccounts", namespace, name)
	switch {
	case account == nil:
		return fmt.Errorf("serviceaccounts %q not found", name)
	case account.UID() != uid:
		return fmt.Errorf("service account UID (%s) does not match claim (%s)", account.UID(), uid)
	case deletedBefore(account, deleted):
		return fmt.Errorf("service account %s/%s has been deleted", namespace, name)
	}
	return nil
}

// boundOfToken checks that what a token is bound to exists. The node of a pod's token need not.
func boundOfToken(about object.Object, objects resource.Reader, deleted string) error {
	namespace := about.String("namespace")
	for _, b := range []struct{ claim, storage, namespace, text string }{
		{"secret", "secrets", namespace, "secret UID (%s) does not match service account secret ref claim (%s)"},
		{"pod", "pods", namespace, "pod UID (%s) does not match service account pod ref claim (%s)"},
		{"node", "nodes", "", "node UID (%s) does not match service account node ref claim (%s)"},
	} {
		ref := objectAt(about, b.claim)
		if ref == nil || b.claim == "node" && about.Map("pod") != nil {
			continue
		}
		bound := objects.Get(b.storage, b.namespace, ref.String("name"))
		switch uid := ref.String("uid"); {
		case bound == nil:
			return errTokenInvalidated
		case bound.UID() != uid:
			return fmt.Errorf(b.text, bound.UID(), uid)
		case deletedBefore(bound, deleted):
			return errTokenInvalidated
		}
	}
	return nil
}

// deletedBefore reports whether an object has been on its way out since before a time.
func deletedBefore(obj object.Object, t string) bool {
	at := obj.DeletionTimestamp()
	return at != "" && at < t
}

// tokenHolder returns the user that a token is about.
func tokenHolder(claims, about object.Object) resource.User {
	namespace := about.String("namespace")
	user := resource.User{
		Name: "system:serviceaccount:" + namespace + ":" + about.String("serviceaccount", "name"), UID: about.String("serviceaccount", "uid"),
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace}, Extra: map[string][]string{},
	}
	if id := claims.String("jti"); id != "" {
		user.Extra[extraKey+"credential-id"] = []string{"JTI=" + id}
	}
	for _, claim := range []string{"pod", "node"} {
		ref := objectAt(about, claim)
		if name := ref.String("name"); name != "" {
			user.Extra[extraKey+claim+"-name"] = []string{name}
		}
		if uid := ref.String("uid"); uid != "" {
			user.Extra[extraKey+claim+"-uid"] = []string{uid}
		}
	}
	return user
}

// legacyIssuer is the issuer of tokens that are kept in secrets. Nobody here signs them.
const legacyIssuer = "kubernetes/serviceaccount"

// readToken returns the claims of a token of this server's issuer, nil for any other text. An error says that nobody
// here has signed it.
func readToken(seed uint64, token string) (object.Object, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, nil
	}
	header, claims := tokenPart(parts[0]), tokenPart(parts[1])
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	issuer := claims.String("iss")
	if !tokenHeader(header) || err != nil || issuer != tokenIssuer && issuer != legacyIssuer {
		return nil, nil
	}
	key := tokenKeyOf(seed)
	if id := header.String("kid"); id != "" && id != key.id {
		return nil, errNoTokenKey
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if issuer == legacyIssuer || len(signature) != 64 || !key.verify(sum, [64]byte(signature)) {
		return nil, errTokenSignature
	}
	return claims, nil
}

// tokenHeader reports whether the first part of a token can be one.
func tokenHeader(header object.Object) bool {
	for _, name := range []string{"alg", "kid"} {
		if _, text := header[name].(string); header[name] != nil && !text {
			return false
		}
	}
	return header != nil
}

// tokenPart reads a part of a token, nil if it is no JSON object.
func tokenPart(text string) object.Object {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	part, err := object.Parse(data)
	if err != nil {
		return nil
	}
	return part
}
