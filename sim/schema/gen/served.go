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

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubesim/kubesim/sim/schema"
)

// served is the set of resources that a default API server serves.
type served struct {
	groups    []schema.Group
	resources []schema.Resource
	stored    map[schema.GVK]schema.GVK
}

// readServed reads default-MINOR.json.gz, the discovery data of a default server. If a minor version has no such file,
// readServed uses the discovery data in the published file.
func readServed(dir, minor string, pub *published) (*served, error) {
	var file struct {
		API, APIs apidiscoveryv2.APIGroupDiscoveryList
	}
	err := readJSON(filepath.Join(dir, "default-"+minor+".json.gz"), &file)
	if errors.Is(err, fs.ErrNotExist) {
		file.API.Items = []apidiscoveryv2.APIGroupDiscovery{aggregate(pub.Discovery.Core)}
		file.APIs.Items = pub.Discovery.APIs
	} else if err != nil {
		return nil, err
	}
	return newServed(minor, file.API.Items, file.APIs.Items)
}

// newServed returns the resources in aggregated discovery data of the core group and of the other groups.
func newServed(minor string, core, groups []apidiscoveryv2.APIGroupDiscovery) (*served, error) {
	if len(core) != 1 || len(groups) == 0 {
		return nil, fmt.Errorf("discovery of %s: %d core groups, %d groups", minor, len(core), len(groups))
	}
	release, ok := schema.ReleaseOf(minor)
	if !ok {
		return nil, fmt.Errorf("schema.Releases has no row for %s", minor)
	}
	out := &served{stored: release.Stored}
	out.add(core[0])
	for _, g := range groups {
		group := schema.Group{Name: g.Name}
		for _, v := range g.Versions {
			group.Versions = append(group.Versions, v.Version)
		}
		out.groups = append(out.groups, group)
		out.add(g)
	}
	return out, nil
}

// aggregate converts the /api/v1 document to the aggregated form.
func aggregate(core metav1.APIResourceList) apidiscoveryv2.APIGroupDiscovery {
	var rows []apidiscoveryv2.APIResourceDiscovery
	for _, r := range core.APIResources {
		kind := &metav1.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
		parent, sub, isSub := strings.Cut(r.Name, "/")
		if !isSub {
			scope := apidiscoveryv2.ScopeCluster
			if r.Namespaced {
				scope = apidiscoveryv2.ScopeNamespace
			}
			rows = append(rows, apidiscoveryv2.APIResourceDiscovery{
				Resource: r.Name, Scope: scope, ResponseKind: kind, SingularResource: r.SingularName,
				Verbs: r.Verbs, ShortNames: r.ShortNames, Categories: r.Categories,
			})
			continue
		}
		i := slices.IndexFunc(rows, func(o apidiscoveryv2.APIResourceDiscovery) bool { return o.Resource == parent })
		rows[i].Subresources = append(rows[i].Subresources,
			apidiscoveryv2.APISubresourceDiscovery{Subresource: sub, ResponseKind: kind, Verbs: r.Verbs})
	}
	return apidiscoveryv2.APIGroupDiscovery{Versions: []apidiscoveryv2.APIVersionDiscovery{{Version: "v1", Resources: rows}}}
}

// add appends the resources of a group, ordered by version and sorted by resource.
func (s *served) add(g apidiscoveryv2.APIGroupDiscovery) {
	for _, v := range g.Versions {
		own := func(k *metav1.GroupVersionKind) schema.GVK {
			if k.Version == "" {
				return schema.GVK{Group: g.Name, Version: v.Version, Kind: k.Kind}
			}
			return schema.GVK(*k)
		}
		sort.Slice(v.Resources, func(i, j int) bool { return v.Resources[i].Resource < v.Resources[j].Resource })
		for _, r := range v.Resources {
			row := schema.Resource{
				GVK: own(r.ResponseKind), Resource: r.Resource, Singular: r.SingularResource,
				ShortNames: r.ShortNames, Categories: r.Categories, Namespaced: r.Scope == apidiscoveryv2.ScopeNamespace,
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

// compact returns JSON without whitespace, or "" if text is empty.
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
