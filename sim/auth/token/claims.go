package token

import (
	"errors"
	"fmt"

	"github.com/kubesim/kubesim/sim/object"
)

var (
	errAudience = errors.New("go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience")
	errDate     = errors.New("go-jose/go-jose/jwt: expected number value to unmarshal NumericDate")
)

// Claims of tokens that are stored in Secrets.
const (
	legacyNamespace = "kubernetes.io/serviceaccount/namespace"
	legacySecret    = "kubernetes.io/serviceaccount/secret.name"
	legacyName      = "kubernetes.io/serviceaccount/service-account.name"
	legacyUID       = "kubernetes.io/serviceaccount/service-account.uid"
)

// checkClaims checks the types of claims. Its errors are those of decoding the claims into Go structs.
func checkClaims(claims object.Object, legacy bool) error {
	err := checkTexts(claims, "iss", "sub", "jti")
	if aud, given := claims["aud"]; err == nil && given {
		err = checkAudience(aud)
	}
	for _, name := range []string{"exp", "nbf", "iat"} {
		if _, ok := seconds(claims[name]); err == nil && !ok && claims[name] != nil {
			err = errDate
		}
	}
	if err != nil {
		return err
	}
	if legacy {
		return checkTexts(claims, legacyNamespace, legacySecret, legacyName, legacyUID)
	}
	about, err := structure(claims, "kubernetes.io", "serviceaccount.kubernetes")
	if err != nil {
		return err
	}
	if err := checkTexts(about, "namespace"); err != nil {
		return err
	}
	for _, name := range []string{"serviceaccount", "pod", "secret", "node"} {
		ref, err := structure(about, name, "serviceaccount.ref")
		if err == nil {
			err = checkTexts(ref, "name", "uid")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkTexts checks that each of the named members is either missing or a string.
func checkTexts(obj object.Object, names ...string) error {
	for _, name := range names {
		if _, text := obj[name].(string); !text && obj[name] != nil {
			return notOfType(obj[name], "string")
		}
	}
	return nil
}

// structure returns the object in the named member, or nil if that member is missing. goType is the type that errors name.
func structure(obj object.Object, name, goType string) (object.Object, error) {
	m, ok := obj[name].(map[string]any)
	if !ok && obj[name] != nil {
		return nil, notOfType(obj[name], goType)
	}
	return m, nil
}

// notOfType returns the error for a JSON value that does not fit a Go type.
func notOfType(v any, goType string) error {
	kind := "number"
	switch v.(type) {
	case string:
		kind = "string"
	case bool:
		kind = "bool"
	case []any:
		kind = "array"
	case map[string]any:
		kind = "object"
	}
	return fmt.Errorf("json: cannot unmarshal %s into Go value of type %s", kind, goType)
}

// checkAudience checks that the aud claim is a string or a list of strings.
func checkAudience(aud any) error {
	if _, one := aud.(string); one {
		return nil
	}
	several, ok := aud.([]any)
	if !ok || len(object.Strings(several)) != len(several) {
		return errAudience
	}
	return nil
}

// audiencesOf returns the audiences of a token.
func audiencesOf(claims object.Object) []string {
	if one, ok := claims["aud"].(string); ok {
		return []string{one}
	}
	return claims.Strings("aud")
}

// seconds decodes a time in a token, which is a number of seconds since 1970.
func seconds(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case float64:
		return int64(v), true
	}
	return 0, false
}
