package builtin

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// TokenUser returns whose token a text is that the Cluster of the seed signed, and for which audiences. ok is false for
// anything else: a bad signature, a token out of its time, a service account or a bound pod that no longer exists
// (Kubernetes documentation, "Bound service account tokens").
func TokenUser(seed uint64, token string, now time.Time, objects resource.Reader) (user resource.User, audiences []string, ok bool) {
	claims := readToken(seed, token)
	if claims == nil {
		return user, nil, false
	}
	from, _ := claims.Int("nbf")
	until, _ := claims.Int("exp")
	if now.Unix() < from || now.Unix() >= until {
		return user, nil, false
	}
	about := object.Object(claims.Map("kubernetes.io"))
	namespace, name := about.String("namespace"), about.String("serviceaccount", "name")
	user = resource.User{Name: "system:serviceaccount:" + namespace + ":" + name, UID: about.String("serviceaccount", "uid"),
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace}, Extra: map[string][]string{}}
	if !exists(objects, "serviceaccounts", namespace, name, user.UID) {
		return user, nil, false
	}
	if id := claims.String("jti"); id != "" {
		user.Extra["authentication.kubernetes.io/credential-id"] = []string{"JTI=" + id}
	}
	if pod := about.String("pod", "name"); pod != "" {
		uid := about.String("pod", "uid")
		user.Extra["authentication.kubernetes.io/pod-name"] = []string{pod}
		user.Extra["authentication.kubernetes.io/pod-uid"] = []string{uid}
		if !exists(objects, "pods", namespace, pod, uid) {
			return user, nil, false
		}
	}
	return user, object.Strings(claims.List("aud")), true
}

func exists(objects resource.Reader, storage, namespace, name, uid string) bool {
	obj := objects.Get(storage, namespace, name)
	return obj != nil && obj.UID() == uid
}

// readToken returns the claims of a token whose signature is good, or nil.
func readToken(seed uint64, token string) object.Object {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || len(signature) != 64 {
		return nil
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if !tokenKeyOf(seed).verify(sum, [64]byte(signature)) {
		return nil
	}
	data, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return nil
	}
	claims, err := object.Parse(data)
	if err != nil {
		return nil
	}
	return claims
}
