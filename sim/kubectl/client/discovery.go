package client

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// Mapping describes a resource, as discovered from the server (meta.RESTMapping).
type Mapping struct {
	Group, Version string
	Resource, Kind string
	Singular       string
	ShortNames     []string
	Categories     []string
	Verbs          []string
	Namespaced     bool
	Scalable       bool // has a scale subresource
}

// GroupVersion returns the group and version in the format of apiVersion.
func (m *Mapping) GroupVersion() string {
	if m.Group == "" {
		return m.Version
	}
	return m.Group + "/" + m.Version
}

// GroupResource returns the name that the server's errors use, such as deployments.apps.
func (m *Mapping) GroupResource() string { return JoinGroup(m.Resource, m.Group) }

// GroupKind returns the name that messages about an object use, such as deployment.apps.
func (m *Mapping) GroupKind() string { return JoinGroup(strings.ToLower(m.Kind), m.Group) }

// JoinGroup returns a name with its group. It omits the core group.
func JoinGroup(name, group string) string {
	if group == "" {
		return name
	}
	return name + "." + group
}

// GroupVersionResource returns the resource in the format of errors about requests.
func (m *Mapping) GroupVersionResource() string {
	return m.Group + "/" + m.Version + ", Resource=" + m.Resource
}

// Path returns the path of the resource, or of one of its objects.
func (m *Mapping) Path(namespace, name string) string {
	path := "/apis/" + m.GroupVersion()
	if m.Group == "" {
		path = "/api/" + m.Version
	}
	if m.Namespaced && namespace != "" {
		path += "/namespaces/" + namespace
	}
	path += "/" + m.Resource
	if name != "" {
		path += "/" + name
	}
	return path
}

// Is reports whether m is the resource with a name and group.
func (m *Mapping) Is(resource, group string) bool { return m.Resource == resource && m.Group == group }

// Discovery holds the resources that a server serves. In the zero value, they have not been discovered yet.
type Discovery struct {
	All      []*Mapping // within a group, the preferred version is first
	Versions []string   // apiVersions
}

// aggregated is the Accept header that requests all resources in one document (API concepts, "Aggregated discovery").
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// Discover returns the resources that the server serves. It caches them in c.Discovery.
func (c *Client) Discover() (*Discovery, error) {
	if len(c.Discovery.All) > 0 {
		return c.Discovery, nil
	}
	var d Discovery
	for _, path := range []string{"/api", "/apis"} {
		r := c.Request(wire.MethodGet, path, nil, "", nil)
		r.Header["Accept"] = []string{aggregated}
		list, err := c.Ask(r)
		if err != nil {
			return nil, err
		}
		for _, g := range list.Objects("items") {
			d.addGroup(g)
		}
	}
	slices.Sort(d.Versions)
	*c.Discovery = d
	return c.Discovery, nil
}

func (d *Discovery) addGroup(g object.Object) {
	for _, v := range g.Objects("versions") {
		version := v.String("version")
		gv := strings.TrimPrefix(g.Name()+"/"+version, "/")
		d.Versions = append(d.Versions, gv)
		for _, r := range v.Objects("resources") {
			m := &Mapping{Group: g.Name(), Version: version, Resource: r.String("resource"), Kind: r.String("responseKind", "kind"),
				Singular: r.String("singularResource"), ShortNames: r.Strings("shortNames"), Categories: r.Strings("categories"),
				Verbs: r.Strings("verbs"), Namespaced: r.String("scope") == "Namespaced"}
			for _, sub := range r.Objects("subresources") {
				m.Scalable = m.Scalable || sub.String("subresource") == "scale"
			}
			d.All = append(d.All, m)
		}
	}
}

// Find returns the resource that text names, such as pods, po, pod, deployments.apps or deployments.v1.apps. If there is none, it
// returns kubectl's error.
func (c *Client) Find(text string) (*Mapping, error) {
	m, err := c.lookUp(func(d *Discovery) *Mapping { return d.find(strings.ToLower(text)) })
	if m == nil && err == nil {
		name, _, _ := strings.Cut(text, ".")
		err = fmt.Errorf("the server doesn't have a resource type %q", name)
	}
	if m != nil && slices.Contains(m.ShortNames, text) && text != m.Resource && text != m.Singular {
		for _, o := range c.Discovery.All {
			if slices.Contains(o.ShortNames, text) && !o.Is(m.Resource, m.Group) {
				c.Warn(fmt.Sprintf("short name %q could also match lower priority resource %s", text, o.GroupResource()))
			}
		}
	}
	return m, err
}

// MappingFor returns the resource for an object's apiVersion and kind. If the server does not serve them, it returns kubectl's
// error.
func (c *Client) MappingFor(obj object.Object) (*Mapping, error) {
	m, err := c.lookUp(func(d *Discovery) *Mapping {
		for _, m := range d.All {
			if m.Kind == obj.Kind() && m.GroupVersion() == obj.APIVersion() {
				return m
			}
		}
		return nil
	})
	if m == nil && err == nil {
		err = fmt.Errorf("no matches for kind %q in version %q", obj.Kind(), obj.APIVersion())
	}
	return m, err
}

// lookUp returns the resource that the given function finds, or nil if the server does not serve it. If the function finds
// nothing in cached resources, lookUp runs discovery again, because the resource may have been added since.
func (c *Client) lookUp(by func(d *Discovery) *Mapping) (*Mapping, error) {
	for range 2 {
		fresh := len(c.Discovery.All) == 0
		d, err := c.Discover()
		if err != nil {
			return nil, err
		}
		if m := by(d); m != nil || fresh {
			return m, nil
		}
		*c.Discovery = Discovery{}
	}
	return nil, nil
}

func (d *Discovery) find(text string) *Mapping {
	name, rest, qualified := strings.Cut(text, ".")
	for _, by := range []func(*Mapping) bool{
		func(m *Mapping) bool { return m.Resource == name || m.Singular == name },
		func(m *Mapping) bool { return slices.Contains(m.ShortNames, name) },
		func(m *Mapping) bool { return strings.ToLower(m.Kind) == name },
	} {
		for _, m := range d.All {
			if by(m) && (!qualified || rest == m.Group || m.Group != "" && rest == m.Version+"."+m.Group) {
				return m
			}
		}
	}
	if !qualified {
		return nil
	}
	for _, m := range d.All { // the group may be abbreviated
		if (m.Resource == name || m.Singular == name) && strings.HasPrefix(m.Group, rest+".") {
			return m
		}
	}
	return nil
}

// Category returns the resources in a category such as all.
func (c *Client) Category(name string) ([]*Mapping, error) {
	d, err := c.Discover()
	if err != nil {
		return nil, err
	}
	var out []*Mapping
	for _, m := range d.All {
		known := slices.ContainsFunc(out, func(o *Mapping) bool { return o.Is(m.Resource, m.Group) })
		if slices.Contains(m.Categories, name) && !known {
			out = append(out, m)
		}
	}
	return out, nil
}
