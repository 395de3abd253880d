package kubectl

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
)

// manifest is one object of a file.
type manifest struct {
	source string
	obj    object.Object
}

// manifests reads the files of --filename, one after the other.
func (c *call) manifests() (out []manifest, err error) {
	if c.given("kustomize") {
		return nil, fmt.Errorf("kustomize is not simulated: build the files with the real one and apply those")
	}
	for _, name := range c.list("filename") {
		if strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") {
			return nil, fmt.Errorf("nothing is fetched from %s: paste it into a file, and name that", name)
		}
		for _, file := range c.within(name) {
			data, err := c.readFile(file)
			if err != nil {
				if errors.Is(err, fs.ErrNotExist) {
					return nil, fmt.Errorf("the path %q does not exist", file)
				}
				return nil, err
			}
			source := file
			if file == "-" {
				source = "STDIN"
			}
			list, err := split(source, data)
			if err != nil {
				return nil, err
			}
			for _, obj := range list {
				out = append(out, manifest{source, obj})
			}
		}
	}
	return out, nil
}

// within returns the files of a folder, or the one that the name is of.
func (c *call) within(name string) []string {
	if c.Files == nil || name == "-" {
		return []string{name}
	}
	folder := strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/")
	var out []string
	for _, file := range c.Files.Names(folder) {
		below := strings.TrimPrefix(strings.TrimPrefix(file, folder), "/")
		if strings.Contains(below, "/") && !c.on("recursive") {
			continue
		}
		if strings.HasSuffix(file, ".yaml") || strings.HasSuffix(file, ".yml") || strings.HasSuffix(file, ".json") {
			out = append(out, file)
		}
	}
	if len(out) == 0 || slices.Contains(out, name) {
		return []string{name}
	}
	return out
}

// split reads the objects of a text, lists taken apart.
func split(source string, data []byte) (out []object.Object, err error) {
	for _, doc := range documents(string(data)) {
		if strings.TrimSpace(doc) == "" {
			continue
		}
		text, err := codec.YAMLToJSON([]byte(doc))
		if err != nil {
			return nil, fmt.Errorf("error parsing %s: error converting YAML to JSON: %s", source, strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "))
		}
		value, err := object.ParseValue(text)
		if err != nil {
			return nil, fmt.Errorf("error parsing %s: %w", source, err)
		}
		obj := object.As(value)
		switch {
		case value == nil:
		case obj == nil:
			return nil, invalid(source, "invalid object to validate")
		case strings.HasSuffix(obj.Kind(), "List") && obj["items"] != nil:
			out = append(out, obj.Objects("items")...)
		default:
			out = append(out, obj)
		}
	}
	return out, nil
}

// documents splits a text at lines that say ---.
func documents(text string) []string {
	var out []string
	var b strings.Builder
	for line := range strings.Lines(text) {
		if t := strings.TrimRight(line, " \t\r\n"); t == "---" || strings.HasPrefix(t, "--- ") {
			out = append(out, b.String())
			b.Reset()
			continue
		}
		b.WriteString(line)
	}
	return append(out, b.String())
}

// invalid is the error of a file whose object is none.
func invalid(source, text string) error {
	return fmt.Errorf("error validating %q: error validating data: %s; if you choose to ignore these errors, turn validation off with --validate=false", source, text)
}

// fromFiles returns the objects of the files as targets.
func (c *call) fromFiles() ([]*target, error) {
	list, err := c.manifests()
	if err != nil {
		return nil, err
	}
	var out []*target
	var errs []error
	for _, f := range list {
		t, err := c.fromFile(f)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if s := c.text("selector"); s != "" && !matches(s, t.obj.Labels()) {
			continue
		}
		out = append(out, t)
	}
	for _, err := range errs { // what can be done is done first
		out = append(out, &target{err: err})
	}
	return out, nil
}

// fromFile returns the target that an object of a file is.
func (c *call) fromFile(f manifest) (*target, error) {
	missing := ""
	if f.obj.APIVersion() == "" {
		missing = "apiVersion not set"
	}
	if f.obj.Kind() == "" {
		missing = strings.TrimPrefix(missing+", kind not set", ", ")
		if f.obj.APIVersion() == "" {
			missing = "[" + missing + "]"
		}
	}
	if missing != "" {
		return nil, invalid(f.source, missing)
	}
	m, err := c.ofKind(f.obj)
	if err != nil {
		return nil, fmt.Errorf("resource mapping not found for name: %q namespace: %q from %q: %w\nensure CRDs are installed first",
			f.obj.Name(), f.obj.Namespace(), f.source, err)
	}
	t := &target{m: m, name: f.obj.Name(), source: f.source, obj: f.obj}
	if !m.namespaced {
		return t, nil
	}
	t.namespace = f.obj.Namespace()
	if n := c.text("namespace"); n != "" && t.namespace != "" && t.namespace != n {
		return nil, fmt.Errorf("the namespace from the provided object %q does not match the namespace %q. You must pass '--namespace=%s' to perform this operation.",
			t.namespace, n, t.namespace)
	}
	if t.namespace == "" {
		t.namespace = c.namespace()
		t.obj.SetMeta("namespace", t.namespace)
	}
	return t, nil
}
