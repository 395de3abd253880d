package admission

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/certificates"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// clientSigner is the signer of client certificates that the API server trusts.
const clientSigner = "kubernetes.io/kube-apiserver-client"

// Authorize reports whether a user may use a verb on a cluster-scoped object. The first argument is the author of the request.
type Authorize func(by resource.Author, user resource.User, verb, group, resourceName, name string, objects resource.Reader) bool

// certificateApproval requires the permission to approve requests for the signer of a signing request.
func certificateApproval(may Authorize) Step {
	return func(a *Attributes) *status.Status {
		if a.Definition.Storage != signingRequests || a.Subresource != "approval" || a.Operation != Update {
			return nil
		}
		if signer := a.Old.String("spec", "signerName"); !maySigner(a, may, "approve", signer) {
			return a.refuse("user not permitted to approve requests with signerName %q", signer)
		}
		return nil
	}
}

// certificateSigning requires the permission to sign for the signer when the certificate or the conditions of a signing
// request change.
func certificateSigning(may Authorize) Step {
	return func(a *Attributes) *status.Status {
		if a.Definition.Storage != signingRequests || a.Subresource != "status" || a.Operation != Update {
			return nil
		}
		if a.Object.String("status", "certificate") == a.Old.String("status", "certificate") &&
			object.SemanticEqual(a.Object.List("status", "conditions"), a.Old.List("status", "conditions")) {
			return nil
		}
		if signer := a.Old.String("spec", "signerName"); !maySigner(a, may, "sign", signer) {
			return a.refuse("user not permitted to sign requests with signerName %q", signer)
		}
		return nil
	}
}

// maySigner checks the permission for the signer itself, and then for all signers of its domain.
func maySigner(a *Attributes, may Authorize, verb, signer string) bool {
	domain, _, _ := strings.Cut(signer, "/")
	return may(a.By, a.User, verb, "certificates.k8s.io", "signers", signer, a.Objects) ||
		may(a.By, a.User, verb, "certificates.k8s.io", "signers", domain+"/*", a.Objects)
}

// attestBundle requires the permission to attest for the signer of a ClusterTrustBundle (the plugin ClusterTrustBundleAttest). Updates for
// the garbage collector, which change only owners and finalizers, do not need it.
func attestBundle(may Authorize) Step {
	return func(a *Attributes) *status.Status {
		signer := a.Object.String("spec", "signerName")
		if signer == "" || !a.Enabled("ClusterTrustBundle") || a.Operation == Update && changesOnlyOwners(a.Object, a.Old) {
			return nil
		}
		if !maySigner(a, may, "attest", signer) {
			return a.refuse("user not permitted to attest for signerName %q", signer)
		}
		return nil
	}
}

// changesOnlyOwners reports whether an update changes nothing but owners, finalizers and managed fields (IsOnlyMutatingGCFields).
func changesOnlyOwners(obj, old object.Object) bool {
	obj = obj.Copy()
	for _, name := range []string{"ownerReferences", "finalizers", "managedFields"} {
		if v, ok := old.Get("metadata", name); ok {
			obj.Set(v, "metadata", name)
		} else {
			obj.Remove("metadata", name)
		}
	}
	return object.SemanticEqual(map[string]any(obj), map[string]any(old))
}

// restrictSubject rejects requests for client certificates of the group system:masters.
func restrictSubject(a *Attributes) *status.Status {
	if a.Object.String("spec", "signerName") != clientSigner {
		return nil
	}
	groups, err := certificates.Organizations(a.Object.String("spec", "request"))
	switch {
	case err != nil:
		return a.refuse("failed to parse CSR: %s", err)
	case slices.Contains(groups, "system:masters"):
		return a.refuse("use of %s signer with system:masters group is not allowed", clientSigner)
	}
	return nil
}
