package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/kubesim/kubesim/sim/schema"
)

// served is what a default API server serves.
type served struct {
	groups    []schema.Group
	resources []schema.Resource
	stored    map[schema.GVK]schema.GVK
}

// discoveryGroup is an item of an APIGroupDiscoveryList (apidiscovery.k8s.io/v2), as far as gen needs it.
type discoveryGroup struct {
	Metadata struct{ Name string }
	Versions []discoveryVersion
}

type discoveryVersion struct {
	Version   string
	Resources []discoveryResource
}

type discoveryResource struct {
	Resource, Scope  string
	ResponseKind     schema.GVK
	SingularResource string
	Verbs            []string
	ShortNames       []string
	Categories       []string
	Subresources     []discoverySubresource
}

type discoverySubresource struct {
	Subresource  string
	ResponseKind schema.GVK
	Verbs        []string
}

// apiResourceList is the /api/v1 document.
type apiResourceList struct {
	Resources []struct {
		Name, SingularName   string
		Group, Version, Kind string
		Namespaced           bool
		Verbs                []string
		ShortNames           []string
		Categories           []string
	}
}

// readServed reads default-MINOR.json.gz, what a default server answered, or for a minor without one the
// discovery part of the published file.
func readServed(dir, minor string, pub *published) (*served, error) {
	var file struct {
		API, APIs struct{ Items []discoveryGroup }
	}
	err := readJSON(filepath.Join(dir, "default-"+minor+".json.gz"), &file)
	if errors.Is(err, fs.ErrNotExist) {
		file.API.Items = []discoveryGroup{pub.Discovery.Core.group()}
		file.APIs.Items = pub.Discovery.APIs
	} else if err != nil {
		return nil, err
	}
	if len(file.API.Items) != 1 || len(file.APIs.Items) == 0 {
		return nil, fmt.Errorf("discovery of %s: %d core groups, %d groups", minor, len(file.API.Items), len(file.APIs.Items))
	}
	release, ok := schema.ReleaseOf(minor)
	if !ok {
		return nil, fmt.Errorf("schema.Releases has no row for %s", minor)
	}
	out := &served{stored: release.Stored}
	out.add(file.API.Items[0])
	for _, g := range file.APIs.Items {
		group := schema.Group{Name: g.Metadata.Name}
		for _, v := range g.Versions {
			group.Versions = append(group.Versions, v.Version)
		}
		out.groups = append(out.groups, group)
		out.add(g)
	}
	return out, nil
}

// group turns the /api/v1 document into the aggregated form.
func (l apiResourceList) group() discoveryGroup {
	var rows []discoveryResource
	for _, r := range l.Resources {
		kind := schema.GVK{Group: r.Group, Version: r.Version, Kind: r.Kind}
		parent, sub, isSub := strings.Cut(r.Name, "/")
		if !isSub {
			scope := "Cluster"
			if r.Namespaced {
				scope = "Namespaced"
			}
			rows = append(rows, discoveryResource{
				Resource: r.Name, Scope: scope, ResponseKind: kind, SingularResource: r.SingularName,
				Verbs: r.Verbs, ShortNames: r.ShortNames, Categories: r.Categories,
			})
			continue
		}
		i := slices.IndexFunc(rows, func(o discoveryResource) bool { return o.Resource == parent })
		rows[i].Subresources = append(rows[i].Subresources, discoverySubresource{sub, kind, r.Verbs})
	}
	return discoveryGroup{Versions: []discoveryVersion{{"v1", rows}}}
}

// add appends the resources of a group, each version sorted by resource.
func (s *served) add(g discoveryGroup) {
	for _, v := range g.Versions {
		own := func(k schema.GVK) schema.GVK {
			if k.Version == "" {
				k.Group, k.Version = g.Metadata.Name, v.Version
			}
			return k
		}
		sort.Slice(v.Resources, func(i, j int) bool { return v.Resources[i].Resource < v.Resources[j].Resource })
		for _, r := range v.Resources {
			row := schema.Resource{
				GVK: own(r.ResponseKind), Resource: r.Resource, Singular: r.SingularResource,
				ShortNames: r.ShortNames, Categories: r.Categories, Namespaced: r.Scope == "Namespaced",
				Verbs: slices.Sorted(slices.Values(r.Verbs)),
			}
			if slices.Contains(r.Verbs, "watch") {
				row.Storage = row.GVK
				if other, ok := s.stored[row.GVK]; ok {
					row.Storage = other
				}
			}
			for _, sub := range r.Subresources {
				row.Subresources = append(row.Subresources, schema.Subresource{
					Name: sub.Subresource, GVK: own(sub.ResponseKind), Verbs: slices.Sorted(slices.Values(sub.Verbs)),
				})
			}
			sort.Slice(row.Subresources, func(i, j int) bool { return row.Subresources[i].Name < row.Subresources[j].Name })
			s.resources = append(s.resources, row)
		}
	}
}

// compact returns JSON without white space; "" for none.
func compact(text json.RawMessage) string {
	if len(text) == 0 {
		return ""
	}
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		panic("gen: JSON that was read before is broken: " + err.Error())
	}
	return b.String()
}
