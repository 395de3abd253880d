package authentication

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	tokenDefault = 60 * 60 // default of expirationSeconds
	tokenMin     = 10 * 60
	tokenMax     = 1 << 32

	// A token that the kubelet requests for a pod expires after a year and causes warnings after the requested time, so that
	// a client that does not reload it continues to work (KEP-1205).
	tokenWarnOnly = 60*60 + 7
	tokenExtended = 365 * 24 * 60 * 60
)

// DefaultTokenRequest sets the defaults of a TokenRequest.
func DefaultTokenRequest(request object.Object) {
	request.SetDefault(int64(tokenDefault), "spec", "expirationSeconds")
}

var tokenRequestKind = status.Resource{Group: "authentication.k8s.io", Resource: "TokenRequest"}

// IssueToken handles a TokenRequest for a service account, which is sent to the subresource token (KEP-1205).
func IssueToken(c *resource.Connection) (object.Object, *status.Status) {
	request := c.Body
	if name := request.Name(); name != "" && name != c.Name {
		return nil, status.Invalid(tokenRequestKind, c.Name, field.ErrorList{
			field.Invalid(field.Root("metadata.name"), name, "must match the service account name if specified")})
	}
	account := c.Get("serviceaccounts", c.Namespace, c.Name)
	if account == nil {
		return nil, status.NotFound(status.Resource{Resource: "serviceaccounts"}, c.Name)
	}
	if uid := request.UID(); uid != "" && uid != account.UID() {
		return nil, status.Conflict(tokenRequestKind, c.Name, fmt.Sprintf(
			"the UID in the token request (%s) does not match the UID of the service account (%s)", uid, account.UID()))
	}
	completeTokenRequest(c, account)
	asked := field.CursorAt(request, nil, "spec", "expirationSeconds").OrZero()
	asked.Min(tokenMin, "may not specify a duration less than 10 minutes").Max(tokenMax, "may not specify a duration larger than 2^32 seconds")
	if errs := asked.Errors(); len(errs) > 0 {
		return nil, status.Invalid(tokenRequestKind, "", errs)
	}
	if s := c.Admit(); s != nil {
		return nil, s
	}
	bound, s := boundObjects(c)
	if s != nil {
		return nil, s
	}
	seconds := request.Int64("spec", "expirationSeconds")
	if most := c.Tokens.MaxSeconds(); most > 0 && seconds > most {
		c.Warn(fmt.Sprintf("requested expiration of %d seconds shortened to %d seconds", seconds, most))
		seconds = most
		request.Set(seconds, "spec", "expirationSeconds")
	}
	claims := tokenClaims(c, account, bound)
	c.Annotate("authentication.kubernetes.io/issued-credential-id", "JTI="+claims["jti"].(string))
	signed, err := issue(c, claims)
	if err != nil {
		return nil, status.Internal(fmt.Errorf("failed to generate token: %w", err))
	}
	request["status"] = map[string]any{
		"token":               signed,
		"expirationTimestamp": object.Time(c.Now.Add(time.Duration(seconds) * time.Second)),
	}
	return request, nil
}

// issue returns a token with the claims.
func issue(c *resource.Connection, claims map[string]any) (string, error) {
	if c.Asker == nil {
		return c.Tokens.Issue(context.Background(), claims, func(f func()) { f() })
	}
	return c.Tokens.Issue(c.Asker.Context(), claims, c.Asker.Unlocked)
}

// completeTokenRequest sets the fields that the server determines, and the default audiences.
func completeTokenRequest(c *resource.Connection, account object.Object) {
	request := c.Body
	if len(request.List("spec", "audiences")) == 0 {
		request.Set(object.FromStrings(c.Tokens.Audiences()), "spec", "audiences")
	}
	request.Set(account.Name(), "metadata", "name")
	request.Set(account.Namespace(), "metadata", "namespace")
	request.Set(account.UID(), "metadata", "uid")
	request.Set(object.Time(c.Now), "metadata", "creationTimestamp")
	delete(request, "status")
}

// tokenBinding is the object that a token is bound to. The token becomes invalid when that object is deleted.
type tokenBinding struct {
	claim  string        // pod, node or secret, or "" if the token is not bound
	object object.Object // the bound object
	node   object.Object // the pod's node, if the object is a pod with a node
}

// boundObjects returns the object to which the request binds the token, with the node of a pod. It returns an error if the object
// does not exist or has another UID.
func boundObjects(c *resource.Connection) (b tokenBinding, s *status.Status) {
	ref := c.Body.At("spec", "boundObjectRef")
	if ref == nil {
		return b, nil
	}
	name := ref.String("name")
	version := ref.String("apiVersion")
	if strings.Count(version, "/") > 1 {
		version = "/" // an invalid version has no valid group
	}
	kind := schema.ParseGVK(version, ref.String("kind"))
	if kind.Group != "" || !slices.Contains([]string{"Pod", "Secret", "Node"}, kind.Kind) {
		return b, status.BadRequest("cannot bind token to object of type %s", kind)
	}
	b.claim = strings.ToLower(kind.Kind)
	storage, namespace := b.claim+"s", c.Namespace
	if kind.Kind == "Node" {
		namespace = ""
	}
	if s := status.NameParameter(name); s != nil {
		return b, s
	}
	if b.object = c.Get(storage, namespace, name); b.object == nil {
		return b, status.NotFound(status.Resource{Resource: storage}, name)
	}
	if b.claim == "pod" {
		if b.object.String("spec", "serviceAccountName") != c.Name {
			return b, status.BadRequest("cannot bind token for serviceaccount %q to pod running with different serviceaccount name.", c.Name)
		}
		b.node = nodeOfPod(c, b.object)
	}
	if uid := ref.String("uid"); uid != "" && uid != b.object.UID() {
		return b, status.Conflict(status.Resource{Group: kind.Group, Resource: kind.Kind}, name, fmt.Sprintf(
			"the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", uid))
	}
	return b, nil
}

// nodeOfPod returns the node of a pod. If the node does not exist, it returns an object with only its name; if the pod
// has no node, it returns nil.
func nodeOfPod(c *resource.Connection, pod object.Object) object.Object {
	name := pod.String("spec", "nodeName")
	if name == "" {
		return nil
	}
	if node := c.Get("nodes", "", name); node != nil {
		return node
	}
	return object.Object{"metadata": map[string]any{"name": name}}
}

// tokenClaims returns the claims of the token except its issuer: those of RFC 7519, and references to the account and the
// bound objects.
func tokenClaims(c *resource.Connection, account object.Object, bound tokenBinding) map[string]any {
	seconds := c.Body.Int64("spec", "expirationSeconds")
	audiences := c.Body.Strings("spec", "audiences")
	now := c.Now.Unix()
	private := map[string]any{"namespace": account.Namespace(), "serviceaccount": tokenReference(account)}
	if bound.claim != "" {
		private[bound.claim] = tokenReference(bound.object)
	}
	if bound.node != nil {
		private["node"] = tokenReference(bound.node)
	}
	own := !slices.ContainsFunc(audiences, func(a string) bool { return !slices.Contains(c.Tokens.Audiences(), a) })
	if bound.claim == "pod" && seconds == tokenWarnOnly && own && c.Tokens.Extends() {
		private["warnafter"] = now + seconds
		seconds = tokenExtended
	}
	return map[string]any{
		"sub": "system:serviceaccount:" + account.Namespace() + ":" + account.Name(), "aud": audiences,
		"iat": now, "nbf": now, "exp": now + seconds, "jti": c.UID(), "kubernetes.io": private,
	}
}

func tokenReference(obj object.Object) map[string]any {
	ref := map[string]any{"name": obj.Name()}
	if uid := obj.UID(); uid != "" {
		ref["uid"] = uid
	}
	return ref
}
