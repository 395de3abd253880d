package crds

import (
	"strings"
	"testing"

	"github.com/matryer/is"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// Every published CRD of a project is accepted unchanged, its samples are created, and its invalid samples are rejected.
func TestProjects(t *testing.T) {
	t.Parallel()
	for _, p := range projects {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			c := install(t, p)
			checkInstalled(t, p, c)
			checkSamples(t, p, c)
			checkInvalid(t, p, c)
		})
	}
}

// checkInstalled checks that every CRD is established and that all of its versions are served.
func checkInstalled(t *testing.T, p project, c *cluster) {
	is := is.New(t)
	list, err := c.client.Resource(definitionsGVR).List(t.Context(), metav1.ListOptions{})
	is.NoErr(err)
	is.Equal(len(list.Items), p.count) // none was overlooked
	for _, d := range list.Items {
		is.Equal(condition(&d, "NamesAccepted"), "True")
		is.Equal(condition(&d, "Established"), "True")
		is.Equal(condition(&d, "NonStructuralSchema"), "")
	}
	disco := discovery.NewDiscoveryClientForConfigOrDie(&rest.Config{Host: c.srv.URL(), Transport: c.srv.Transport(),
		QPS: -1})
	for kind, where := range c.kinds {
		resources, err := disco.ServerResourcesForGroupVersion(kind.GroupVersion().String())
		is.NoErr(err)
		found := false
		for _, r := range resources.APIResources {
			found = found || r.Kind == kind.Kind && r.Name == where.resource.Resource &&
				r.Namespaced == where.namespaced
		}
		is.True(found) // discovery names it
	}
}

// condition returns the status of a condition, or "" if it does not exist.
func condition(u *unstructured.Unstructured, kind string) string {
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, x := range conditions {
		if m := x.(map[string]any); m["type"] == kind {
			return m["status"].(string)
		}
	}
	return ""
}

// Gateway API's CRDs include a ValidatingAdmissionPolicy that prevents experimental CRDs from replacing those of the standard
// channel.
func TestPolicyGuardsUpgrades(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	standard, experimental := named(t, "gateway-api"), named(t, "gateway-api-experimental")
	kinds := []string{"BackendTLSPolicy", "GRPCRoute", "TCPRoute", "TLSRoute"}
	c := install(t, standard, kinds...)
	is.NoErr(c.srv.Load(files(t, moduleDir(t, standard.module), []string{"config/crd/standard/*vap*.yaml"})...))
	replace := func(d document) error {
		current, err := c.client.Resource(definitionsGVR).Get(t.Context(), d.object.GetName(), metav1.GetOptions{})
		is.NoErr(err)
		d.object.SetResourceVersion(current.GetResourceVersion())
		_, err = c.client.Resource(definitionsGVR).Update(t.Context(), d.object, metav1.UpdateOptions{})
		return err
	}
	for _, d := range definitions(t, standard, kinds...) {
		is.NoErr(replace(d)) // the same once more
	}
	refused := 0
	for _, d := range definitions(t, experimental, kinds...) {
		err := replace(d)
		is.True(apierrors.IsInvalid(err)) // the policy's reason
		is.True(strings.Contains(err.Error(),
			"Installing experimental CRDs on top of standard channel CRDs is prohibited"))
		refused++
	}
	is.Equal(refused, len(kinds))

	old := definitions(t, standard, kinds...)[0]
	annotations := old.object.GetAnnotations()
	annotations["gateway.networking.k8s.io/bundle-version"] = "v0.8.1"
	old.object.SetAnnotations(annotations)
	err := replace(old)
	is.True(err != nil && strings.Contains(err.Error(), "Installing CRDs with version before v1.5.0 is prohibited"))
}
