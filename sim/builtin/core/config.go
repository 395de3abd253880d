package core

import (
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/authentication"
	"github.com/kubesim/kubesim/sim/builtin/certificates"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// maxConfigBytes is how much a ConfigMap or a Secret may hold.
const maxConfigBytes = 1 << 20

const immutableWhenSet = "field is immutable when `immutable` is set"

func configKinds() []kind.Kind {
	return []kind.Kind{
		{
			Storage: "configmaps",
			Strategy: resource.Strategy{
				Quota:    resource.Quota{Each: []string{"configmaps"}},
				Checks:   resource.Checks{Update: []resource.Check{resource.CheckMetaUpdate, resource.CheckFirst, resource.CheckMeta, resource.CheckKind}},
				Validate: validateConfigMap, ValidateUpdate: validateConfigMapUpdate,
				ValidateFirst: immutableConfigMap},
			Columns: []table.Column{table.Name(), table.Doc("Data", table.DocCore+"ConfigMap", "data"), table.Age()},
			Row: func(now time.Time, obj object.Object) resource.Row {
				return table.Row(obj.Name(), int64(len(obj.Map("data"))+len(obj.Map("binaryData"))), table.AgeCell(now, obj))
			},
		},
		{
			Storage: "secrets",
			Strategy: resource.Strategy{
				Quota:    resource.Quota{Each: []string{"secrets"}},
				Checks:   resource.Checks{Update: []resource.Check{resource.CheckMetaUpdate, resource.CheckFirst, resource.CheckMeta, resource.CheckKind}},
				Validate: validateSecret, ValidateUpdate: validateSecretUpdate, ValidateFirst: immutableSecret,
				Warn: warnSecret,
				Fields: func(obj object.Object) map[string]string {
					return map[string]string{"type": obj.String("type")}
				},
			},
			Defaults: kind.EveryVersion(defaultSecret),
			Labels:   kind.SameLabels("type"),
			Unknown:  kind.UnsupportedLabel,
			Columns: []table.Column{table.Name(), table.Doc("Type", table.DocCore+"Secret", "type"), table.Doc("Data", table.DocCore+"Secret", "data"),
				table.Age()},
			Row: func(now time.Time, obj object.Object) resource.Row {
				return table.Row(obj.Name(), obj.String("type"), int64(len(obj.Map("data"))), table.AgeCell(now, obj))
			},
		},
		{
			Storage: "serviceaccounts",
			Strategy: resource.Strategy{
				Checks:           resource.Checks{Update: []resource.Check{resource.CheckMetaUpdate, resource.CheckMeta, resource.CheckKind}},
				ReturnsDeleted:   true,
				PrepareForCreate: func(_ *resource.Context, obj object.Object) { cleanSecretReferences(obj) },
				PrepareForUpdate: func(_ *resource.Context, obj, _ object.Object) { cleanSecretReferences(obj) },
				Warn:             warnServiceAccount,
			},
			Connect: map[string]resource.Connector{"token": authentication.IssueToken},
			Bodies:  map[string]func(object.Object){"token": authentication.DefaultTokenRequest},
			Columns: []table.Column{table.Name(), table.Age()},
			Row: func(now time.Time, obj object.Object) resource.Row {
				return table.Row(obj.Name(), table.AgeCell(now, obj))
			},
		},
	}
}

func validateConfigMap(_ *resource.Context, obj object.Object) field.ErrorList {
	var errs field.ErrorList
	size := 0
	data, binary := obj.Map("data"), obj.Map("binaryData")
	p := field.Root("data")
	for _, key := range object.SortedKeys(data) {
		errs = append(errs, field.Check(p.Key(key), key, field.ConfigMapKey)...)
		if _, ok := binary[key]; ok {
			errs = append(errs, field.Invalid(p.Key(key), key, "duplicate of key present in binaryData"))
		}
		text, _ := data[key].(string)
		size += len(text)
	}
	p = field.Root("binaryData")
	for _, key := range object.SortedKeys(binary) {
		errs = append(errs, field.Check(p.Key(key), key, field.ConfigMapKey)...)
		size += len(kind.Decoded(binary[key]))
	}
	if size > maxConfigBytes { // the real server names the whole object "[]"
		errs = append(errs, field.TooLong(field.Root("[]"), maxConfigBytes))
	}
	return errs
}

func validateConfigMapUpdate(ctx *resource.Context, obj, _ object.Object) field.ErrorList {
	return validateConfigMap(ctx, obj)
}

// immutableConfigMap lets an empty data pass where there was none: a default makes it so in the real server's memory
// (pkg/apis/core/v1.SetDefaults_ConfigMap).
func immutableConfigMap(_ *resource.Context, obj, old object.Object) field.ErrorList {
	sameData := func(a, b map[string]any) bool { return object.SemanticEqual(a, b) }
	return validateImmutable(obj, old, fieldRule{"data", sameData}, fieldRule{"binaryData", sameMap})
}

// fieldRule is a field that holds a map, and when two of its values are the same.
type fieldRule struct {
	name string
	same func(value, old map[string]any) bool
}

// sameMap compares a map that a client sent with a stored one. A stored map is never empty, it is absent: an empty one
// that was sent is another one.
func sameMap(value, old map[string]any) bool {
	if value != nil && len(value) == 0 {
		return false
	}
	return object.SemanticEqual(value, old)
}

// validateImmutable checks that an object which was declared immutable stays so and keeps the fields.
func validateImmutable(obj, old object.Object, fields ...fieldRule) field.ErrorList {
	if !old.True("immutable") {
		return nil
	}
	var errs field.ErrorList
	if !obj.True("immutable") {
		errs = append(errs, field.Forbidden(field.Root("immutable"), immutableWhenSet))
	}
	for _, f := range fields {
		if !f.same(obj.Map(f.name), old.Map(f.name)) {
			errs = append(errs, field.Forbidden(field.Root(f.name), immutableWhenSet))
		}
	}
	return errs
}

// defaultSecret merges stringData into data: it can be written and is never shown.
func defaultSecret(obj object.Object) {
	if obj.String("type") == "" {
		obj["type"] = "Opaque"
	}
	plain := obj.Map("stringData")
	for _, key := range object.SortedKeys(plain) {
		text, _ := plain[key].(string)
		obj.Set(base64.StdEncoding.EncodeToString([]byte(text)), "data", key)
	}
	delete(obj, "stringData")
}

func validateSecret(_ *resource.Context, obj object.Object) field.ErrorList {
	var errs field.ErrorList
	p, data, size := field.Root("data"), obj.Map("data"), 0
	for _, key := range object.SortedKeys(data) {
		errs = append(errs, field.Check(p.Key(key), key, field.ConfigMapKey)...)
		size += len(kind.Decoded(data[key]))
	}
	if size > maxConfigBytes {
		errs = append(errs, field.TooLong(p, maxConfigBytes))
	}
	return append(errs, validateSecretType(obj, p, data)...)
}

// validateSecretType checks what the built-in types of secrets must hold.
func validateSecretType(obj object.Object, p field.Path, data map[string]any) field.ErrorList {
	missing := func(keys ...string) field.ErrorList {
		var errs field.ErrorList
		for _, key := range keys {
			if _, ok := data[key]; !ok {
				errs = append(errs, field.Required(p.Key(key), ""))
			}
		}
		return errs
	}
	switch obj.String("type") {
	case "kubernetes.io/service-account-token":
		const name = "kubernetes.io/service-account.name"
		return field.MustBeSet(field.Root("metadata").Child("annotations").Key(name), obj.Annotations()[name])
	case "kubernetes.io/dockercfg":
		return validateDockerConfig(p, data, ".dockercfg")
	case "kubernetes.io/dockerconfigjson":
		return validateDockerConfig(p, data, ".dockerconfigjson")
	case "kubernetes.io/basic-auth": // one of the two will do
		if errs := missing("username", "password"); len(errs) == 2 {
			return errs
		}
	case "kubernetes.io/ssh-auth":
		if len(kind.Decoded(data["ssh-privatekey"])) == 0 {
			return field.ErrorList{field.Required(p.Key("ssh-privatekey"), "")}
		}
	case "kubernetes.io/tls":
		return missing("tls.crt", "tls.key")
	}
	return nil
}

// validateDockerConfig checks that a key holds a JSON object.
func validateDockerConfig(p field.Path, data map[string]any, key string) field.ErrorList {
	value, ok := data[key]
	if !ok {
		return field.ErrorList{field.Required(p.Key(key), "")}
	}
	if err := json.Unmarshal(kind.Decoded(value), &map[string]any{}); err != nil {
		return field.ErrorList{field.Invalid(p.Key(key), "<secret contents redacted>", err.Error())}
	}
	return nil
}

func validateSecretUpdate(ctx *resource.Context, obj, _ object.Object) field.ErrorList {
	return validateSecret(ctx, obj)
}

func immutableSecret(_ *resource.Context, obj, old object.Object) field.ErrorList {
	errs := kind.Immutable(field.Root("type"), obj.String("type"), old.String("type"))
	return append(errs, validateImmutable(obj, old, fieldRule{"data", sameMap})...)
}

// warnSecret warns about a TLS key that does not belong to its certificate.
func warnSecret(ctx *resource.Context, obj, _ object.Object) {
	if obj.String("type") != "kubernetes.io/tls" {
		return
	}
	data := obj.Map("data")
	if err := certificates.CheckKeyPair(kind.Decoded(data["tls.crt"]), kind.Decoded(data["tls.key"])); err != nil {
		ctx.Warn(err.Error())
	}
}

// cleanSecretReferences keeps nothing but the names of a service account's secrets.
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
