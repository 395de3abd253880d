package admission

import (
	"testing"

	"github.com/matryer/is"
)

func TestDefaultClasses(t *testing.T) {
	t.Parallel()
	class := func(name, mark, created string) string {
		return `{"metadata":{"name":"` + name + `","creationTimestamp":"` + created + `","annotations":{"` + mark + `":"true"}}}`
	}
	is := is.New(t)
	objects := stored{}.
		put(t, storageClasses, class("older", defaultStorage, "2020-01-01T00:00:00Z"), class("newer", defaultStorageBeta, "2021-01-01T00:00:00Z"),
			class("other", defaultStorage, "2021-01-01T00:00:00Z"), `{"metadata":{"name":"unmarked","creationTimestamp":"2022-01-01T00:00:00Z"}}`).
		put(t, ingressClasses, class("nginx", defaultIngress, "2020-01-01T00:00:00Z"))

	claim := parse(t, `{"metadata":{"name":"c"},"spec":{}}`)
	is.Equal(setStorageClass(write(claims, claim, nil, objects)), nil)
	is.Equal(claim.String("spec", "storageClassName"), "newer") // the newest default, or the alphabetically first of several

	for _, text := range []string{`{"metadata":{"name":"c"},"spec":{"storageClassName":""}}`,
		`{"metadata":{"name":"c","annotations":{"volume.beta.kubernetes.io/storage-class":"x"}},"spec":{}}`} {
		claim := parse(t, text)
		is.Equal(setStorageClass(write(claims, claim, nil, objects)), nil)
		is.Equal(claim.String("spec", "storageClassName"), "") // an explicit class or an explicit empty class is kept
	}

	ingress := parse(t, `{"metadata":{"name":"i"},"spec":{}}`)
	is.Equal(setIngressClass(write(ingresses, ingress, nil, stored{})), nil)
	is.Equal(ingress.String("spec", "ingressClassName"), "") // there is no default
	is.Equal(setIngressClass(write(ingresses, ingress, nil, objects)), nil)
	is.Equal(ingress.String("spec", "ingressClassName"), "nginx")
}

func TestStorageProtection(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	for _, tc := range []struct{ storage, want string }{
		{claims, `["kubernetes.io/pvc-protection"]`},
		{volumes, `["kubernetes.io/pv-protection"]`},
		{attributesClass, `["kubernetes.io/vac-protection"]`},
		{pods, `[]`},
	} {
		obj := parse(t, `{"metadata":{"name":"x"}}`)
		for range 2 {
			is.Equal(protectStorage(write(tc.storage, obj, nil, nil)), nil)
		}
		is.Equal(compact(obj.List("metadata", "finalizers")), tc.want)
	}
}

func TestClaimsGrow(t *testing.T) {
	t.Parallel()
	claim := func(size, class, phase string) string {
		return `{"metadata":{"name":"c"},"spec":{"storageClassName":"` + class + `","resources":{"requests":{"storage":"` + size +
			`"}}},"status":{"phase":"` + phase + `"}}`
	}
	const no = `persistentvolumeclaims "c" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize`
	for _, tc := range []struct{ name, old, obj, want string }{
		{"allowed", claim("1Gi", "yes", "Bound"), claim("2Gi", "yes", "Bound"), ``},
		{"the same", claim("1Gi", "no", "Bound"), claim("1024Mi", "no", "Bound"), ``},
		{"not allowed", claim("1Gi", "no", "Bound"), claim("2Gi", "no", "Bound"), no},
		{"without a class", claim("1Gi", "", "Bound"), claim("2Gi", "", "Bound"), no},
		{"of a class that is gone", claim("1Gi", "gone", "Bound"), claim("2Gi", "gone", "Bound"), no},
		{"unbound", claim("1Gi", "yes", "Pending"), claim("2Gi", "yes", "Pending"),
			`persistentvolumeclaims "c" is forbidden: Only bound persistent volume claims can be expanded`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			is := is.New(t)
			objects := stored{}.put(t, storageClasses, `{"metadata":{"name":"yes"},"allowVolumeExpansion":true}`, `{"metadata":{"name":"no"}}`)
			is.Equal(message(checkGrowth(write(claims, parse(t, tc.obj), parse(t, tc.old), objects))), tc.want)
		})
	}
}
