package kubectl

import (
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/kubesim/kubesim/sim/object"
)

// sources returns what --from-file, --from-literal and --from-env-file hold, by key. what is the kind that errors speak of.
func (c *call) sources(what, name string) (map[string][]byte, error) {
	data := map[string][]byte{}
	add := func(key string, value []byte) error {
		if _, twice := data[key]; twice {
			return fmt.Errorf("cannot add key %q, another key by that name already exists in Data for %s %q", key, what, name)
		}
		data[key] = value
		return nil
	}
	for _, source := range c.list("from-file") {
		key, file, named := strings.Cut(source, "=")
		if !named {
			file = source
			key = file[strings.LastIndexByte(file, '/')+1:]
		}
		if key == "" || file == "" {
			return nil, fmt.Errorf("key name for file path %s missing", strings.TrimPrefix(source, "="))
		}
		value, err := c.readFile(file)
		if err != nil {
			return nil, fmt.Errorf("error reading %s: no such file or directory", file)
		}
		if err := add(key, value); err != nil {
			return nil, err
		}
	}
	for _, source := range c.list("from-literal") {
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
	for _, file := range c.list("from-env-file") {
		text, err := c.readFile(file)
		if err != nil {
			return nil, fmt.Errorf("error reading %s: no such file or directory", file)
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimLeft(strings.TrimRight(line, "\r\n"), " \t")
			if line == "" || line[0] == '#' {
				continue
			}
			key, value, _ := strings.Cut(line, "=")
			if err := add(key, []byte(value)); err != nil {
				return nil, err
			}
		}
	}
	return data, nil
}

func (c *call) createConfigMap() error {
	name, err := c.nameArgument()
	if err != nil {
		return err
	}
	data, err := c.sources("ConfigMap", name)
	if err != nil {
		return err
	}
	obj := made("v1", "ConfigMap", name)
	for _, k := range object.SortedKeys(data) {
		if utf8.Valid(data[k]) {
			obj.Set(string(data[k]), "data", k)
		} else {
			obj.Set(base64.StdEncoding.EncodeToString(data[k]), "binaryData", k)
		}
	}
	return c.createMade(obj, "configmap")
}

func (c *call) createSecret() error {
	name, err := c.nameArgument()
	if err != nil {
		return err
	}
	data, err := c.sources("Secret", name)
	if err != nil {
		return err
	}
	return c.createMade(secret(name, c.text("type"), data), "secret")
}

// secret returns a Secret.
func secret(name, kind string, data map[string][]byte) object.Object {
	obj := made("v1", "Secret", name)
	if kind != "" {
		obj["type"] = kind
	}
	for _, k := range object.SortedKeys(data) {
		obj.Set(base64.StdEncoding.EncodeToString(data[k]), "data", k)
	}
	return obj
}

func (c *call) createRegistrySecret() error {
	name, err := c.nameArgument()
	if err != nil {
		return err
	}
	const kind = "kubernetes.io/dockerconfigjson"
	if c.given("from-file") {
		data, err := c.sources("Secret", name)
		if err != nil {
			return err
		}
		return c.createMade(secret(name, kind, data), "secret docker-registry")
	}
	server, user, password := c.text("docker-server"), c.text("docker-username"), c.text("docker-password")
	if user == "" || password == "" {
		return fmt.Errorf("either --from-file or the combination of --docker-username, --docker-password and --docker-server is required")
	}
	if server == "" {
		server = "https://index.docker.io/v1/"
	}
	b := object.AppendString([]byte(`{"auths":{`), server)
	b = object.AppendString(append(b, `:{"username":`...), user)
	b = object.AppendString(append(b, `,"password":`...), password)
	if mail := c.text("docker-email"); mail != "" {
		b = object.AppendString(append(b, `,"email":`...), mail)
	}
	b = object.AppendString(append(b, `,"auth":`...), base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
	b = append(b, `}}}`...)
	return c.createMade(secret(name, kind, map[string][]byte{".dockerconfigjson": b}), "secret docker-registry")
}

func (c *call) createTLSSecret() error {
	name, err := c.nameArgument()
	if err != nil {
		return err
	}
	if c.text("key") == "" || c.text("cert") == "" {
		return fmt.Errorf("key and cert must be specified")
	}
	data := map[string][]byte{}
	for _, f := range [][2]string{{"cert", "tls.crt"}, {"key", "tls.key"}} {
		file := c.text(f[0])
		if data[f[1]], err = c.readFile(file); err != nil {
			return fmt.Errorf("Cannot read file %s, open %s: no such file or directory", file, file)
		}
	}
	return c.createMade(secret(name, "kubernetes.io/tls", data), "secret")
}

// createToken asks for a token of a service account.
func (c *call) createToken() error {
	name, err := c.nameArgument()
	if err != nil {
		return err
	}
	m, err := c.find("serviceaccounts")
	if err != nil {
		return err
	}
	spec := map[string]any{}
	if list := c.list("audience"); len(list) > 0 {
		spec["audiences"] = object.FromStrings(list)
	}
	if d := c.duration("duration", 0); d > 0 {
		spec["expirationSeconds"] = int64(d.Seconds())
	}
	body := object.JSON(map[string]any{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "metadata": map[string]any{}, "spec": spec})
	answer, err := c.ask(c.request("POST", m.path(c.namespace(), name)+"/token", nil, "application/json", body))
	if err != nil {
		return fmt.Errorf("failed to create token: %s", err.Error())
	}
	if c.text("output") != "" {
		return c.said(&target{m: m, name: name, obj: answer}, "")
	}
	c.printf("%s", answer.String("status", "token"))
	return nil
}
