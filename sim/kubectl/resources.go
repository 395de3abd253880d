package kubectl

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// mapping is a resource as discovery describes it (meta.RESTMapping).
type mapping struct {
	group, version string
	resource, kind string
	singular       string
	short          []string
	categories     []string
	verbs          []string
	namespaced     bool
	scalable       bool // it has a subresource scale
}

// gv returns the group and version as apiVersion has them.
func (m *mapping) gv() string {
	if m.group == "" {
		return m.version
	}
	return m.group + "/" + m.version
}

// plural is the name by which errors of the server speak of it: deployments.apps.
func (m *mapping) plural() string { return joinGroup(m.resource, m.group) }

// named is how a line about an object begins: deployment.apps.
func (m *mapping) named() string { return joinGroup(strings.ToLower(m.kind), m.group) }

func joinGroup(name, group string) string {
	if group == "" {
		return name
	}
	return name + "." + group
}

// path returns where the resource is, or one of its objects.
func (m *mapping) path(namespace, name string) string {
	path := "/apis/" + m.gv()
	if m.group == "" {
		path = "/api/" + m.version
	}
	if m.namespaced && namespace != "" {
		path += "/namespaces/" + namespace
	}
	path += "/" + m.resource
	if name != "" {
		path += "/" + name
	}
	return path
}

// is reports whether it is the resource of a name and group.
func (m *mapping) is(resource, group string) bool { return m.resource == resource && m.group == group }

// served is what a server serves: the preferred version of each group comes before its others.
type served struct {
	all      []*mapping
	versions []string // apiVersions
}

// aggregated is the Accept header for discovery in one document (API concepts, "Aggregated discovery").
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// discover asks the server what it serves, unless it is known.
func (c *call) discover() (*served, error) {
	if c.served != nil {
		return c.served, nil
	}
	s := &served{}
	for _, path := range []string{"/api", "/apis"} {
		r := c.request(wire.MethodGet, path, nil, "", nil)
		r.Header["Accept"] = []string{aggregated}
		list, err := c.ask(r)
		if err != nil {
			return nil, err
		}
		for _, g := range list.Objects("items") {
			s.addGroup(g)
		}
	}
	slices.Sort(s.versions)
	c.served = s
	return s, nil
}

func (s *served) addGroup(g object.Object) {
	for _, v := range g.Objects("versions") {
		version := v.String("version")
		gv := strings.TrimPrefix(g.Name()+"/"+version, "/")
		s.versions = append(s.versions, gv)
		for _, r := range v.Objects("resources") {
			m := &mapping{group: g.Name(), version: version, resource: r.String("resource"), kind: r.String("responseKind", "kind"),
				singular: r.String("singularResource"), short: r.Strings("shortNames"), categories: r.Strings("categories"),
				verbs: r.Strings("verbs"), namespaced: r.String("scope") == "Namespaced"}
			for _, sub := range r.Objects("subresources") {
				m.scalable = m.scalable || sub.String("subresource") == "scale"
			}
			s.all = append(s.all, m)
		}
	}
}

// errNoType is that of a resource that is not served.
func errNoType(name string) error {
	return fmt.Errorf("the server doesn't have a resource type %q", name)
}

// find returns the resource that a word names: pods, po, pod, deployments.apps, deployments.v1.apps. What is not known is
// asked for again once: it may have been defined since.
func (c *call) find(text string) (*mapping, error) {
	for range 2 {
		fresh := c.served == nil
		s, err := c.discover()
		if err != nil {
			return nil, err
		}
		if m := s.find(strings.ToLower(text)); m != nil {
			return m, nil
		}
		if fresh {
			break
		}
		c.served = nil
	}
	name, _, _ := strings.Cut(text, ".")
	return nil, errNoType(name)
}

func (s *served) find(text string) *mapping {
	name, rest, qualified := strings.Cut(text, ".")
	for _, by := range []func(*mapping) bool{
		func(m *mapping) bool { return m.resource == name || m.singular == name },
		func(m *mapping) bool { return slices.Contains(m.short, name) },
		func(m *mapping) bool { return strings.ToLower(m.kind) == name },
	} {
		for _, m := range s.all {
			if by(m) && (!qualified || rest == m.group || m.group != "" && rest == m.version+"."+m.group) {
				return m
			}
		}
	}
	if !qualified {
		return nil
	}
	for _, m := range s.all { // a group may be cut short
		if (m.resource == name || m.singular == name) && strings.HasPrefix(m.group, rest+".") {
			return m
		}
	}
	return nil
}

// ofKind returns the resource of an object's kind.
func (c *call) ofKind(obj object.Object) (*mapping, error) {
	for range 2 {
		fresh := c.served == nil
		s, err := c.discover()
		if err != nil {
			return nil, err
		}
		for _, m := range s.all {
			if m.kind == obj.Kind() && m.gv() == obj.APIVersion() {
				return m, nil
			}
		}
		if fresh {
			break
		}
		c.served = nil
	}
	return nil, fmt.Errorf("no matches for kind %q in version %q", obj.Kind(), obj.APIVersion())
}

// category returns the resources of a category such as all.
func (c *call) category(name string) ([]*mapping, error) {
	s, err := c.discover()
	if err != nil {
		return nil, err
	}
	var out []*mapping
	for _, m := range s.all {
		known := slices.ContainsFunc(out, func(o *mapping) bool { return o.is(m.resource, m.group) })
		if slices.Contains(m.categories, name) && !known {
			out = append(out, m)
		}
	}
	return out, nil
}

// query makes parameters of names and values; those without a value are left out.
func query(pairs ...string) url.Values {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return q
}
