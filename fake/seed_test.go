package fake_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/controller"
)

// Deployment replaces a type of k8s.io/api, which this module does not require.
type Deployment struct {
	Metadata map[string]any `json:"metadata"`
	Spec     map[string]any `json:"spec"`
	Status   map[string]any `json:"status"`
}

// TestSeed checks that Seed stores fields that no client can set, and fields that a server adds.
func TestSeed(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	_, srv, c := watched(t)
	template := map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "b"}}, "spec": map[string]any{"containers": []any{map[string]any{"name": "c", "image": "i"}}}}
	is.NoErr(srv.Seed(&Deployment{
		Metadata: map[string]any{"name": "web", "namespace": "shop", "uid": "1234", "resourceVersion": "7", "generation": 5,
			"creationTimestamp": "2020-01-01T00:00:00Z", "deletionTimestamp": "2021-01-01T00:00:00Z", "finalizers": []string{"example.com/wait"},
			"ownerReferences": []any{map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "99"}}},
		Spec:   map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"a": "b"}}, "template": template},
		Status: map[string]any{"readyReplicas": 1, "replicas": 1, "observedGeneration": 4},
	}))
	d := c.parse(second(c.do("GET", "/apis/apps/v1/namespaces/shop/deployments/web", "")))
	is.Equal(d.UID(), "1234")
	is.Equal(d.Generation(), int64(5))
	is.Equal(d.DeletionTimestamp(), "2021-01-01T00:00:00Z")
	is.Equal(d.String("metadata", "creationTimestamp"), "2020-01-01T00:00:00Z")
	is.Equal(d.Objects("metadata", "ownerReferences")[0].String("uid"), "99")
	is.Equal(d.Int64("status", "readyReplicas"), int64(1))
	is.Equal(d.Int64("status", "observedGeneration"), int64(4))
	is.Equal(d.Int64("spec", "replicas"), int64(1)) // a default
	is.True(d.ResourceVersion() != "7")             // the server assigns revisions

	code, _ := c.do("GET", "/api/v1/namespaces/shop", "")
	is.Equal(code, 200)
	c.mergePatch("/apis/apps/v1/namespaces/shop/deployments/web", `{"metadata":{"finalizers":null}}`)
	code, _ = c.do("GET", "/apis/apps/v1/namespaces/shop/deployments/web", "")
	is.Equal(code, 404) // it was being deleted, so removing the last finalizer deleted it

	is.NoErr(srv.Seed(map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p"},
		"spec": template["spec"], "status": map[string]any{"phase": "Failed", "reason": "Evicted"}}))
	p := c.parse(second(c.do("GET", podsPath+"/p", "")))
	is.Equal(p.String("status", "phase")+p.String("status", "reason"), "FailedEvicted")
	is.True(p.UID() != "")
}

// TestSeedCustom checks that a custom resource is seeded like any other object, in its apiVersion.
func TestSeedCustom(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	_, srv, c := watched(t)
	is.NoErr(srv.LoadData([]byte(siteCRD)))
	is.NoErr(srv.Seed(map[string]any{"apiVersion": "web.example.com/v1", "kind": "Site", "metadata": map[string]any{"name": "blog", "uid": "7"},
		"spec": map[string]any{"size": 3}, "status": map[string]any{"ready": true}}))
	site := c.parse(second(c.do("GET", "/apis/web.example.com/v1/namespaces/default/sites/blog", "")))
	is.Equal(site.UID(), "7")
	is.True(site.True("status", "ready"))
	is.Equal(site.Generation(), int64(1))
}

const siteCRD = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"sites.web.example.com"},
"spec":{"group":"web.example.com","scope":"Namespaced","names":{"plural":"sites","kind":"Site"},"versions":[{"name":"v1","served":true,"storage":true,
"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`

// TestSeedLive checks that a running Job, a Service with its address, a pod on a node and a terminating namespace are
// stored as they are, each in one commit. Watches see them once, with the given uids.
func TestSeedLive(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	_, srv, c := watched(t)
	before := srv.Revision()
	labels := map[string]any{"batch.kubernetes.io/controller-uid": "77", "controller-uid": "77", "batch.kubernetes.io/job-name": "j", "job-name": "j"}
	job := map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "j", "namespace": "default", "uid": "77", "generation": 1},
		"spec": map[string]any{"parallelism": 1, "completions": 1, "selector": map[string]any{"matchLabels": map[string]any{"batch.kubernetes.io/controller-uid": "77"}},
			"template": map[string]any{"metadata": map[string]any{"labels": labels},
				"spec": map[string]any{"restartPolicy": "Never", "containers": []any{map[string]any{"name": "c", "image": "i"}}}}},
		"status": map[string]any{"active": 1, "startTime": "2021-01-01T00:00:00Z"}}
	is.NoErr(srv.Seed(job))
	is.Equal(srv.Revision(), before+1) // one commit
	live := c.parse(second(c.do("GET", "/apis/batch/v1/namespaces/default/jobs/j", "")))
	is.Equal(live.UID(), "77")
	is.Equal(live.String("status", "startTime"), "2021-01-01T00:00:00Z")
	is.Equal(live.Map("spec", "template", "metadata", "labels"), labels)

	is.NoErr(srv.Seed(map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "leaving", "uid": "88",
		"deletionTimestamp": "2021-01-01T00:00:00Z"}, "spec": map[string]any{"finalizers": []string{"kubernetes"}}, "status": map[string]any{"phase": "Terminating"}}))
	is.NoErr(srv.Seed(map[string]any{"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "s"},
		"spec": map[string]any{"clusterIP": "10.0.0.77", "clusterIPs": []string{"10.0.0.77"}, "ports": []any{map[string]any{"port": 80}}}}))
	code, body := c.do("POST", "/api/v1/namespaces/default/services", `{"metadata":{"name":"t"},"spec":{"clusterIP":"10.0.0.77","ports":[{"port":80}]}}`)
	is.Equal(code, 422) // the address is already in use
	is.True(strings.Contains(body, "provided IP is already allocated"))
	is.NoErr(srv.Seed(map[string]any{"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "s", "labels": map[string]any{"a": "b"}}}))
	s := c.parse(second(c.do("GET", "/api/v1/namespaces/default/services/s", "")))
	is.Equal(s.String("spec", "clusterIP"), "10.0.0.77") // the fields are merged
	is.Equal(s.Labels(), map[string]string{"a": "b"})
}

// TestSeedIsOneEvent checks that a watch sees a seeded object once, in its complete state.
func TestSeedIsOneEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		c := inTime(t)
		w := c.watch("&resourceVersion=" + rev(c.srv.Revision()))
		is.NoErr(c.srv.Seed(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a", "uid": "5",
			"managedFields": []any{map[string]any{"manager": "m", "operation": "Update", "apiVersion": "v1", "time": "2021-01-01T00:00:00Z",
				"fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:data": map[string]any{}}}}}}))
		obj := w.must("ADDED")
		is.Equal(obj.UID(), "5")
		is.Equal(obj.Objects("metadata", "managedFields")[0].String("manager"), "m")
		c.create("b")
		is.Equal(w.must("ADDED").Name(), "b") // nothing in between
	})
}

func TestSeedErrors(t *testing.T) {
	t.Parallel()
	srv, err := fake.New()
	is.New(t).NoErr(err)
	defer srv.Close()
	meta := func(more string) map[string]any {
		m := map[string]any{"name": "a"}
		if more != "" {
			m[more] = "2021-01-01T00:00:00Z"
		}
		return m
	}
	type unknown struct{ Metadata map[string]any }
	for want, v := range map[string]any{
		`no API server serves a kind "unknown"`: unknown{},
		`unknown field "dta"`:                   map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta(""), "dta": 1},
		"are not stored":                        map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "metadata": meta("")},
		"a deletionTimestamp and no finalizers: a server removes such an object at once": map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta("deletionTimestamp")},
		"seed: Pod a: Pod \"a\" is invalid: spec.containers: Required value":             map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": meta("")},
		"int: object: not a JSON object":                                                 7,
		`no matches for kind "Site" in version "web.example.com/v1"`:                     map[string]any{"apiVersion": "web.example.com/v1", "kind": "Site", "metadata": meta("")},
	} {
		if err := srv.Seed(v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", v, err, want)
		}
	}
}

// TestSeedOwners checks that dependents of an owner that was seeded with a uid are kept, because the garbage collector
// finds the owner.
func TestSeedOwners(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	_, srv, c := watched(t, fake.Options{Controllers: controller.All})
	is.NoErr(srv.Seed(map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "o", "uid": "77"}}))
	c.do("POST", mapsPath, ownedMap("kept", "", "77"))
	c.do("POST", mapsPath, ownedMap("lost", "", "78"))
	is.NoErr(srv.Settle(t.Context()))
	code, _ := c.do("GET", mapsPath+"/kept", "")
	is.Equal(code, 200)
	code, _ = c.do("GET", mapsPath+"/lost", "")
	is.Equal(code, 404)
}

// TestLoadFolder checks that a folder is loaded file by file, or as kustomize builds it if the folder contains a
// kustomization.
func TestLoadFolder(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	_, srv, c := watched(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.yaml":    `{"apiVersion":"web.example.com/v1","kind":"Site","metadata":{"name":"blog","namespace":"shop"}}`,
		"b.json":    siteCRD,
		"c.yml":     `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}}`,
		"README.md": "no object",
	} {
		is.NoErr(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	is.NoErr(srv.Load(dir))
	code, _ := c.do("GET", "/apis/web.example.com/v1/namespaces/shop/sites/blog", "")
	is.Equal(code, 200)

	_, srv, c = watched(t)
	is.NoErr(srv.LoadData([]byte(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"site-system"}}`)))
	is.NoErr(srv.Load("../sim/kubectl/kustomize/testdata/configured"))
	code, text := c.do("GET", "/api/v1/namespaces/site-system/services/site-web", "")
	is.Equal(code, 200)
	is.True(strings.Contains(text, `"kubesim-load"`))
}
