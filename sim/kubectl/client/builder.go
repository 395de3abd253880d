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

// Builder finds the objects that arguments and files name (cli-runtime's resource.Builder).
type Builder struct {
	*Client
	Files            Files
	Namespace        string
	EnforceNamespace bool // objects in files must not be in another namespace
	Filenames        []string
	Kustomize        string // a folder with a kustomization
	Recursive        bool   // files of subfolders, too
	LabelSelector    string
	FieldSelector    string
	All              bool // select all objects of a resource
}

// Unlinked ends the errors about parts of kubectl that a build with the tag nocel does not have.
const Unlinked = " (build tag nocel)"

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

// Selection specifies how a command's arguments may select objects.
type Selection struct {
	Types    bool // a resource without names selects all its objects
	AnyScope bool // --all-namespaces
}

// errNothing is the error for a command line that names neither resources nor files.
var errNothing = errors.New(`You must provide one or more resources by argument or filename.
Example resource specifications include:
   '-f rsrc.yaml'
   '--filename=rsrc.json'
   '<resource> <name>'
   '<resource>'`)

// ErrMixed is the error for a mix of arguments with and without a slash.
var ErrMixed = errors.New("there is no need to specify a resource type as a separate argument when passing arguments in " +
	"resource/name form (e.g. 'kubectl get resource/<resource_name>' instead of 'kubectl get resource resource/<resource_name>'")

var errNamed = errors.New("name cannot be provided when a selector is specified")

// Infos returns the objects that arguments or files name. It does not read the objects that arguments name from the server. It
// returns kubectl's error if they name nothing, contradict each other, or name an unknown resource.
func (b *Builder) Infos(args []string, s Selection) ([]*Info, error) {
	if len(b.Filenames) > 0 || b.Kustomize != "" {
		switch {
		case len(args) > 0 && strings.Contains(args[0], "/"):
			return nil, errors.New("resource/name arguments cannot be provided when a path is specified")
		case len(args) > 0:
			return nil, fmt.Errorf("when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well")
		}
		return b.FromFiles()
	}
	if len(args) == 0 {
		return nil, errNothing
	}
	if b.All && b.LabelSelector != "" {
		return nil, fmt.Errorf("setting 'all' parameter but found a non empty selector. ")
	}
	if strings.Contains(args[0], "/") {
		return b.slashed(args)
	}
	resources, err := b.resources(args[0])
	if err != nil {
		return nil, err
	}
	names := args[1:]
	for _, name := range names {
		if strings.Contains(name, "/") {
			return nil, ErrMixed
		}
	}
	chosen := b.LabelSelector != "" || b.FieldSelector != "" || b.All
	switch {
	case len(names) > 0 && chosen:
		return nil, errNamed
	case len(names) == 0 && !s.Types && !chosen:
		return nil, fmt.Errorf("resource(s) were provided, but no name was specified")
	case len(names) > 0 && s.AnyScope:
		return nil, fmt.Errorf("a resource cannot be retrieved by name across all namespaces")
	}
	var out []*Info
	for _, m := range resources {
		if len(names) == 0 {
			out = append(out, &Info{Mapping: m, Namespace: b.NamespaceOf(m, s.AnyScope)})
		}
		for _, name := range names {
			out = append(out, &Info{Mapping: m, Namespace: b.NamespaceOf(m, false), Name: name})
		}
	}
	return out, nil
}

// slashed returns the objects that arguments such as pod/web name.
func (b *Builder) slashed(args []string) ([]*Info, error) {
	var out []*Info
	for _, a := range args {
		resource, name, ok := strings.Cut(a, "/")
		if !ok {
			return nil, ErrMixed
		}
		if strings.Contains(name, "/") {
			return nil, errors.New("arguments in resource/name form may not have more than one slash")
		}
		if resource == "" || name == "" {
			return nil, fmt.Errorf("arguments in resource/name form must have a single resource and name")
		}
		if b.LabelSelector != "" || b.All {
			return nil, errNamed
		}
		m, err := b.Find(resource)
		if err != nil {
			return nil, err
		}
		out = append(out, &Info{Mapping: m, Namespace: b.NamespaceOf(m, false), Name: name})
	}
	return out, nil
}

// resources returns the resources that an argument such as "pods,services" or "all" names.
func (b *Builder) resources(text string) ([]*Mapping, error) {
	var out []*Mapping
	for _, word := range strings.Split(text, ",") {
		list, err := b.Category(word)
		if err != nil {
			return nil, err
		}
		if len(list) == 0 {
			m, err := b.Find(word)
			if err != nil {
				return nil, err
			}
			list = []*Mapping{m}
		}
		out = append(out, list...)
	}
	return out, nil
}

// NamespaceOf returns the namespace in which to search for objects of a resource, or "" for all namespaces.
func (b *Builder) NamespaceOf(m *Mapping, everywhere bool) string {
	if !m.Namespaced || everywhere {
		return ""
	}
	return b.Namespace
}

// Objects returns infos with their objects, which it reads from the server. It replaces an info without a name with one info for
// each object that the selectors match. errs contains an error for each object that cannot be read.
func (b *Builder) Objects(infos []*Info) (out []*Info, errs []error) {
	for _, info := range infos {
		switch {
		case info.Err != nil:
			errs = append(errs, info.Err)
		case info.Name != "":
			obj, err := b.Get(info.Path(), nil)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			read := *info
			read.Object = obj
			out = append(out, &read)
		default:
			list, err := b.Listed(info)
			if err != nil {
				errs = append(errs, err)
			}
			out = append(out, list...)
		}
	}
	return out, errs
}

// Listed returns the objects of a resource that the selectors match, which it reads page by page.
func (b *Builder) Listed(info *Info) (out []*Info, err error) {
	next := ""
	for {
		list, err := b.Get(info.Mapping.Path(info.Namespace, ""), Query("limit", PageSize, "continue", next,
			"labelSelector", b.LabelSelector, "fieldSelector", b.FieldSelector))
		if err != nil {
			return nil, err
		}
		for _, obj := range list.Objects("items") {
			if obj.Kind() == "" {
				obj["kind"], obj["apiVersion"] = info.Mapping.Kind, info.Mapping.GroupVersion()
			}
			out = append(out, &Info{Mapping: info.Mapping, Namespace: obj.Namespace(), Name: obj.Name(), Object: obj})
		}
		if next = list.String("metadata", "continue"); next == "" {
			return out, nil
		}
	}
}

// One returns the single object that arguments name, as TYPE NAME or as TYPE/NAME, and reads it from the server. It returns an
// error if the object cannot be read.
func (b *Builder) One(args []string) (*Info, error) {
	list, err := b.Infos(args, Selection{})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errNothing
	}
	found, errs := b.Objects(list[:1])
	if len(errs) > 0 {
		return nil, errs[0]
	}
	return found[0], nil
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
