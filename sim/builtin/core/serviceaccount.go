package core

import (
	"github.com/kubesim/kubesim/sim/builtin/authentication"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

func serviceAccountKind() kind.Kind {
	return kind.Kind{
		Storage: "serviceaccounts",
		Strategy: resource.Strategy{
			Checks:              resource.Checks{Update: []resource.Check{resource.CheckMetaUpdate, resource.CheckMeta, resource.CheckKind}},
			ReturnDeletedObject: true,
			PrepareForCreate:    func(_ *resource.Context, obj object.Object) { cleanSecretReferences(obj) },
			PrepareForUpdate:    func(_ *resource.Context, obj, _ object.Object) { cleanSecretReferences(obj) },
			Warn:                warnServiceAccount,
		},
		Connect: map[string]resource.Connector{"token": authentication.IssueToken},
		Bodies:  map[string]func(object.Object){"token": authentication.DefaultTokenRequest},
		Columns: []table.Column{table.Name(), table.Age()},
	}
}

// cleanSecretReferences reduces the secret references of a service account to their names.
func cleanSecretReferences(obj object.Object) {
	secrets := obj.List("secrets")
	for i, ref := range obj.Objects("secrets") {
		secrets[i] = map[string]any{}
		if name := ref.String("name"); name != "" {
			secrets[i] = map[string]any{"name": name}
		}
	}
}

func warnServiceAccount(ctx *resource.Context, obj, old object.Object) {
	const key = "kubernetes.io/enforce-mountable-secrets"
	if _, ok := old.Annotations()[key]; ok {
		return
	}
	if _, ok := obj.Annotations()[key]; ok {
		ctx.Warn("metadata.annotations[" + key + "]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets")
	}
}
