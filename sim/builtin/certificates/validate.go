package certificates

import (
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// keyUsages are the usages a certificate can be requested for (RFC 5280 §4.2.1.3 and §4.2.1.12), in order.
var keyUsages = []string{
	"any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment", "decipher only",
	"digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel", "ipsec user", "key agreement",
	"key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime", "server auth", "signing", "timestamping",
}

const (
	legacySigner = "kubernetes.io/legacy-unknown"

	// signerNameMax is room for a domain, a path of a DNS label and a DNS subdomain, and what separates them.
	signerNameMax = 2*field.DNSSubdomainMax + field.DNSLabelMax + 2
)

// validateCSR checks a request; rules that the stored object breaks already are let pass.
func validateCSR(obj, old object.Object) field.ErrorList {
	spec, p := obj.At("spec"), field.Root("spec")
	var errs field.ErrorList
	if err := checkCSR(spec.String("request")); err != nil {
		errs = append(errs, field.Invalid(p.Child("request"), kind.Pointer(spec, "request"), err.Error()))
	}
	errs = append(errs, validateCSRUsages(p.Child("usages"), spec.Strings("usages"), old.Strings("spec", "usages"))...)
	signer := spec.String("signerName")
	if signer == legacySigner && old.String("spec", "signerName") != legacySigner {
		errs = append(errs, field.Invalid(p.Child("signerName"), signer, "the legacy signerName is not allowed via this API version"))
	} else {
		errs = append(errs, validateSignerName(p.Child("signerName"), signer)...)
	}
	if n, ok := spec.Int("expirationSeconds"); ok && n < 600 {
		errs = append(errs, field.Invalid(p.Child("expirationSeconds"), n, "may not specify a duration less than 600 seconds (10 minutes)"))
	}
	errs = append(errs, validateCSRConditions(obj, old)...)
	certificate := obj.String("status", "certificate")
	before := old.String("status", "certificate")
	if old == nil || certificate != before && checkCertificate(before) == nil {
		if err := checkCertificate(certificate); err != nil {
			errs = append(errs, field.Invalid(field.Root("status").Child("certificate"), "<certificate data>", err.Error()))
		}
	}
	return errs
}

func validateCSRUsages(p field.Path, usages, old []string) field.ErrorList {
	var errs field.ErrorList
	if len(usages) == 0 {
		errs = append(errs, field.Required(p, ""))
	}
	unknown := func(usage string) bool { return !slices.Contains(keyUsages, usage) }
	if !slices.ContainsFunc(old, unknown) {
		for i, usage := range usages {
			errs = append(errs, field.MustBeOneOf(p.Index(i), usage, keyUsages...)...)
		}
	}
	if len(kind.SortedSet(old)) == len(old) {
		for i, usage := range usages {
			if slices.Contains(usages[:i], usage) {
				errs = append(errs, field.Duplicate(p.Index(i), usage))
			}
		}
	}
	return errs
}

// validateSignerName checks the name of a signer: a domain and a path, such as example.com/my-signer.
func validateSignerName(p field.Path, name string) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(p, "")}
	}
	domain, path, ok := strings.Cut(name, "/")
	if !ok || strings.Contains(path, "/") {
		return field.ErrorList{field.Invalid(p, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")}
	}
	var errs field.ErrorList
	if len(domain) > field.DNSSubdomainMax {
		errs = append(errs, field.TooLong(p, field.DNSSubdomainMax))
	}
	errs = append(errs, validateLabelsOf(p, domain, field.DNS1123Label)...)
	if !strings.Contains(domain, ".") {
		errs = append(errs, field.Invalid(p, domain, "should be a domain with at least two segments separated by dots"))
	}
	errs = append(errs, validateLabelsOf(p, path, field.DNS1123Subdomain)...)
	if len(name) > signerNameMax {
		errs = append(errs, field.TooLong(p, signerNameMax))
	}
	return errs
}

// validateLabelsOf checks the labels between the dots of text up to the first that breaks the rule.
func validateLabelsOf(p field.Path, text string, rule func(string) []string) field.ErrorList {
	for label := range strings.SplitSeq(text, ".") {
		if msgs := rule(label); len(msgs) > 0 {
			var errs field.ErrorList
			for _, m := range msgs {
				errs = append(errs, field.Invalid(p, text, fmt.Sprintf("validating label %q: %s", label, m)))
			}
			return errs
		}
	}
	return nil
}

// checkCSR checks a PKCS #10 request in PEM (RFC 2986, RFC 7468 §7).
func checkCSR(request string) error {
	data, _ := base64.StdEncoding.DecodeString(request)
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	return checkRequestBytes(block.Bytes)
}

// checkCertificate checks a chain of certificates in PEM; an empty one is valid.
func checkCertificate(certificate string) error {
	data, _ := base64.StdEncoding.DecodeString(certificate)
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

// validateCSRConditions checks the conditions of a request. A request is approved or denied for good.
func validateCSRConditions(obj, old object.Object) field.ErrorList {
	p, before := field.Root("status").Child("conditions"), old.Objects("status", "conditions")
	var was []string
	for _, c := range before {
		was = append(was, c.String("type"))
	}
	bothAllowed := slices.Contains(was, "Approved") && slices.Contains(was, "Denied")
	twiceAllowed := len(kind.SortedSet(was)) < len(was)
	var errs field.ErrorList
	var seen []string
	for i, c := range obj.Objects("status", "conditions") {
		at, name := p.Index(i), c.String("type")
		if !slices.Contains(was, "") {
			errs = append(errs, field.MustBeSet(at.Child("type"), name)...)
		}
		allowed := []string{"False", "True", "Unknown"}
		if slices.Contains([]string{"Approved", "Denied", "Failed"}, name) {
			allowed = []string{"True"}
		}
		errs = append(errs, field.MustBeSetToOneOf(at.Child("status"), c.String("status"), allowed...)...)
		opposite := map[string]string{"Approved": "Denied", "Denied": "Approved"}[name]
		if opposite != "" && !bothAllowed && slices.Contains(seen, opposite) {
			errs = append(errs, field.Invalid(p, field.Enum(name), "Approved and Denied conditions are mutually exclusive"))
		}
		if !twiceAllowed && slices.Contains(seen, name) {
			errs = append(errs, field.Duplicate(at.Child("type"), name))
		}
		seen = append(seen, name)
	}
	return errs
}

// validateCSRUpdate checks a changed request: only the approval subresource approves and denies, only the status
// subresource issues the certificate, once.
func validateCSRUpdate(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	errs := validateCSR(obj, old)
	p := field.Root("status")
	for _, name := range []string{"Approved", "Denied", "Failed"} {
		if len(csrConditions(obj, name)) < len(csrConditions(old, name)) {
			errs = append(errs, field.Forbidden(p.Child("conditions"), fmt.Sprintf("updates may not remove a condition of type %q", name)))
		}
	}
	if ctx.Subresource != "approval" {
		for _, name := range []string{"Approved", "Denied"} {
			if len(csrConditions(obj, name)) > len(csrConditions(old, name)) {
				errs = append(errs, field.Forbidden(p.Child("conditions"), fmt.Sprintf("updates may not add a condition of type %q", name)))
			}
		}
	}
	before := old.String("status", "certificate")
	if obj.String("status", "certificate") == before {
		return errs
	}
	if ctx.Subresource != "status" {
		errs = append(errs, field.Forbidden(p.Child("certificate"), "updates may not set certificate content"))
	} else if before != "" {
		errs = append(errs, field.Forbidden(p.Child("certificate"), "updates may not modify existing certificate content"))
	}
	return errs
}
