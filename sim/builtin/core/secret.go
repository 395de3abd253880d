package core

import (
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/certificates"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

func secretKind() kind.Kind {
	return kind.Kind{
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
	}
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
