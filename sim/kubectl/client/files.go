package client

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/manifest"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/selector"
)

// Files provides the files that flags name.
type Files interface {
	ReadFile(name string) ([]byte, error)
	Names(folder string) []string
}

// sourced is an object and the name of its file.
type sourced struct {
	source string
	obj    object.Object
}

// FromFiles returns the objects in the files. Each object that cannot be read results in an Info with an error at the end of the
// list.
func (b *Builder) FromFiles() (out []*Info, err error) {
	var list []sourced
	switch {
	case b.Kustomize != "" && b.Recursive:
		return nil, fmt.Errorf("the -k flag can't be used with -f or -R")
	case b.Kustomize != "" && len(b.Filenames) > 0:
		return nil, fmt.Errorf("only one of -f or -k can be specified")
	case b.Kustomize != "":
		built, err := b.Kustomized(b.Kustomize)
		if err != nil {
			return nil, err
		}
		for _, obj := range built {
			list = append(list, sourced{b.Kustomize, obj})
		}
	}
	for _, name := range b.Filenames {
		files := []string{name}
		if strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") {
			if _, err := b.Files.ReadFile(name); err != nil { // the page has copies of some well-known files
				return nil, fmt.Errorf("nothing is fetched from %s: paste it into a file, and name that", name)
			}
		} else {
			files = b.within(name)
		}
		for _, file := range files {
			if list, err = b.read(list, file); err != nil {
				return nil, err
			}
		}
	}
	var failed []*Info
	for _, o := range list {
		info, err := b.fromFile(o.source, o.obj)
		if err != nil {
			failed = append(failed, &Info{Err: err})
		} else if matches(b.LabelSelector, o.obj.Labels()) {
			out = append(out, info)
		}
	}
	return append(out, failed...), nil
}

// read appends the objects in a file to list. It returns an error if the file does not exist.
func (b *Builder) read(list []sourced, file string) ([]sourced, error) {
	data, err := b.Files.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("the path %q does not exist", file)
	}
	if err != nil {
		return nil, err
	}
	source := file
	if file == "-" {
		source = "STDIN"
	}
	objects, err := manifest.Read(source, data)
	for _, obj := range objects {
		list = append(list, sourced{source, obj})
	}
	return list, err
}

// within returns the names of the manifests in a folder. If name is not a folder with manifests, it returns only name.
func (b *Builder) within(name string) []string {
	if name == "-" {
		return []string{name}
	}
	folder := strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/")
	var out []string
	for _, file := range b.Files.Names(folder) {
		below := strings.TrimPrefix(strings.TrimPrefix(file, folder), "/")
		if strings.Contains(below, "/") && !b.Recursive {
			continue
		}
		if file == name {
			return []string{name}
		}
		if strings.HasSuffix(file, ".yaml") || strings.HasSuffix(file, ".yml") || strings.HasSuffix(file, ".json") {
			out = append(out, file)
		}
	}
	if len(out) == 0 {
		return []string{name}
	}
	return out
}

// fromFile returns the Info for an object in a file. It returns an error if the server does not know the kind, or if the namespace
// is not that of --namespace.
func (b *Builder) fromFile(source string, obj object.Object) (*Info, error) {
	missing := ""
	if obj.APIVersion() == "" {
		missing = "apiVersion not set"
	}
	if obj.Kind() == "" {
		missing = strings.TrimPrefix(missing+", kind not set", ", ")
		if obj.APIVersion() == "" {
			missing = "[" + missing + "]"
		}
	}
	if missing != "" {
		return nil, manifest.Invalid(source, missing)
	}
	m, err := b.MappingFor(obj)
	if err != nil {
		return nil, fmt.Errorf("resource mapping not found for name: %q namespace: %q from %q: %w\nensure CRDs are installed first",
			obj.Name(), obj.Namespace(), source, err)
	}
	info := &Info{Mapping: m, Name: obj.Name(), Source: source, Object: obj}
	if !m.Namespaced {
		return info, nil
	}
	info.Namespace = obj.Namespace()
	if n := b.Namespace; b.EnforceNamespace && info.Namespace != "" && info.Namespace != n {
		return nil, fmt.Errorf("the namespace from the provided object %q does not match the namespace %q. You must pass '--namespace=%s' to perform this operation.",
			info.Namespace, n, info.Namespace)
	}
	if info.Namespace == "" {
		info.Namespace = b.Namespace
		obj.SetMeta("namespace", info.Namespace)
	}
	return info, nil
}

// matches reports whether a label selector matches labels.
func matches(text string, labels map[string]string) bool {
	s, err := selector.ParseLabels(text)
	return err == nil && s.Matches(labels)
}
