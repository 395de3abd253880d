package certificates

import (
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// podCertificateKind returns the kind PodCertificateRequest, which is served by default since 1.37 (KEP-4317).
func podCertificateKind() kind.Kind {
	doc := func(name, field string) table.Column {
		return table.Doc(name, docCertificates+"PodCertificateRequestSpec", field).At("spec", field)
	}
	return kind.Kind{
		Storage:  "podcertificaterequests.certificates.k8s.io",
		Gate:     "PodCertificateRequest",
		Strategy: resource.Strategy{HasStatus: true, StatusKeeps: resource.KeptForStatus, DenyUnconditionalUpdate: true},
		Defaults: kind.EveryVersion(func(obj object.Object) {
			const day = 86400
			obj.SetDefault(int64(day), "spec", "maxExpirationSeconds")
		}),
		Validate: validatePodCertificate,
		ValidateStatus: func(ctx *resource.Context, at field.Cursor) {
			found := len(at.Errors())
			validatePodCertificateStatus(ctx, at)
			if len(at.Errors()) == found {
				authorizeSigner(ctx, at)
			}
		},
		Select: []string{"spec.signerName", "spec.podName", "spec.nodeName"},
		Columns: []table.Column{table.Name(), doc("PodName", "podName"), doc("ServiceAccountName", "serviceAccountName"), doc("NodeName", "nodeName"),
			doc("SignerName", "signerName"), table.Text("State", "Is the request Pending, Issued, Denied, or Failed?").Cell(cellPodCertificate),
			doc("UnverifiedUserAnnotations", "unverifiedUserAnnotations").Labels("spec", "unverifiedUserAnnotations")},
	}
}

func cellPodCertificate(obj object.Object) any {
	state := "Pending"
	for _, c := range obj.Objects("status", "conditions") {
		if t := c.String("type"); t == "Issued" || t == "Denied" || t == "Failed" {
			state = t
		}
	}
	return state
}

// Maximum sizes in bytes, and limits for the times of a certificate.
const (
	maxPodUID      = 128
	maxKeyData     = 10 << 10 // of a certificate request, a key, or a proof of possession
	maxChain       = 100 << 10
	shortestLife   = time.Hour
	clockTolerance = 5 * time.Minute
	refreshMargin  = 10 * time.Minute
)

// validatePodCertificate checks a new request (certificates/validation.ValidatePodCertificateRequestCreate).
func validatePodCertificate(ctx *resource.Context, at field.Cursor) {
	spec := at.Child("spec")
	if at.Updates() {
		kind.ImmutableStruct(spec, gotext.PodCertificateRequestSpec.In(ctx.Server.Minor))
		return
	}
	kind.CheckSignerName(spec.Child("signerName"))
	if annotations := spec.Child("unverifiedUserAnnotations"); annotations.Has() {
		podspec.CheckUserAnnotations(annotations)
	}
	for _, name := range []string{"pod", "serviceAccount", "node"} {
		spec.Child(name + "Name").OrEmpty().Check(field.DNS1123Subdomain)
		uid := spec.Child(name + "UID").OrEmpty()
		uid.InvalidIf(uid.String() == "", "must not be empty").MaxBytes(maxPodUID)
	}
	seconds, most := spec.Child("maxExpirationSeconds"), kind.CertificateSecondsMax(spec.String("signerName"))
	seconds.InvalidIf(seconds.Int64() < kind.CertificateSecondsMin || seconds.Int64() > most,
		fmt.Sprintf("must be in the range [%d, %d]", kind.CertificateSecondsMin, most))
	validateRequestedKey(spec)
}

// validateRequestedKey checks the key to certify. It is given as a certificate request, or as a key with a proof of possession.
func validateRequestedKey(spec field.Cursor) {
	stub, key, proof := spec.Child("stubPKCS10Request"), spec.Child("pkixPublicKey"), spec.Child("proofOfPossession")
	switch {
	case stub.String() != "" && key.String() == "" && proof.String() == "":
		if tooMany(stub, maxKeyData) {
			return
		}
		if shown, problem := checkStubRequest(kind.Decoded(stub.Value())); problem != "" {
			stub.Invalid(shown, problem)
		}
	case stub.String() == "" && key.String() != "" && proof.String() != "":
		if tooMany(key, maxKeyData) || tooMany(proof, maxKeyData) {
			return
		}
		shown, problem, signed := checkPossession(kind.Decoded(key.Value()), kind.Decoded(proof.Value()), []byte(spec.String("podUID")))
		switch {
		case problem == "" && !signed:
			proof.Invalid(field.Omit, "could not verify proof-of-possession signature")
		case problem != "" && shown == nil:
			key.Invalid(key.Value(), problem)
		case problem != "":
			key.Invalid(shown, problem)
		}
	default:
		spec.Invalid(field.Omit, "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set")
	}
}

func tooMany(at field.Cursor, limit int) bool {
	if len(kind.Decoded(at.Value())) <= limit {
		return false
	}
	at.TooLong(limit)
	return true
}

var podCertificateEnds = []string{"Issued", "Denied", "Failed"}

// endOf returns the condition that ended a request, or "" if the request has not ended.
func endOf(request object.Object) string {
	for _, c := range request.Objects("status", "conditions") {
		if slices.Contains(podCertificateEnds, c.String("type")) && c.String("status") == "True" {
			return c.String("type")
		}
	}
	return ""
}

// validatePodCertificateStatus checks an update of the status
// (certificates/validation.ValidatePodCertificateRequestStatusUpdate). A request ends only once, as Issued, Denied or Failed.
// Only an issued request has status fields other than conditions.
func validatePodCertificateStatus(ctx *resource.Context, at field.Cursor) {
	found, status := len(at.Errors()), at.Child("status")
	checkEnds(status.Child("conditions"))
	kind.CheckConditions(ctx, status.Child("conditions"))
	if len(at.Errors()) > found {
		return
	}
	changed := !object.SemanticEqual(map[string]any(status.Object()), map[string]any(at.Old().At("status")))
	whole := status.With(field.Omit)
	switch end := endOf(at.Object()); {
	case endOf(at.Old()) != "":
		whole.InvalidIf(changed, "immutable after PodCertificateRequest is issued, denied, or failed")
	case end == "Denied" || end == "Failed":
		more := slices.ContainsFunc(object.SortedKeys(status.Object()), func(name string) bool { return name != "conditions" && status.Has(name) })
		whole.InvalidIf(more, "non-condition status fields must be empty when denying or failing the PodCertificateRequest")
	case end == "Issued":
		validateIssued(ctx, at)
	default:
		whole.InvalidIf(changed, `status is immutable unless transitioning to "Issued", "Denied", or "Failed"`)
	}
}

// checkEnds checks the conditions of a request. There may be at most one, of type Issued, Denied or Failed.
func checkEnds(conditions field.Cursor) {
	known := 0
	for i := range conditions.List() {
		c, shown := conditions.Index(i), conditions.Child(fmt.Sprintf("[%d]", i)) // the real server's path
		name := c.Child("type").ReportAt(shown.Child("type")).OrEmpty()
		if !slices.Contains(podCertificateEnds, name.String()) {
			name.OneOf("Issued", "Denied", "Failed")
			continue
		}
		if known++; known > 1 {
			name.Invalid(name.Value(), `There may be at most one condition with type "Issued", "Denied", or "Failed"`)
		}
		c.Child("status").ReportAt(shown.Child("status")).OrEmpty().OneOf("True")
	}
}

// validateIssued checks the certificate chain, and that the times in the status are those of its first certificate.
func validateIssued(ctx *resource.Context, at field.Cursor) {
	chain := at.Child("status", "certificateChain").OrEmpty()
	if len(chain.String()) > maxChain {
		chain.TooLong(maxChain)
		return
	}
	block, rest := pem.Decode([]byte(chain.String()))
	switch {
	case block == nil:
		chain.Invalid(chain.Value(), "issued certificate chain must contain at least one certificate")
		return
	case block.Type != "CERTIFICATE":
		chain.Invalid(chain.Value(), "issued certificate chain must consist entirely of CERTIFICATE PEM blocks")
		return
	}
	leaf, ok := readLeaf(block.Bytes)
	if !ok {
		chain.Invalid(chain.Value(), "leaf certificate does not parse as valid X.509")
		return
	}
	found := len(at.Errors())
	leaf.checkNames(chain)
	if request := at.Old().At("spec"); !leaf.isFor(kind.Decoded(request["stubPKCS10Request"]), kind.Decoded(request["pkixPublicKey"])) {
		chain.Invalid(chain.Value(), "leaf certificate was not issued to the requested public key")
		return
	}
	validateTimes(ctx, at, leaf, chain)
	for len(at.Errors()) == found {
		if block, rest = pem.Decode(rest); block == nil {
			return
		}
		if block.Type != "CERTIFICATE" {
			chain.Invalid(chain.Value(), "issued certificate chain must consist entirely of CERTFICATE PEM blocks")
		} else if _, ok := readLeaf(block.Bytes); !ok {
			chain.Invalid(chain.Value(), "intermediate certificate does not parse as valid X.509")
		}
	}
}

// validateTimes checks that all times in the status are set. If they are, it checks them one after another until one is invalid.
func validateTimes(ctx *resource.Context, at field.Cursor, leaf leaf, chain field.Cursor) {
	before, found := at.Child("status"), len(at.Errors())
	begin, end, refresh := before.Child("notBefore"), before.Child("notAfter"), before.Child("beginRefreshAt")
	begin.RequireIf(!begin.Has(), "must be present and consistent with the issued certificate")
	end.RequireIf(!end.Has(), "must be present and consistent with the issued certificate")
	refresh.RequireIf(!refresh.Has(), "must be present and in the range [notbefore+10min, notafter-10min]")
	if len(at.Errors()) > found || !leaf.known {
		return
	}
	from, to, again := timeOf(begin), timeOf(end), timeOf(refresh)
	life, most := leaf.notAfter.Sub(leaf.notBefore), at.Int64("spec", "maxExpirationSeconds")
	for _, rule := range []struct {
		broken bool
		at     field.Cursor
		shown  any
		detail string
	}{
		{!from.Equal(leaf.notBefore), begin, begin.Value(), "must be set to the NotBefore time encoded in the leaf certificate"},
		{from.Sub(ctx.Now).Abs() > clockTolerance, begin, begin.Value(), "must be set to within 5 minutes of kube-apiserver's current time"},
		{!to.Equal(leaf.notAfter), end, end.Value(), "must be set to the NotAfter time encoded in the leaf certificate"},
		{life < shortestLife, chain, int64(life), "leaf certificate lifetime must be >= 1 hour"},
		{life > time.Duration(most)*time.Second, chain, int64(life), fmt.Sprintf("leaf certificate lifetime must be <= spec.maxExpirationSeconds (%d)", most)},
		{again.Before(from.Add(refreshMargin)), refresh, refresh.Value(), "must be at least 10 minutes after status.notBefore"},
		{again.After(to.Add(-refreshMargin)), refresh, refresh.Value(), "must be at least 10 minutes before status.notAfter"},
	} {
		if rule.broken {
			rule.at.Invalid(rule.shown, rule.detail)
			return
		}
	}
}

func timeOf(at field.Cursor) time.Time {
	t, _ := time.Parse(time.RFC3339, at.String())
	return t
}

// authorizeSigner checks that a change of the status is authorized: it requires the permission to sign for the signer, or
// for all signers of its domain (certificates/authorization.IsAuthorizedForSignerName).
func authorizeSigner(ctx *resource.Context, at field.Cursor) {
	status, was := at.Child("status").Object(), at.Old().At("status")
	if ctx.May == nil || object.SemanticEqual(map[string]any(status), map[string]any(was)) {
		return
	}
	signer := at.Old().String("spec", "signerName")
	domain, _, _ := strings.Cut(signer, "/")
	for _, name := range []string{signer, domain + "/*"} {
		if ctx.May(resource.Access{Verb: "sign", Resource: "signers", Name: name}) == nil {
			return
		}
	}
	at.Child("spec", "signerName").Forbidden(fmt.Sprintf("User %q is not permitted to \"sign\" for signer %q", ctx.User.Name, signer))
}
