// Package certificates defines CertificateSigningRequest, PodCertificateRequest and ClusterTrustBundle.
package certificates

import (
	"maps"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Kinds returns the kinds of certificates.k8s.io.
func Kinds() []kind.Kind {
	return []kind.Kind{{
		Storage: "certificatesigningrequests.certificates.k8s.io",
		Strategy: resource.Strategy{
			Checks: resource.Checks{
				Update:       []resource.Check{resource.CheckMeta, resource.CheckMetaUpdate, resource.CheckKind},
				Subresources: map[string][]resource.Check{"approval": {resource.CheckMeta, resource.CheckMetaUpdate, resource.CheckKind}, "status": {resource.CheckMeta, resource.CheckMetaUpdate, resource.CheckKind}},
			},
			ResetFields: map[string][]string{
				"":         {"spec", "status"},
				"approval": {"spec", "status.certificate"},
				"status":   {"spec", "status.conditions"},
			},
			HasStatus:        true,
			NameRule:         func(string, bool) []string { return nil },
			PrepareForCreate: prepareCSR,
			PrepareForUpdate: prepareCSRUpdate,
		},
		Validate: validateCSR,
		Select:   []string{"spec.signerName"},
		Columns: []table.Column{
			table.Name(), table.Age(), table.Text("SignerName", csrSignerDoc).AtOr(table.None, "spec", "signerName"),
			table.Text("Requestor", csrRequestDoc).At("spec", "username"), table.Text("RequestedDuration", csrExpirationDoc).Cell(cellCSRDuration),
			table.Text("Condition", csrConditionsDoc).Cell(cellCSRStatus),
		},
	}, trustBundleKind(), podCertificateKind()}
}

func cellCSRDuration(obj object.Object) any {
	if n, ok := obj.Int("spec", "expirationSeconds"); ok {
		return codec.HumanDuration(time.Duration(n) * time.Second)
	}
	return table.None
}

func cellCSRStatus(obj object.Object) any {
	has := func(condition string) bool { return obj.Condition(condition) != nil }
	text := "Pending"
	switch {
	case has("Denied"):
		text = "Denied"
	case has("Approved"):
		text = "Approved"
	}
	if has("Failed") {
		text += ",Failed"
	}
	if obj.String("status", "certificate") != "" {
		text += ",Issued"
	}
	return text
}

// prepareCSR records the requesting user in the spec of a new CertificateSigningRequest.
func prepareCSR(ctx *resource.Context, obj object.Object) {
	spec := kind.ObjectAt(obj, "spec")
	for _, name := range []string{"username", "uid", "groups", "extra"} {
		delete(spec, name)
	}
	maps.Copy(spec, ctx.User.Info())
}

// prepareCSRUpdate restricts each endpoint to the fields that it may change: the main endpoint cannot change the spec, status
// cannot change approvals and denials, and approval changes only the conditions.
func prepareCSRUpdate(ctx *resource.Context, obj, old object.Object) {
	switch ctx.Subresource {
	case "":
		kind.KeepOld(obj, old, "spec")
	case "status":
		keepCSRConditions(obj, old, "Approved")
		keepCSRConditions(obj, old, "Denied")
		stampCSRConditions(ctx, obj, old)
	case "approval":
		stampCSRConditions(ctx, obj, old)
		asked := obj.Copy()
		kind.KeepOld(obj, old, "spec", "status")
		kind.KeepAt(obj, asked, "status", "conditions")
	}
}

// csrConditions returns the indices of all conditions of a type.
func csrConditions(obj object.Object, kind string) []int {
	var out []int
	for i, c := range obj.Objects("status", "conditions") {
		if c.String("type") == kind {
			out = append(out, i)
		}
	}
	return out
}

// keepCSRConditions restores the old conditions of a type, unless their number has changed.
func keepCSRConditions(obj, old object.Object, kind string) {
	now, before := csrConditions(obj, kind), csrConditions(old, kind)
	if len(now) != len(before) {
		return
	}
	for i := range now {
		obj.List("status", "conditions")[now[i]] = object.Copy(old.List("status", "conditions")[before[i]])
	}
}

// stampCSRConditions sets the missing times of conditions to those of the old conditions, or to now.
func stampCSRConditions(ctx *resource.Context, obj, old object.Object) {
	now := object.Time(ctx.Now)
	for _, c := range obj.Objects("status", "conditions") {
		kind.SetEmpty(c, now, "lastUpdateTime")
		if c.String("lastTransitionTime") != "" {
			continue
		}
		at := now
		for _, before := range old.Objects("status", "conditions") {
			if before.String("type") == c.String("type") && before.String("status") == c.String("status") && before.String("lastTransitionTime") != "" {
				at = before.String("lastTransitionTime")
				break
			}
		}
		c["lastTransitionTime"] = at
	}
}
