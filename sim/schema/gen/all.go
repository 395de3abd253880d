package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	admissionregistrationv1alpha1 "k8s.io/api/admissionregistration/v1alpha1"
	admissionregistrationv1beta1 "k8s.io/api/admissionregistration/v1beta1"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	certificatesv1alpha1 "k8s.io/api/certificates/v1alpha1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	networkingv1beta1 "k8s.io/api/networking/v1beta1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	storagev1alpha1 "k8s.io/api/storage/v1alpha1"
	storagev1beta1 "k8s.io/api/storage/v1beta1"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubesim/kubesim/sim/schema"
)

// offRegistrations register the kinds of the versions that servers do not serve by default.
var offRegistrations = []registration{
	admissionregistrationv1alpha1.AddToScheme, admissionregistrationv1beta1.AddToScheme, apiserverinternalv1alpha1.AddToScheme,
	certificatesv1alpha1.AddToScheme, certificatesv1beta1.AddToScheme, coordinationv1alpha2.AddToScheme,
	coordinationv1beta1.AddToScheme, networkingv1beta1.AddToScheme, resourcev1alpha3.AddToScheme, resourcev1beta1.AddToScheme,
	resourcev1beta2.AddToScheme, storagev1alpha1.AddToScheme, storagev1beta1.AddToScheme,
}

// offDocs is moreDocs for the kinds of these versions.
var offDocs = []swagger{resourcev1.DeviceTaint{}}

// readAll reads all-MINOR.json.gz, the discovery data and the further published types of a server that serves all versions. pub are
// the types of the default versions.
func readAll(dir, minor string, pub *published) (*published, *served, error) {
	var file struct {
		published
		API, APIs apidiscoveryv2.APIGroupDiscoveryList
	}
	if err := readJSON(filepath.Join(dir, "all-"+minor+".json.gz"), &file); err != nil {
		return nil, nil, err
	}
	all := &published{Kubernetes: file.Kubernetes, Schemas: maps.Clone(pub.Schemas)}
	maps.Copy(all.Schemas, file.Schemas)
	s, err := newServed(minor, file.API.Items, file.APIs.Items)
	if err != nil {
		return nil, nil, err
	}
	def, err := readServed(dir, minor, pub)
	if err != nil {
		return nil, nil, err
	}
	for i := range s.resources {
		r := &s.resources[i]
		r.Off = !slices.ContainsFunc(def.resources, func(o schema.Resource) bool { return o.GVK == r.GVK && o.Resource == r.Resource })
	}
	return all, s, nil
}

// nameStable adds the descriptions of kinds without a stable version under the names that their types will have in v1, because the
// columns of a kind refer to v1.
func (s *served) nameStable(docs map[string]map[string]string) {
	for _, r := range s.resources {
		if !r.Off || schema.CompareVersions(r.Storage.Version, "v1beta1") > 0 {
			continue
		}
		for _, name := range sortedKeys(docs) {
			before, after, _ := strings.Cut(name, "."+r.Version+".")
			if stable := before + ".v1." + after; docs[stable] == nil && (after == r.Kind || after == r.Kind+"Spec" || after == r.Kind+"Status") {
				docs[stable] = docs[name]
			}
		}
	}
}

// complete sets the storage versions, which all versions of a resource share, and the warnings of deprecated versions.
func (s *served) complete(w *walk, minor string) error {
	preferred := map[string]schema.GVK{}
	for i := range s.resources {
		r := &s.resources[i]
		name := r.Resource + "." + r.Group
		if p, ok := preferred[name]; !ok || schema.CompareVersions(r.Version, p.Version) > 0 {
			preferred[name] = r.GVK
		}
	}
	for i := range s.resources {
		r := &s.resources[i]
		if r.Storage.Kind != "" {
			r.Storage = preferred[r.Resource+"."+r.Group]
			if other, ok := s.stored[r.Storage]; ok {
				r.Storage = other
			}
		}
		t := w.kinds[r.GVK]
		if t == nil {
			return fmt.Errorf("no Go type for %s: register its package in offRegistrations", r.GVK)
		}
		if r.Off {
			r.Deprecated = deprecation(r.GVK, w.goTypes[t.Name], minor)
		}
	}
	return nil
}

// deprecation returns the warning for requests with a kind, or "" if its version is not deprecated in a minor version.
func deprecation(gvk schema.GVK, t reflect.Type, minor string) string {
	type release interface{ APILifecycleDeprecated() (int, int) }
	type end interface{ APILifecycleRemoved() (int, int) }
	type replaced interface {
		APILifecycleReplacement() runtimeschema.GroupVersionKind
	}
	v := reflect.New(t).Interface()
	d, ok := v.(release)
	if !ok {
		return ""
	}
	major, n := d.APILifecycleDeprecated()
	var at int
	if _, err := fmt.Sscanf(minor, "1.%d", &at); err != nil || major == 0 || n > at {
		return ""
	}
	text := fmt.Sprintf("%s %s is deprecated in v%d.%d+", gvk.GV(), gvk.Kind, major, n)
	if e, ok := v.(end); ok {
		if major, n = e.APILifecycleRemoved(); major != 0 {
			text += fmt.Sprintf(", unavailable in v%d.%d+", major, n)
		}
	}
	if p, ok := v.(replaced); ok {
		if k := schema.GVK(p.APILifecycleReplacement()); k.Kind != "" {
			text += fmt.Sprintf("; use %s %s", k.GV(), k.Kind)
		}
	}
	return text
}
