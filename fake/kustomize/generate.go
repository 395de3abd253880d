package kustomize

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kubesim/kubesim/sim/object"
)

// generate adds the ConfigMaps and Secrets that a kustomization generates, or changes existing ones.
func generate(k object.Object, dir string, all []*item) ([]*item, error) {
	common := object.Object(k.Map("generatorOptions"))
	for _, kind := range []string{"ConfigMap", "Secret"} {
		field := map[string]string{"ConfigMap": "configMapGenerator", "Secret": "secretGenerator"}[kind]
		for _, g := range k.Objects(field) {
			it, err := generated(kind, g, common, dir)
			if err == nil {
				all, err = add(all, it, cmp.Or(g.String("behavior"), "create"))
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", field, g.String("name"), err)
			}
		}
	}
	return all, nil
}

// add appends a generated object, or merges it into the existing one that it changes. It returns an error if the
// behavior requires an existing object and there is none, or if there is one and the behavior is not given.
func add(all []*item, it *item, behavior string) ([]*item, error) {
	i := slices.IndexFunc(all, func(x *item) bool { return x.obj.Kind() == it.obj.Kind() && x.is(it.obj.Namespace(), it.obj.Name()) })
	switch {
	case behavior == "create" && i < 0:
		return append(all, it), nil
	case behavior == "create":
		return nil, fmt.Errorf("the object already exists: set behavior: merge or replace")
	case i < 0:
		return nil, fmt.Errorf("behavior %s: the object does not exist", behavior)
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
func generated(kind string, g, common object.Object, dir string) (*item, error) {
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
		key, value, _ := strings.Cut(text, "=")
		put(key, []byte(strings.Trim(value, `"'`)))
	}
	for _, text := range g.Strings("files") {
		key, path, named := strings.Cut(text, "=")
		if !named {
			key, path = filepath.Base(text), text
		}
		data, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			return nil, err
		}
		put(key, data)
	}
	for _, path := range append(g.Strings("envs"), g.String("env")) {
		if path == "" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			return nil, err
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
