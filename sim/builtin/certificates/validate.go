package certificates

import (
	"encoding/pem"
	"errors"
	"fmt"
	"slices"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// keyUsages are the usages for which a certificate can be requested (RFC 5280 §4.2.1.3 and §4.2.1.12), sorted.
var keyUsages = []string{
	"any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment", "decipher only",
	"digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel", "ipsec user", "key agreement",
	"key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime", "server auth", "signing", "timestamping",
}

const legacySigner = "kubernetes.io/legacy-unknown"

// validateCSR checks a request. It does not apply rules that the stored object already breaks.
func validateCSR(ctx *resource.Context, at field.Cursor) {
	old := at.Old()
	request, signer, certificate := at.Child("spec", "request"), at.Child("spec", "signerName"), at.Child("status", "certificate")
	request.AsEnum().CheckError(checkCSR(request.String()))
	validateCSRUsages(at.Child("spec", "usages"), old.Strings("spec", "usages"))
	if signer.String() == legacySigner && old.String("spec", "signerName") != legacySigner {
		signer.Invalid(legacySigner, "the legacy signerName is not allowed via this API version")
	} else {
		kind.CheckSignerName(signer)
	}
	at.Child("spec", "expirationSeconds").Min(600, "may not specify a duration less than 600 seconds (10 minutes)")
	validateCSRConditions(ctx, at.Child("status", "conditions"), old)
	before := old.String("status", "certificate")
	if old == nil || certificate.String() != before && checkCertificate(before) == nil {
		certificate.With("<certificate data>").CheckError(checkCertificate(certificate.String()))
	}
	if old != nil {
		validateCSRUpdate(ctx, at, old)
	}
}

func validateCSRUsages(at field.Cursor, old []string) {
	at.Required()
	if !slices.ContainsFunc(old, func(usage string) bool { return !slices.Contains(keyUsages, usage) }) {
		for usage := range at.Each() {
			usage.OneOf(keyUsages...)
		}
	}
	if len(kind.SortedSet(old)) == len(old) {
		at.UniqueItems()
	}
}

// requestBytes decodes a base64-encoded PEM block and returns the PKCS #10 request in it (RFC 2986, RFC 7468 §7).
func requestBytes(request string) ([]byte, error) {
	block, _ := pem.Decode(kind.Decoded(request))
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	return block.Bytes, nil
}

func checkCSR(request string) error {
	der, err := requestBytes(request)
	if err != nil {
		return err
	}
	return checkRequestBytes(der)
}

// Organizations returns the organizations in the subject of a request.
func Organizations(request string) ([]string, error) {
	der, err := requestBytes(request)
	if err != nil {
		return nil, err
	}
	return organizations(der)
}

// CommonName returns the common name in the subject of a request.
func CommonName(request string) (string, error) {
	der, err := requestBytes(request)
	if err != nil {
		return "", err
	}
	return commonName(der)
}

// checkCertificate checks a PEM certificate chain and returns an error if it is invalid. An empty chain is valid.
func checkCertificate(certificate string) error {
	data := kind.Decoded(certificate)
	if len(data) == 0 {
		return nil
	}
	for blocks := 0; ; blocks++ {
		block, rest := pem.Decode(data)
		switch {
		case block == nil && blocks == 0:
			return errors.New("must contain at least one CERTIFICATE PEM block")
		case block == nil:
			return nil
		case block.Type != "CERTIFICATE":
			return fmt.Errorf("only CERTIFICATE PEM blocks are allowed, found %q", block.Type)
		case len(block.Headers) != 0:
			return errors.New("no PEM block headers are permitted")
		}
		if err := checkCertificateBytes(block.Bytes); err != nil {
			return err
		}
		data = rest
	}
}

// excludes reports the error for a request that is both approved and denied.
func excludes(ctx *resource.Context, at field.Cursor, name string) {
	if !ctx.Since(37) {
		at.Invalid(field.Enum(name), "Approved and Denied conditions are mutually exclusive")
		return
	}
	at.Declared(true, func(c field.Cursor) field.Cursor {
		return c.Invalid(`{conditions[{"type": "Approved"}], conditions[{"type": "Denied"}]}`,
			"must specify at most one of: `conditions[{\"type\": \"Approved\"}]`, `conditions[{\"type\": \"Denied\"}]`")
	})
}

// validateCSRConditions checks the conditions of a request. An approval or a denial is final.
func validateCSRConditions(ctx *resource.Context, at field.Cursor, old object.Object) {
	was := kind.Texts(old.Objects("status", "conditions"), "type")
	bothAllowed := slices.Contains(was, "Approved") && slices.Contains(was, "Denied")
	twiceAllowed := len(kind.SortedSet(was)) < len(was)
	var seen []string
	for c := range at.Each() {
		name := c.String("type")
		if !slices.Contains(was, "") {
			c.Child("type").Required()
		}
		allowed := []string{"False", "True", "Unknown"}
		if slices.Contains([]string{"Approved", "Denied", "Failed"}, name) {
			allowed = []string{"True"}
		}
		c.Child("status").Required().OneOf(allowed...)
		opposite := map[string]string{"Approved": "Denied", "Denied": "Approved"}[name]
		if opposite != "" && !bothAllowed && slices.Contains(seen, opposite) {
			excludes(ctx, at, name)
		}
		if !twiceAllowed && slices.Contains(seen, name) {
			c.Child("type").Duplicate(name)
		}
		seen = append(seen, name)
	}
}

// validateCSRUpdate checks a changed request. Only the approval subresource may approve or deny, and only the status
// subresource may issue the certificate, once.
func validateCSRUpdate(ctx *resource.Context, at field.Cursor, old object.Object) {
	conditions, certificate := at.Child("status", "conditions"), at.Child("status", "certificate")
	more := func(name string) int { return len(csrConditions(at.Object(), name)) - len(csrConditions(old, name)) }
	for _, name := range []string{"Approved", "Denied", "Failed"} {
		conditions.ForbidIf(more(name) < 0, fmt.Sprintf("updates may not remove a condition of type %q", name))
	}
	if ctx.Subresource != "approval" {
		for _, name := range []string{"Approved", "Denied"} {
			conditions.ForbidIf(more(name) > 0, fmt.Sprintf("updates may not add a condition of type %q", name))
		}
	}
	before := old.String("status", "certificate")
	switch {
	case certificate.String() == before:
	case ctx.Subresource != "status":
		certificate.Forbidden("updates may not set certificate content")
	case before != "":
		certificate.Forbidden("updates may not modify existing certificate content")
	}
}
