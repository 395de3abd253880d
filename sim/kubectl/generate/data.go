package generate

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// envChars lists the characters of keys in the files of --from-env-file.
const envChars = "-._abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// sources returns the data of --from-file, --from-literal and --from-env-file, by key. kind is the object's kind in error
// messages.
func (in *Input) sources(kind string) (map[string][]byte, error) {
	data := map[string][]byte{}
	if in.Given("from-env-file") && (in.Given("from-file") || in.Given("from-literal")) {
		return nil, fmt.Errorf("from-env-file cannot be combined with from-file or from-literal")
	}
	add := func(key string, value []byte) error {
		if errs := field.ConfigMapKey(key); len(errs) > 0 && kind == "Secret" {
			return fmt.Errorf("%q is not valid key name for a Secret %s", key, strings.Join(errs, ";"))
		} else if len(errs) > 0 {
			return fmt.Errorf("%q is not a valid key name for a ConfigMap: %s", key, strings.Join(errs, ","))
		}
		if _, twice := data[key]; twice {
			return fmt.Errorf("cannot add key %q, another key by that name already exists in Data for %s %q", key, kind, in.Name)
		}
		data[key] = value
		return nil
	}
	for _, source := range in.List("from-file") {
		key, file, named := strings.Cut(source, "=")
		if !named {
			file = source
			key = file[strings.LastIndexByte(file, '/')+1:]
		}
		if key == "" || file == "" {
			return nil, fmt.Errorf("key name for file path %s missing", strings.TrimPrefix(source, "="))
		}
		value, err := in.Files.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("error reading %s: no such file or directory", file)
		}
		if err := add(key, value); err != nil {
			return nil, err
		}
	}
	for _, source := range in.List("from-literal") {
		key, value, ok := strings.Cut(source, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("invalid literal source %s, expected key=value", source)
		}
		if len(value) > 1 && (value[0] == '"' || value[0] == '\'') && value[0] == value[len(value)-1] {
			value = value[1 : len(value)-1]
		}
		if err := add(key, []byte(value)); err != nil {
			return nil, err
		}
	}
	for _, file := range in.List("from-env-file") {
		text, err := in.Files.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("error reading %s: no such file or directory", file)
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimLeft(strings.TrimRight(line, "\r\n"), " \t")
			if line == "" || line[0] == '#' {
				continue
			}
			key, value, _ := strings.Cut(line, "=")
			if strings.Trim(key, envChars) != "" || strings.ContainsAny(key[:min(1, len(key))], "0123456789") {
				return nil, fmt.Errorf("%q is not a valid key name: %s", key, field.RegexText("a valid environment variable name must consist of "+
					"alphabetic characters, digits, '_', '-', or '.', and must not start with a digit", "[-._a-zA-Z][-._a-zA-Z0-9]*",
					"my.env-name", "MY_ENV.NAME", "MyEnvName1"))
			}
			if err := add(key, []byte(value)); err != nil {
				return nil, err
			}
		}
	}
	return data, nil
}

func configMap(in *Input) (object.Object, error) {
	data, err := in.sources("ConfigMap")
	if err != nil {
		return nil, err
	}
	obj := made("v1", "ConfigMap", in.Name)
	for _, k := range object.SortedKeys(data) {
		if utf8.Valid(data[k]) {
			obj.Set(string(data[k]), "data", k)
		} else {
			obj.Set(base64.StdEncoding.EncodeToString(data[k]), "binaryData", k)
		}
	}
	return obj, nil
}

func genericSecret(in *Input) (object.Object, error) {
	data, err := in.sources("Secret")
	if err != nil {
		return nil, err
	}
	return in.secret(in.Text("type"), data), nil
}

// secret returns a Secret with a type and data.
func (in *Input) secret(kind string, data map[string][]byte) object.Object {
	obj := made("v1", "Secret", in.Name)
	if kind != "" {
		obj["type"] = kind
	}
	for _, k := range object.SortedKeys(data) {
		obj.Set(base64.StdEncoding.EncodeToString(data[k]), "data", k)
	}
	return obj
}

func registrySecret(in *Input) (object.Object, error) {
	const kind = "kubernetes.io/dockerconfigjson"
	if in.Given("from-file") {
		data, err := in.sources("Secret")
		if err != nil {
			return nil, err
		}
		return in.secret(kind, data), nil
	}
	server, user, password := cmp.Or(in.Text("docker-server"), "https://index.docker.io/v1/"), in.Text("docker-username"), in.Text("docker-password")
	if user == "" || password == "" {
		return nil, fmt.Errorf("either --from-file or the combination of --docker-username, --docker-password and --docker-server is required")
	}
	b := object.AppendString([]byte(`{"auths":{`), server)
	b = object.AppendString(append(b, `:{"username":`...), user)
	b = object.AppendString(append(b, `,"password":`...), password)
	if mail := in.Text("docker-email"); mail != "" {
		b = object.AppendString(append(b, `,"email":`...), mail)
	}
	b = object.AppendString(append(b, `,"auth":`...), base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
	b = append(b, `}}}`...)
	return in.secret(kind, map[string][]byte{".dockerconfigjson": b}), nil
}

func tlsSecret(in *Input) (object.Object, error) {
	if in.Text("key") == "" || in.Text("cert") == "" {
		return nil, fmt.Errorf("key and cert must be specified")
	}
	data := map[string][]byte{}
	for _, f := range [][2]string{{"cert", "tls.crt"}, {"key", "tls.key"}} {
		file := in.Text(f[0])
		content, err := in.Files.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("Cannot read file %s, open %s: no such file or directory", file, file)
		}
		data[f[1]] = content
	}
	for _, f := range [][2]string{{"tls.crt", "certificate"}, {"tls.key", "key"}} {
		if !strings.Contains(string(data[f[0]]), "-----BEGIN ") {
			return nil, fmt.Errorf("tls: failed to find any PEM data in %s input", f[1])
		}
	}
	return in.secret("kubernetes.io/tls", data), nil
}
