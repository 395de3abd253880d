package token

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
)

// leeway is the tolerated clock difference between servers: a token becomes valid that much earlier and expires that much later. An
// object to which a token is bound may have been deleted for that long.
const leeway = time.Minute

// The errors for service account tokens (pkg/serviceaccount of kube-apiserver, and go-jose).
var (
	errNoKey       = errors.New("invalid signature, no keys found")
	errSignature   = errors.New("go-jose/go-jose: error in cryptographic primitive")
	errExpired     = errors.New("service account token has expired")
	errEarly       = errors.New("service account token is not valid yet")
	errFuture      = errors.New("service account token is issued in the future")
	errInvalidated = errors.New("service account token has been invalidated")
)

// extraKey is the prefix of the keys in a user's extra that describe the token.
const extraKey = "authentication.kubernetes.io/"

// Holder is the service account that a token identifies.
type Holder struct {
	Name, UID string
	Groups    []string
	Extra     map[string][]string
	// Audiences are those of the wanted audiences for which the token is valid.
	Audiences []string
	// Warning is a warning for the client, or "".
	Warning string
}

// Use describes the update of a legacy token's Secret after the token was used: a label with the date. The zero value means that no
// update is needed.
type Use struct {
	Namespace, Name string
	Day             string // YYYY-MM-DD
}

// Check returns the holder of a token, or nil if text is not a token of the Authority's issuers. It returns an error if the
// signature or the audiences are invalid, if the token is not valid at this time, or if the account or bound object no longer
// exists (pkg/serviceaccount.jwtTokenAuthenticator). use may be set even if there is an error.
func (a *Authority) Check(text string, wanted []string, now time.Time, objects Objects) (h *Holder, use Use, err error) {
	t := parse(text)
	if t == nil {
		return nil, use, nil
	}
	legacy := t.claims.String("iss") == legacyIssuer
	if !legacy && !slices.Contains(a.options.Issuers, t.claims.String("iss")) {
		return nil, use, nil
	}
	if err := a.checkSignature(t); err != nil {
		return nil, use, err
	}
	if err := checkClaims(t.claims, legacy); err != nil {
		return nil, use, err
	}
	audiences := audiencesOf(t.claims)
	if len(audiences) == 0 {
		audiences = a.options.Audiences
	}
	good := slices.DeleteFunc(slices.Clone(wanted), func(name string) bool { return !slices.Contains(audiences, name) })
	if len(good) == 0 {
		return nil, use, fmt.Errorf("token audiences %q is invalid for the target audiences %q", audiences, wanted)
	}
	if legacy {
		h, use, err = a.checkLegacy(t, now, objects)
	} else {
		h, err = check(t.claims, now, objects)
	}
	if h != nil {
		h.Audiences = good
	}
	return h, use, err
}

// parsed is a token whose signature has not been verified.
type parsed struct {
	text           string
	signed         string // the part of text that is signed
	header, claims object.Object
	signature      []byte
}

// parse parses a token. It returns nil if text is not a token.
func parse(text string) *parsed {
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return nil
	}
	t := &parsed{text: text, signed: parts[0] + "." + parts[1], header: parsePart(parts[0]), claims: parsePart(parts[1])}
	var err error
	if t.signature, err = base64.RawURLEncoding.DecodeString(parts[2]); err != nil || !isHeader(t.header) || t.claims == nil {
		return nil
	}
	return t
}

// isHeader reports whether the header of a token has valid types.
func isHeader(header object.Object) bool {
	for _, name := range []string{"alg", "kid"} {
		if _, text := header[name].(string); header[name] != nil && !text {
			return false
		}
	}
	return header != nil
}

// understood returns an error if a token requires an extension of RFC 7515 ("crit") that go-jose does not support.
func (t *parsed) understood() error {
	needs, list := t.header["crit"].([]any)
	if !list && t.header["crit"] != nil {
		return notOfType(t.header["crit"], "[]string")
	}
	for _, v := range needs {
		if _, text := v.(string); !text && v != nil {
			return notOfType(v, "string")
		}
	}
	for _, name := range needs {
		if name != "b64" { // RFC 7797: specifies whether the payload is encoded, as it is in all tokens
			return errSignature
		}
	}
	return nil
}

// parsePart decodes a part of a token. It returns an empty object for null, and nil for anything else that is not a JSON object.
func parsePart(text string) object.Object {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	part, err := object.ParseValue(data)
	if err != nil {
		return nil
	}
	if part == nil {
		return object.Object{}
	}
	return object.As(part)
}

// checkSignature verifies a token's signature with the key that the token names. If it does not name one, any key may match.
func (a *Authority) checkSignature(t *parsed) error {
	id, err := t.header.String("kid"), errNoKey
	for _, k := range a.verifiers() {
		if id != "" && id != k.id() {
			continue
		}
		if err = t.understood(); err == nil && !k.verify(t.header.String("alg"), []byte(t.signed), t.signature) {
			err = errSignature
		}
		if err == nil {
			return nil
		}
	}
	return err
}

// check returns the holder of a bound token (pkg/serviceaccount.validator). It returns an error if the token has expired, or if the
// service account or the object to which it is bound no longer exists.
func check(claims object.Object, now time.Time, objects Objects) (*Holder, error) {
	if err := checkTime(claims, now); err != nil {
		return nil, err
	}
	about := claims.At("kubernetes.io")
	deleted := object.Time(now.Add(-leeway))
	if err := checkAccount(about, objects, deleted); err != nil {
		return nil, err
	}
	if err := checkBound(about, objects, deleted); err != nil {
		return nil, err
	}
	return holder(claims, about), nil
}

// checkTime checks that a token is valid now. It ignores times that are not set.
func checkTime(claims object.Object, now time.Time) error {
	later, earlier := now.Add(leeway).Unix(), now.Add(-leeway).Unix()
	if nbf, ok := seconds(claims["nbf"]); ok && later < nbf {
		return errEarly
	}
	if exp, ok := seconds(claims["exp"]); ok && earlier > exp {
		return errExpired
	}
	if iat, ok := seconds(claims["iat"]); ok && later < iat {
		return errFuture
	}
	return nil
}

// checkAccount checks that the service account of a token exists, has the uid of the token, and was not deleted before the time
// deleted.
func checkAccount(about object.Object, objects Objects, deleted string) error {
	namespace, name, uid := about.String("namespace"), about.String("serviceaccount", "name"), about.String("serviceaccount", "uid")
	switch { // the errors that an API client would get
	case name == "":
		return errors.New("resource name may not be empty")
	case namespace == "":
		return errors.New("the server could not find the requested resource")
	}
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

// checkBound checks that the object to which a token is bound exists. For a token that is bound to a pod, it does not check the
// pod's node.
func checkBound(about object.Object, objects Objects, deleted string) error {
	namespace := about.String("namespace")
	for _, b := range []struct{ claim, storage, namespace, text string }{
		{"secret", "secrets", namespace, "secret UID (%s) does not match service account secret ref claim (%s)"},
		{"pod", "pods", namespace, "pod UID (%s) does not match service account pod ref claim (%s)"},
		{"node", "nodes", "", "node UID (%s) does not match service account node ref claim (%s)"},
	} {
		ref := about.At(b.claim)
		if ref == nil || b.claim == "node" && about.Map("pod") != nil {
			continue
		}
		bound := objects.Get(b.storage, b.namespace, ref.String("name"))
		switch uid := ref.String("uid"); {
		case bound == nil:
			return errInvalidated
		case bound.UID() != uid:
			return fmt.Errorf(b.text, bound.UID(), uid)
		case deletedBefore(bound, deleted):
			return errInvalidated
		}
	}
	return nil
}

// deletedBefore reports whether the deletionTimestamp of an object is before t.
func deletedBefore(obj object.Object, t string) bool {
	at := obj.DeletionTimestamp()
	return at != "" && at < t
}

// holder returns the user that a bound token identifies.
func holder(claims, about object.Object) *Holder {
	h := account(about.String("namespace"), about.String("serviceaccount", "name"), about.String("serviceaccount", "uid"))
	h.Extra = map[string][]string{}
	if id := claims.String("jti"); id != "" {
		h.Extra[extraKey+"credential-id"] = []string{"JTI=" + id}
	}
	for _, claim := range []string{"pod", "node"} {
		ref := about.At(claim)
		if name := ref.String("name"); name != "" {
			h.Extra[extraKey+claim+"-name"] = []string{name}
		}
		if uid := ref.String("uid"); uid != "" {
			h.Extra[extraKey+claim+"-uid"] = []string{uid}
		}
	}
	return h
}

// account returns the user of a service account.
func account(namespace, name, uid string) *Holder {
	return &Holder{Name: "system:serviceaccount:" + namespace + ":" + name, UID: uid,
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace}}
}
