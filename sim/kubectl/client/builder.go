package client

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
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
	Typed            bool // objects must be of a built-in kind (Builder.WithScheme)
}

// Unlinked ends the errors about parts of kubectl that a build with the tag nocel does not have.
const Unlinked = " (build tag nocel)"

// Selection specifies how a command's arguments may select objects.
type Selection struct {
	Types       bool // a resource without names selects all its objects
	AnyScope    bool // --all-namespaces
	Subresource bool // --subresource: only objects with names may be selected
	Strict      bool // --all contradicts names and selectors (Builder.SelectAllParam)
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
	chosen := b.LabelSelector != "" || b.FieldSelector != ""
	if b.All && s.Strict && chosen {
		return nil, fmt.Errorf("setting 'all' parameter but found a non empty selector. ")
	}
	args = eachOf(args)
	switch slashes := count(args, func(a string) bool { return strings.Contains(a, "/") }); slashes {
	case 0:
	case len(args):
		return b.slashed(args, s)
	default:
		return nil, ErrMixed
	}
	names := args[1:]
	switch {
	case len(names) > 0 && (chosen || b.All && s.Strict):
		return nil, fmt.Errorf("name cannot be provided when a selector is specified")
	case len(names) == 0 && s.Subresource:
		return nil, fmt.Errorf("subresource cannot be used when bulk resources are specified")
	}
	resources, err := b.resources(args[0])
	switch {
	case err != nil:
		return nil, err
	case len(names) == 0 && !s.Types && !chosen && !b.All:
		return nil, fmt.Errorf("resource(s) were provided, but no name was specified")
	case len(names) > 0 && len(resources) > 1:
		return nil, fmt.Errorf("you must specify only one resource")
	}
	var out []*Info
	for _, m := range resources {
		if len(names) == 0 {
			out = append(out, &Info{Mapping: m, Namespace: b.NamespaceOf(m, s.AnyScope)})
		}
		for _, name := range names {
			info, err := b.named(m, name, s)
			if err != nil {
				return nil, err
			}
			out = append(out, info)
		}
	}
	return out, nil
}

// eachOf returns arguments such as "deploy,svc web" as deploy/web and svc/web, and others unchanged.
func eachOf(args []string) []string {
	resources := strings.Split(args[0], ",")
	if len(args) == 1 || len(resources) == 1 {
		return args
	}
	var out []string
	for _, resource := range resources {
		for _, name := range args[1:] {
			out = append(out, resource+"/"+name)
		}
	}
	return out
}

func count(args []string, f func(string) bool) (n int) {
	for _, a := range args {
		if f(a) {
			n++
		}
	}
	return n
}

// slashed returns the objects that arguments such as pod/web name.
func (b *Builder) slashed(args []string, s Selection) (out []*Info, err error) {
	for _, a := range args {
		resource, name, _ := strings.Cut(a, "/")
		if strings.Contains(name, "/") {
			return nil, errors.New("arguments in resource/name form may not have more than one slash")
		}
		if resource == "" || name == "" || strings.Contains(resource, ",") {
			return nil, fmt.Errorf("arguments in resource/name form must have a single resource and name")
		}
	}
	if b.LabelSelector != "" || b.FieldSelector != "" || b.All && s.Strict {
		return nil, fmt.Errorf("selectors and the all flag cannot be used when passing resource/name arguments")
	}
	for _, a := range args {
		resource, name, _ := strings.Cut(a, "/")
		m, err := b.Find(resource)
		if err != nil {
			return nil, err
		}
		info, err := b.named(m, name, s)
		if err != nil {
			return nil, err
		}
		out = append(out, info)
	}
	return out, nil
}

// named returns the object of a resource with a name. It returns an error if the command line has --all-namespaces, and the resource
// has namespaces.
func (b *Builder) named(m *Mapping, name string, s Selection) (*Info, error) {
	if m.Namespaced && s.AnyScope {
		return nil, fmt.Errorf("a resource cannot be retrieved by name across all namespaces")
	}
	return &Info{Mapping: m, Namespace: b.NamespaceOf(m, false), Name: name}, nil
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
		for _, m := range list {
			if !slices.ContainsFunc(out, func(o *Mapping) bool { return o.GroupVersionResource() == m.GroupVersionResource() }) {
				out = append(out, m)
			}
		}
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
			if err == nil {
				err = b.checkKind(info.Mapping, obj)
			}
			if err != nil {
				errs = append(errs, b.GetError(err, info))
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

// checkKind returns an error if b.Typed is set and the object is a custom resource.
func (b *Builder) checkKind(m *Mapping, obj object.Object) error {
	if b.Typed && TypeOf(obj) == nil {
		return fmt.Errorf("no kind %q is registered for version %q in scheme \"pkg/runtime/scheme.go:111\"", m.Kind, m.GroupVersion())
	}
	return nil
}

// Listed returns the objects of a resource that the selectors match, which it reads page by page.
func (b *Builder) Listed(info *Info) (out []*Info, err error) {
	next := ""
	for {
		list, err := b.Get(info.Mapping.Path(info.Namespace, ""), Query("limit", PageSize, "continue", next,
			"labelSelector", b.LabelSelector, "fieldSelector", b.FieldSelector))
		if err != nil {
			return nil, b.ListError(err, info.Mapping)
		}
		for _, obj := range list.Objects("items") {
			if obj.Kind() == "" {
				obj["kind"], obj["apiVersion"] = info.Mapping.Kind, info.Mapping.GroupVersion()
			}
			if err := b.checkKind(info.Mapping, obj); err != nil {
				return nil, err
			}
			out = append(out, &Info{Mapping: info.Mapping, Namespace: obj.Namespace(), Name: obj.Name(), Object: obj})
		}
		if next = list.String("metadata", "continue"); next == "" {
			return out, nil
		}
	}
}

// GetError returns the error of a read of a named object, or the error of a read of its namespace, if that does not exist either.
func (b *Builder) GetError(err error, info *Info) error {
	if IsNotFound(err) && info.Namespace != "" && info.Namespace != "default" {
		if _, missing := b.Get("/api/v1/namespaces/"+info.Namespace, nil); IsNotFound(missing) {
			return missing
		}
	}
	return err
}

// ListError returns an error of a list with the selectors in its text, if the server could not use the request.
func (b *Builder) ListError(err error, m *Mapping) error {
	if e, ok := err.(*StatusError); !ok || e.Reason != "BadRequest" && e.Reason != "NotFound" {
		return err
	}
	if b.LabelSelector == "" && b.FieldSelector == "" {
		return Wrap(err, "Unable to list %q", m.GroupVersionResource())
	}
	return Wrap(err, "Unable to find %q that match label selector %q, field selector %q", m.GroupVersionResource(), b.LabelSelector, b.FieldSelector)
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
