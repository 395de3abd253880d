package kubectl

import (
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/kubesim/kubesim/sim/object"
)

// sources returns what --from-file, --from-literal and --from-env-file hold, by key. kind is what errors speak of.
func (c *call) sources(kind, name string) (map[string][]byte, error) {
	data := map[string][]byte{}
	add := func(key string, value []byte) error {
		if _, twice := data[key]; twice {
			return fmt.Errorf("cannot add key %q, another key by that name already exists in Data for %s %q", key, kind, name)
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
