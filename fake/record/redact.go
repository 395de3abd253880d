package record

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"mime"
	"net/url"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// target is the resource or object that the URL of a request names.
type target struct {
	version               string // such as /api/v1 or /apis/apps/v1
	namespace             string
	resource, subresource string
	name                  string // "" for all objects of the resource
	watch                 bool
	streams               bool // the response is a stream of bytes, which is not recorded
}

// targetOf parses the URL of an API request. The target of any other URL is empty.
func targetOf(u *url.URL) (t target) {
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	n := 3
	if parts[0] == "api" {
		n = 2
	}
	if len(parts) <= n || parts[0] != "api" && parts[0] != "apis" {
		return t
	}
	t.version, parts = "/"+strings.Join(parts[:n], "/"), parts[n:]
	if parts[0] == "watch" {
		t.watch, parts = true, append(parts[1:], "")
	}
	if len(parts) > 2 && parts[0] == "namespaces" && parts[2] != "status" && parts[2] != "finalize" {
		t.namespace, parts = parts[1], parts[2:]
	}
	for i, field := range []*string{&t.resource, &t.name, &t.subresource} {
		if i < len(parts) {
			*field = parts[i]
		}
	}
	watch := u.Query().Get("watch")
	t.watch = t.watch || watch == "true" || watch == "1"
	t.streams = slices.Contains([]string{"log", "exec", "attach", "portforward", "proxy"}, t.subresource)
	return t
}

// definition returns the name that the definition of a custom resource has.
func (t *target) definition() string {
	return t.resource + "." + strings.Split(t.version+"//", "/")[2]
}

// path returns the path of the named object of the resource or, if name is "", of the collection. An empty namespace means a
// cluster-scoped object, or all namespaces.
func (t *target) path(namespace, name string) string {
	path := t.version
	if namespace != "" {
		path += "/namespaces/" + namespace
	}
	path += "/" + t.resource
	if name != "" {
		path += "/" + name
	}
	return path
}

// redactor replaces secret values. Within one recording, equal values have equal replacements.
type redactor struct{ key []byte }

// newRedactor returns a redactor with a random key.
func newRedactor() *redactor {
	x := &redactor{make([]byte, 16)}
	_, _ = rand.Read(x.key) // it never returns an error
	return x
}

// value returns the replacement of a secret value.
func (x *redactor) value(secret string) string {
	mac := hmac.New(sha256.New, x.key)
	mac.Write([]byte(secret))
	return "redacted-" + hex.EncodeToString(mac.Sum(nil)[:6])
}

// body returns a body with secret values replaced. A body that cannot be parsed is omitted, unless it is plain text of a resource
// other than Secrets.
func (x *redactor) body(data []byte, contentType string, at target) Body {
	if len(data) == 0 {
		return Body{}
	}
	media, _, _ := mime.ParseMediaType(contentType)
	var v any
	var err error
	switch {
	case strings.Contains(media, "protobuf"):
		var set *schema.Set
		if set, err = schema.Load(schema.Default); err == nil {
			var obj object.Object
			obj, _, err = codec.DecodeProto(data, set.Kind)
			v = map[string]any(obj)
		}
	case strings.Contains(media, "yaml"):
		if data, err = codec.YAMLToJSON(data); err == nil {
			v, err = object.ParseValue(data)
		}
	case media == "", strings.Contains(media, "json"): // a server reads a body without a type as JSON
		v, err = object.ParseValue(data)
	case strings.HasPrefix(media, "text/") && at.resource != "secrets":
		return Body{Text: string(data)}
	default:
		return Body{Omitted: contentType}
	}
	if err != nil {
		return Body{Omitted: contentType + ": " + err.Error()}
	}
	tokens := at.subresource == "token" || at.resource == "tokenreviews"
	return Body{JSON: object.JSON(x.walk(v, at.resource == "secrets", tokens))}
}

// lastApplied is the annotation of kubectl apply that contains a whole object.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// walk returns a copy of a JSON value with secret values replaced. secret reports whether the value is or belongs to a Secret or a
// patch of one. tokens reports whether fields named token are secret.
func (x *redactor) walk(v any, secret, tokens bool) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = x.walk(v[i], secret, tokens)
		}
		return out
	case map[string]any:
		kind, _ := v["kind"].(string)
		secret = secret || kind == "Secret" || kind == "SecretList"
		path, _ := v["path"].(string)
		out := map[string]any{}
		for name, value := range v { // order does not matter
			text, isText := value.(string)
			switch {
			case secret && (name == "data" || name == "stringData"):
				out[name] = x.all(value, name == "data")
			case secret && name == "value" && (strings.HasPrefix(path, "/data") || strings.HasPrefix(path, "/stringData")):
				out[name] = x.all(value, strings.HasPrefix(path, "/data"))
			case tokens && name == "token" && isText:
				out[name] = x.value(text)
			case name == lastApplied && isText:
				out[name] = x.nested(text, secret)
			default:
				out[name] = x.walk(value, secret, tokens)
			}
		}
		return out
	}
	return v
}

// all replaces each string in a value. If encoded is set, the replacements are in base64, like the data of Secrets.
func (x *redactor) all(v any, encoded bool) any {
	switch v := v.(type) {
	case string:
		if encoded {
			return base64.StdEncoding.EncodeToString([]byte(x.value(v)))
		}
		return x.value(v)
	case map[string]any:
		out := map[string]any{}
		for name, value := range v { // order does not matter
			out[name] = x.all(value, encoded)
		}
		return out
	case nil:
		return nil
	}
	return x.value(string(object.JSON(v)))
}

// nested redacts JSON that is contained in a string. If text is not JSON, it replaces the whole string.
func (x *redactor) nested(text string, secret bool) string {
	v, err := object.ParseValue([]byte(text))
	if err != nil {
		return x.value(text)
	}
	return string(object.JSON(x.walk(v, secret, false)))
}
