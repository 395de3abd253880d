package kustomize

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kubesim/kubesim/sim/object"
)

// generate adds the ConfigMaps and Secrets that a kustomization generates, or changes existing ones.
func (b *build) generate(k object.Object, dir string, all []*item) ([]*item, error) {
	common := object.Object(k.Map("generatorOptions"))
	for _, kind := range []string{"ConfigMap", "Secret"} {
		field := map[string]string{"ConfigMap": "configMapGenerator", "Secret": "secretGenerator"}[kind]
		for _, g := range k.Objects(field) {
			it, err := b.generated(kind, g, common, dir)
			if err == nil {
				all, err = add(all, it, g.String("behavior"))
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// add appends a generated object, or merges it into the existing one that it changes. It returns an error if the
// behavior requires an existing object and there is none, or if there is one and the behavior is not given.
func add(all []*item, it *item, behavior string) ([]*item, error) {
	create := behavior == "" || behavior == "create"
	i := slices.IndexFunc(all, func(x *item) bool { return x.obj.Kind() == it.obj.Kind() && x.is(it.obj.Namespace(), it.obj.Name()) })
	switch {
	case create && i < 0:
		return append(all, it), nil
	case create:
		return nil, fmt.Errorf("merging from generator: id %s exists; can not use behavior: '%s', behavior must be merge or replace",
			id(it.obj), cmp.Or(behavior, "unspecified"))
	case i < 0:
		return nil, fmt.Errorf("merging from generator: id %s does not exist; cannot merge or replace", id(it.obj))
	}
	for _, field := range []string{"data", "binaryData"} {
		if behavior == "replace" {
			all[i].obj.Remove(field)
		}
		addAll(all[i].obj, it.obj.Map(field), field)
	}
	all[i].hash = all[i].hash || it.hash
	return all, nil
}

// generated returns an object with data from literals, files and env files.
func (b *build) generated(kind string, g, common object.Object, dir string) (*item, error) {
	if g.String("name") == "" {
		return nil, fmt.Errorf("a %s must have a name", strings.ToLower(kind))
	}
	obj := object.Object{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": g.String("name")}}
	if namespace := g.String("namespace"); namespace != "" {
		obj.Set(namespace, "metadata", "namespace")
	}
	if kind == "Secret" {
		obj["type"] = cmp.Or(g.String("type"), "Opaque")
	}
	put := func(key string, value []byte) {
		switch {
		case kind == "Secret":
			obj.Set(base64.StdEncoding.EncodeToString(value), "data", key)
		case utf8.Valid(value):
			obj.Set(string(value), "data", key)
		default:
			obj.Set(base64.StdEncoding.EncodeToString(value), "binaryData", key)
		}
	}
	for _, text := range g.Strings("literals") {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("loading KV pairs: literal sources %v: invalid literal source %s, expected key=value", g.Strings("literals"), text)
		}
		put(key, []byte(unquoted(value)))
	}
	for _, text := range g.Strings("files") {
		key, file, named := strings.Cut(text, "=")
		if !named {
			key, file = path.Base(text), text
		}
		data, err := b.load(dir, file)
		if err != nil {
			return nil, fmt.Errorf("loading KV pairs: file sources: %v: %w", g.Strings("files"), err)
		}
		put(key, data)
	}
	envs := g.Strings("envs")
	if file := g.String("env"); file != "" {
		envs = append(envs, file)
	}
	for _, file := range envs {
		data, err := b.load(dir, file)
		if err != nil {
			return nil, fmt.Errorf("loading KV pairs: env source files: %v: %w", envs, err)
		}
		for line := range strings.Lines(string(data)) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				key, value, _ := strings.Cut(line, "=")
				put(key, []byte(value))
			}
		}
	}
	hash := true
	for _, o := range []object.Object{common, g.Map("options")} {
		addAll(obj, o.Map("labels"), "metadata", "labels")
		addAll(obj, o.Map("annotations"), "metadata", "annotations")
		if o.True("immutable") {
			obj["immutable"] = true
		}
		if off, ok := o.Bool("disableNameSuffixHash"); ok {
			hash = !off
		}
	}
	return &item{obj: obj, hash: hash}, nil
}

// hashNames appends a hash of the content to the names of generated objects. The hash does not include the name
// (kustomize/api/hasher).
func hashNames(all []*item) error {
	for _, it := range all {
		if !it.hash {
			continue
		}
		sum, err := hashOf(it.obj)
		if err != nil {
			return err
		}
		it.renamed()
		it.obj.Set(it.obj.Name()+"-"+sum, "metadata", "name")
	}
	return nil
}

func hashOf(obj object.Object) (string, error) {
	m := map[string]any{"kind": obj.Kind(), "name": "", "data": ""}
	for _, field := range []string{"data", "binaryData", "type"} {
		if v, ok := obj.Get(field); ok {
			m[field] = v
		}
	}
	text, err := json.Marshal(m)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	// replaces vowels, and digits that look like vowels, so that a hash does not contain words
	return strings.NewReplacer("0", "g", "1", "h", "3", "k", "a", "m", "e", "t").Replace(hex.EncodeToString(sum[:])[:10]), nil
}

// unquoted removes a pair of quotes around a value.
func unquoted(value string) string {
	if n := len(value); n > 1 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
		return value[1 : n-1]
	}
	return value
}
