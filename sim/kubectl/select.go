package kubectl

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// target is one thing that a command is about: an object by its name or of a file, or, without a name, all of a resource.
type target struct {
	m         *mapping
	namespace string
	name      string
	source    string        // the file that it comes from, "" if it was named
	obj       object.Object // of a file, or as it was read; nil: not yet
	err       error         // why it cannot be had
}

// refer is how lines speak of an object: deployment.apps/web.
func (t *target) refer() string { return t.m.named() + "/" + t.name }

// path returns where the target is.
func (t *target) path() string { return t.m.path(t.namespace, t.name) }

// selection says what a command takes its targets from.
type selection struct {
	types    bool // resources alone, without names, mean all of them
	anyScope bool // -A
}

// errNothing is the error of a command that was not told what it is about.
var errNothing = plainError(`You must provide one or more resources by argument or filename.
Example resource specifications include:
   '-f rsrc.yaml'
   '--filename=rsrc.json'
   '<resource> <name>'
   '<resource>'`)

// errMixed is the error about arguments of which some have a slash and some have not.
var errMixed = plainError("there is no need to specify a resource type as a separate argument when passing arguments in " +
	"resource/name form (e.g. 'kubectl get resource/<resource_name>' instead of 'kubectl get resource resource/<resource_name>'")

// targets returns what arguments and files name (resource.Builder).
func (c *call) targets(args []string, s selection) ([]*target, error) {
	if files := c.list("filename"); len(files) > 0 || c.given("kustomize") {
		if len(args) > 0 {
			return nil, fmt.Errorf("when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well")
		}
		return c.fromFiles()
	}
	if len(args) == 0 {
		return nil, errNothing
	}
	if c.on("all") && c.given("selector") {
		return nil, fmt.Errorf("setting 'all' parameter but found a non empty selector. ")
	}
	if strings.Contains(args[0], "/") {
		return c.slashed(args)
	}
	resources, err := c.resourcesOf(args[0])
	if err != nil {
		return nil, err
	}
	names := args[1:]
	for _, name := range names {
		if strings.Contains(name, "/") {
			return nil, errMixed
		}
	}
	chosen := c.given("selector") || c.given("field-selector") || c.on("all")
	switch {
	case len(names) > 0 && chosen:
		return nil, fmt.Errorf("name cannot be provided when a selector is specified")
	case len(names) == 0 && !s.types && !chosen:
		return nil, fmt.Errorf("resource(s) were provided, but no name was specified")
	case len(names) > 0 && s.anyScope:
		return nil, fmt.Errorf("a resource cannot be retrieved by name across all namespaces")
	}
	var out []*target
	for _, m := range resources {
		if len(names) == 0 {
			out = append(out, &target{m: m, namespace: c.namespaceOf(m, s.anyScope)})
		}
		for _, name := range names {
			out = append(out, &target{m: m, namespace: c.namespaceOf(m, false), name: name})
		}
	}
	return out, nil
}

// slashed returns the targets of arguments such as pod/web.
func (c *call) slashed(args []string) ([]*target, error) {
	var out []*target
	for _, a := range args {
		resource, name, ok := strings.Cut(a, "/")
		if !ok {
			return nil, errMixed
		}
		if resource == "" || name == "" || strings.Contains(name, "/") {
			return nil, fmt.Errorf("arguments in resource/name form must have a single resource and name")
		}
		if c.given("selector") || c.on("all") {
			return nil, fmt.Errorf("name cannot be provided when a selector is specified")
		}
		m, err := c.find(resource)
		if err != nil {
			return nil, err
		}
		out = append(out, &target{m: m, namespace: c.namespaceOf(m, false), name: name})
	}
	return out, nil
}

// resourcesOf returns what a word such as pods,services or all names.
func (c *call) resourcesOf(text string) ([]*mapping, error) {
	var out []*mapping
	for _, word := range strings.Split(text, ",") {
		list, err := c.category(word)
		if err != nil {
			return nil, err
		}
		if len(list) == 0 {
			m, err := c.find(word)
			if err != nil {
				return nil, err
			}
			list = []*mapping{m}
		}
		out = append(out, list...)
	}
	return out, nil
}

// namespace returns that of the flag or of the context.
func (c *call) namespace() string {
	if n := c.text("namespace"); n != "" {
		return n
	}
	return c.Config.namespace(c.text("context"))
}

// namespaceOf returns where a resource is looked for.
func (c *call) namespaceOf(m *mapping, everywhere bool) string {
	if !m.namespaced || everywhere {
		return ""
	}
	return c.namespace()
}

// objects returns the targets with their objects: those without a name become all that the selectors let through. What
// cannot be read is among the errors.
func (c *call) objects(targets []*target) (out []*target, errs []error) {
	for _, t := range targets {
		switch {
		case t.err != nil:
			errs = append(errs, t.err)
		case t.name != "":
			obj, err := c.get(t.path(), nil)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			read := *t
			read.obj = obj
			out = append(out, &read)
		default:
			list, err := c.listed(t)
			if err != nil {
				errs = append(errs, err)
			}
			out = append(out, list...)
		}
	}
	return out, errs
}

// pageSize is how many objects one request asks for.
const pageSize = "500"

// listed returns the objects of a target without a name.
func (c *call) listed(t *target) (out []*target, err error) {
	next := ""
	for {
		list, err := c.get(t.m.path(t.namespace, ""), query("limit", pageSize, "continue", next,
			"labelSelector", c.text("selector"), "fieldSelector", c.text("field-selector")))
		if err != nil {
			return nil, err
		}
		for _, obj := range list.Objects("items") {
			if obj.Kind() == "" {
				obj["kind"], obj["apiVersion"] = t.m.kind, t.m.gv()
			}
			out = append(out, &target{m: t.m, namespace: obj.Namespace(), name: obj.Name(), obj: obj})
		}
		if next = list.String("metadata", "continue"); next == "" {
			return out, nil
		}
	}
}

// one returns the object of a type and a name, or of TYPE/NAME.
func (c *call) one(args []string) (*target, error) {
	list, err := c.targets(args, selection{})
	if err != nil {
		return nil, err
	}
	found, errs := c.objects(list[:1])
	if err := together(errs); err != nil {
		return nil, err
	}
	return found[0], nil
}
