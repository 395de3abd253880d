package kubectl

import (
	"encoding/base64"
	"fmt"

	"github.com/kubesim/kubesim/sim/object"
)

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
