package core

import (
	"encoding/base64"
	"encoding/json"

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
			Quota:  resource.Quota{Each: []string{"secrets"}},
			Checks: resource.Checks{Update: []resource.Check{resource.CheckMetaUpdate, resource.CheckFirst, resource.CheckMeta, resource.CheckKind}},
			Warn:   warnSecret,
		},
		Validate: validateSecret, ValidateFirst: immutableSecret,
		Defaults: kind.EveryVersion(defaultSecret),
		Select:   []string{"type"},
		Columns: []table.Column{table.Name(), table.Doc("Type", table.DocCore+"Secret", "type").At("type"),
			table.Doc("Data", table.DocCore+"Secret", "data").Cell(func(obj object.Object) any { return int64(len(obj.Map("data"))) }), table.Age()},
	}
}

// defaultSecret merges stringData, which is write-only, into data.
func defaultSecret(obj object.Object) {
	kind.SetEmpty(obj, "Opaque", "type")
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
	switch at.String("type") { // the required contents of the built-in types of secrets
	case "kubernetes.io/service-account-token":
		at.Child("metadata", "annotations").Key("kubernetes.io/service-account.name").Required()
	case "kubernetes.io/dockercfg":
		validateDockerConfig(key(".dockercfg"))
	case "kubernetes.io/dockerconfigjson":
		validateDockerConfig(key(".dockerconfigjson"))
	case "kubernetes.io/basic-auth": // one of the two keys suffices
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

// validateDockerConfig checks that a key of the secret contains a JSON object.
func validateDockerConfig(at field.Cursor) {
	if !at.Has() {
		at.Missing("")
	} else if err := json.Unmarshal(kind.Decoded(at.Value()), &map[string]any{}); err != nil {
		at.Invalid("<secret contents redacted>", err.Error())
	}
}

func immutableSecret(_ *resource.Context, at field.Cursor) {
	at.Child("type").OrEmpty().Immutable()
	if stillImmutable(at) {
		immutableMap(at.Child("data"))
	}
}

// warnSecret warns about a TLS secret whose key does not match its certificate.
func warnSecret(ctx *resource.Context, obj, _ object.Object) {
	if obj.String("type") != "kubernetes.io/tls" {
		return
	}
	data := obj.Map("data")
	if err := certificates.CheckKeyPair(kind.Decoded(data["tls.crt"]), kind.Decoded(data["tls.key"])); err != nil {
		ctx.Warn(err.Error())
	}
}
