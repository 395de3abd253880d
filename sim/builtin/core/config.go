package core

import (
	"encoding/base64"
	"encoding/json"

	"github.com/kubesim/kubesim/sim/builtin/authentication"
	"github.com/kubesim/kubesim/sim/builtin/certificates"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
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
				Quota:         resource.Quota{Each: []string{"configmaps"}},
				Checks:        resource.Checks{Update: []resource.Check{resource.CheckMetaUpdate, resource.CheckFirst, resource.CheckMeta, resource.CheckKind}},
				ValidateFirst: immutableConfigMap,
			},
			Validate: validateConfigMap,
			Columns: []table.Column{table.Name(), table.Doc("Data", table.DocCore+"ConfigMap", "data").Cell(func(obj object.Object) any {
				return int64(len(obj.Map("data")) + len(obj.Map("binaryData")))
			}), table.Age()},
		},
		{
			Storage: "secrets",
			Strategy: resource.Strategy{
				Quota:         resource.Quota{Each: []string{"secrets"}},
				Checks:        resource.Checks{Update: []resource.Check{resource.CheckMetaUpdate, resource.CheckFirst, resource.CheckMeta, resource.CheckKind}},
				ValidateFirst: immutableSecret,
				Warn:          warnSecret,
				Fields:        func(obj object.Object) map[string]string { return map[string]string{"type": obj.String("type")} },
			},
			Validate: validateSecret,
			Defaults: kind.EveryVersion(defaultSecret),
			Labels:   kind.SameLabels("type"),
			Unknown:  kind.UnsupportedLabel,
			Columns: []table.Column{table.Name(), table.Doc("Type", table.DocCore+"Secret", "type").At("type"),
				table.Doc("Data", table.DocCore+"Secret", "data").Cell(func(obj object.Object) any { return int64(len(obj.Map("data"))) }), table.Age()},
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
		},
	}
}

func validateConfigMap(_ *resource.Context, at field.Cursor) {
	size := 0
	for key, text := range at.EachKey("data") {
		text.With(key).Check(field.ConfigMapKey).InvalidIf(at.Has("binaryData", key), "duplicate of key present in binaryData")
		size += len(text.String())
	}
	if size += checkKeys(at.Child("binaryData")); size > maxConfigBytes { // the real server names the whole object "[]"
		at.Report(field.ErrorList{field.TooLong(podspec.Whole, maxConfigBytes)})
	}
}

// checkKeys checks the keys of values in base64, and returns their size.
func checkKeys(at field.Cursor) (size int) {
	for key, value := range at.EachKey() {
		value.With(key).Check(field.ConfigMapKey)
		size += len(kind.Decoded(value.Value()))
	}
	return size
}

// immutableConfigMap lets an empty data pass where there was none: a default makes it so in the real server's memory
// (pkg/apis/core/v1.SetDefaults_ConfigMap).
func immutableConfigMap(_ *resource.Context, obj, old object.Object) field.ErrorList {
	at := field.CursorAt(obj, old)
	if stillImmutable(at) {
		data := at.Child("data")
		data.ForbidIf(data.Changed(), immutableWhenSet)
		immutableMap(at.Child("binaryData"))
	}
	return at.Errors()
}

// stillImmutable reports whether an object was declared immutable, and checks that it stays so.
func stillImmutable(at field.Cursor) bool {
	was := at.Old().True("immutable")
	at.Child("immutable").ForbidIf(was && !at.True("immutable"), immutableWhenSet)
	return was
}

// immutableMap checks a map that a client sent against the stored one. A stored map is never empty, it is absent: an empty
// one that was sent is another one.
func immutableMap(at field.Cursor) {
	at.ForbidIf(at.Has() && at.Len() == 0 || at.Changed(), immutableWhenSet)
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

func validateSecret(_ *resource.Context, at field.Cursor) {
	data := at.Child("data")
	if checkKeys(data) > maxConfigBytes {
		data.TooLong(maxConfigBytes)
	}
	key := func(name string) field.Cursor { return data.Key(name) }
	switch at.String("type") { // what the built-in types of secrets must hold
	case "kubernetes.io/service-account-token":
		at.Child("metadata", "annotations").Key("kubernetes.io/service-account.name").Required()
	case "kubernetes.io/dockercfg":
		validateDockerConfig(key(".dockercfg"))
	case "kubernetes.io/dockerconfigjson":
		validateDockerConfig(key(".dockerconfigjson"))
	case "kubernetes.io/basic-auth": // one of the two will do
		neither := !data.Has("username") && !data.Has("password")
		key("username").RequireIf(neither, "")
		key("password").RequireIf(neither, "")
	case "kubernetes.io/ssh-auth":
		key("ssh-privatekey").RequireIf(len(kind.Decoded(key("ssh-privatekey").Value())) == 0, "")
	case "kubernetes.io/tls":
		key("tls.crt").RequireIf(!data.Has("tls.crt"), "")
		key("tls.key").RequireIf(!data.Has("tls.key"), "")
	}
}

// validateDockerConfig checks that a key holds a JSON object.
func validateDockerConfig(at field.Cursor) {
	if !at.Has() {
		at.Missing("")
	} else if err := json.Unmarshal(kind.Decoded(at.Value()), &map[string]any{}); err != nil {
		at.Invalid("<secret contents redacted>", err.Error())
	}
}

func immutableSecret(_ *resource.Context, obj, old object.Object) field.ErrorList {
	at := field.CursorAt(obj, old)
	at.Child("type").OrEmpty().Immutable()
	if stillImmutable(at) {
		immutableMap(at.Child("data"))
	}
	return at.Errors()
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
