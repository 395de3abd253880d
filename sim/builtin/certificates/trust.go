package certificates

import (
	"encoding/pem"
	"fmt"
	"slices"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

const docCertificates = "io.k8s.api.certificates.v1."

// maxTrustBundle is the maximum size of a bundle in bytes.
const maxTrustBundle = 1 << 20

// trustBundleKind returns the kind ClusterTrustBundle, which is served by default since 1.37 (KEP-3257).
func trustBundleKind() kind.Kind {
	return kind.Kind{
		Storage: "clustertrustbundles.certificates.k8s.io", Gate: "ClusterTrustBundle",
		Strategy: resource.Strategy{
			Checks:                  resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckKind, resource.CheckMetaUpdate}},
			DenyUnconditionalUpdate: true, NameRuleOf: trustBundleName,
		},
		Validate: func(_ *resource.Context, at field.Cursor) {
			signer, bundle := at.Child("spec", "signerName"), at.Child("spec", "trustBundle")
			if signer.String() != "" {
				kind.CheckSignerName(signer)
			}
			if !bundle.Updates() || bundle.Changed() {
				validateTrustBundle(bundle)
			}
			signer.OrEmpty().InvalidIf(signer.OrEmpty().Changed(), field.TextImmutable)
		},
		Select: []string{"spec.signerName"},
		Columns: []table.Column{table.Name(),
			table.Doc("SignerName", docCertificates+"ClusterTrustBundleSpec", "signerName").AtOr(table.None, "spec", "signerName")},
	}
}

// trustBundleName returns the rule for the name of a ClusterTrustBundle, which depends on its signer.
func trustBundleName(_ *resource.Context, obj object.Object) func(string, bool) []string {
	return kind.TrustBundleName(obj.String("spec", "signerName"))
}

// validateTrustBundle checks that a bundle consists of PEM blocks with distinct CA certificates.
func validateTrustBundle(at field.Cursor) {
	if len(at.String()) > maxTrustBundle {
		at.TooLong(maxTrustBundle)
		return
	}
	found := len(at.Errors())
	var blocks []string
	indices := map[string][]int{}
	i := 0
	for block, rest := pem.Decode([]byte(at.String())); block != nil; block, rest = pem.Decode(rest) {
		switch problem := checkAuthority(block.Bytes); {
		case block.Type != "CERTIFICATE":
			at.Invalid("<value omitted>", fmt.Sprintf("entry %d has bad block type: %s", i, block.Type))
		case len(block.Headers) > 0:
			at.Invalid("<value omitted>", fmt.Sprintf("entry %d has PEM block headers", i))
		case problem != "":
			at.Invalid("<value omitted>", fmt.Sprintf("entry %d %s", i, problem))
		default:
			blocks = append(blocks, string(block.Bytes))
			indices[string(block.Bytes)] = append(indices[string(block.Bytes)], i)
		}
		i++
	}
	if len(at.Errors()) > found {
		return
	}
	at.With("<value omitted>").InvalidIf(len(blocks) == 0, "at least one trust anchor must be provided")
	for i, block := range blocks {
		if twice := indices[block]; len(twice) > 1 && slices.Index(blocks, block) == i {
			at.Invalid("<value omitted>", fmt.Sprintf("duplicate trust anchor (indices %v)", twice))
		}
	}
}
