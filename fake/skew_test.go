package fake_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

const (
	pods    = "/api/v1/namespaces/default/pods"
	scalers = "namespaces/default/horizontalpodautoscalers"
)

// TestSkewedVersions checks that each replica of a rolling upgrade reports its version and serves its own resources.
func TestSkewedVersions(t *testing.T) {
	pair(t, []fake.ReplicaOptions{{}, {Version: "1.35"}}, func(t *testing.T, srv *fake.Server, a, b guest) {
		is := is.New(t)
		for i, g := range []guest{a, b} {
			_, version := g.do("GET", "/version", "")
			is.Equal(version.String("gitVersion"), []string{"v1.36.3", "v1.35.4"}[i])
			is.Equal(srv.Replica(i+1).State().Version, version.String("gitVersion"))
			_, doc := g.do("GET", "/openapi/v3/apis/storage.k8s.io/v1", "")
			known := doc.Map("components", "schemas", "io.k8s.api.storage.v1.CSIDriverSpec", "properties", "preventPodSchedulingIfMissing") != nil
			is.Equal(known, i == 0) // only 1.36 publishes the field
		}
	})
}

// TestSkewedValues checks that if a release allows a value behind a feature gate, an older release rejects the value in
// new objects and keeps it in stored ones.
func TestSkewedValues(t *testing.T) {
	pair(t, []fake.ReplicaOptions{{}, {Version: "1.35"}}, func(t *testing.T, _ *fake.Server, a, b guest) {
		is := is.New(t)
		pod := func(name string) string {
			return `{"metadata":{"name":"` + name + `"},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i","restartPolicy":"Never",
				"restartPolicyRules":[{"action":"RestartAllContainers","exitCodes":{"operator":"In","values":[1]}}]}]}}`
		}
		code, failed := b.do("POST", pods, pod("x"))
		is.Equal(code, http.StatusUnprocessableEntity)
		is.Equal(failed.String("message"), `Pod "x" is invalid: spec.containers[0].restartPolicyRules[0].action: `+
			`Unsupported value: "RestartAllContainers": supported values: "Restart"`)
		code, _ = a.do("POST", pods, pod("y"))
		is.Equal(code, http.StatusCreated)
		code, _ = b.do("PATCH", pods+"/y", `{"metadata":{"labels":{"a":"b"}}}`)
		is.Equal(code, http.StatusOK)
		code, obj := a.do("GET", pods+"/y", "")
		is.Equal(code, http.StatusOK)
		is.Equal(obj.Labels()["a"], "b")
	})
}

// TestSkewedGates checks that a field behind a feature gate that is off in an older release is dropped from new objects
// and kept in stored ones.
func TestSkewedGates(t *testing.T) {
	pair(t, []fake.ReplicaOptions{{Version: "1.35"}, {Version: "1.34"}}, func(t *testing.T, _ *fake.Server, a, b guest) {
		is := is.New(t)
		pod := func(name string) string {
			return `{"metadata":{"name":"` + name + `"},"spec":{"hostnameOverride":"h","containers":[{"name":"c","image":"i"}]}}`
		}
		_, old := b.do("POST", pods, pod("x"))
		is.Equal(old.String("spec", "hostnameOverride"), "")
		_, created := a.do("POST", pods, pod("y"))
		is.Equal(created.String("spec", "hostnameOverride"), "h")
		_, patched := b.do("PATCH", pods+"/y", `{"metadata":{"labels":{"a":"b"}}}`)
		is.Equal(patched.String("spec", "hostnameOverride"), "h")
	})
}

// TestSkewedWatch checks that fields that a replica does not know are missing in its watches. They are dropped from the
// store when the replica writes, even if it changes nothing else.
func TestSkewedWatch(t *testing.T) {
	pair(t, []fake.ReplicaOptions{{FeatureGates: map[string]bool{"VolumeLimitScaling": true}}, {Version: "1.35"}}, func(t *testing.T, _ *fake.Server, a, b guest) {
		is := is.New(t)
		const drivers = "/apis/storage.k8s.io/v1/csidrivers"
		w := b.watch(drivers + "?watch=1&resourceVersion=0")
		w.must("BOOKMARK")
		a.do("POST", drivers, `{"metadata":{"name":"d"},"spec":{"preventPodSchedulingIfMissing":true}}`)
		spec := object.Object(w.must("ADDED").Map("spec"))
		_, set := spec["preventPodSchedulingIfMissing"]
		is.True(!set)
		_, before := a.do("GET", drivers+"/d", "")
		_, after := b.do("PATCH", drivers+"/d", `{}`)
		is.True(before.ResourceVersion() != after.ResourceVersion()) // it was written in the older form
		_, again := b.do("PATCH", drivers+"/d", `{}`)
		is.Equal(again.ResourceVersion(), after.ResourceVersion()) // it has that form now
	})
}

// TestSkewedRawValues checks that every replica keeps a raw value as it was written, whichever replica wrote it, even
// in another storage version.
func TestSkewedRawValues(t *testing.T) {
	replicas := []fake.ReplicaOptions{{StorageVersions: map[string]string{"controllerrevisions.apps": "apps/v1"}}, {Version: "1.35"}}
	pair(t, replicas, func(t *testing.T, _ *fake.Server, a, b guest) {
		is := is.New(t)
		const revisions = "/apis/apps/v1/namespaces/default/controllerrevisions"
		body := func(revision int, data string) string {
			return fmt.Sprintf(`{"metadata":{"name":"r"},"revision":%d,"data":%s}`, revision, data)
		}
		const text, shown = `{ "b":1, "a":2 }`, `{"b":1,"a":2}`
		for i, g := range []guest{a, b, a} {
			method, path := "PUT", revisions+"/r"
			if i == 0 {
				method, path = "POST", revisions
			}
			code, obj := g.do(method, path, body(i, text))
			is.Equal([]any{code / 100, obj.String("message")}, []any{2, ""})
			for _, reader := range []guest{a, b} {
				code, _ = reader.do("PUT", revisions+"/r", body(i, shown))
				is.Equal(code, http.StatusUnprocessableEntity) // the same value without its spaces is a different value
			}
		}
	})
}

// TestStorageVersionsAndServe checks that a replica can use another storage version than the others, and need not serve
// all of their resources.
func TestStorageVersionsAndServe(t *testing.T) {
	const storage = "horizontalpodautoscalers.autoscaling"
	pair(t, []fake.ReplicaOptions{{StorageVersions: map[string]string{storage: "autoscaling/v1"}},
		{Serve: map[string]bool{"autoscaling/v1": false}}}, func(t *testing.T, _ *fake.Server, a, b guest) {
		is := is.New(t)
		hashes := [2]string{}
		for i, g := range []guest{a, b} {
			_, doc := g.do("GET", "/apis/autoscaling/v2", "")
			for _, r := range doc.List("resources") {
				if r := object.Object(r.(map[string]any)); r.String("name") == "horizontalpodautoscalers" {
					hashes[i] = r.String("storageVersionHash")
				}
			}
		}
		is.True(hashes[0] != hashes[1])
		code, made := a.do("POST", "/apis/autoscaling/v2/"+scalers, `{"metadata":{"name":"h"},"spec":{"maxReplicas":3,
			"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"},"metrics":[{"type":"Resource","resource":{"name":"memory","target":{"type":"Utilization","averageUtilization":50}}}]}}`)
		is.Equal([]any{code, made.String("message")}, []any{http.StatusCreated, ""})
		var seen [2]object.Object
		for i, g := range []guest{a, b} {
			_, seen[i] = g.do("GET", "/apis/autoscaling/v2/"+scalers+"/h", "")
			is.Equal(len(seen[i].List("spec", "metrics")), 1) // through the annotation of autoscaling/v1
		}
		is.Equal(string(object.JSON(map[string]any(seen[0]))), string(object.JSON(map[string]any(seen[1]))))
		_, same := a.do("PATCH", "/apis/autoscaling/v2/"+scalers+"/h", `{}`)
		is.Equal(same.ResourceVersion(), seen[0].ResourceVersion()) // nothing has changed
		_, moved := b.do("PATCH", "/apis/autoscaling/v2/"+scalers+"/h", `{}`)
		is.True(moved.ResourceVersion() != seen[0].ResourceVersion()) // a migration: stored in another version
		res := b.send("GET", "/apis/autoscaling/v1/"+scalers, "")
		is.Equal(res.StatusCode, http.StatusNotFound) // turned off on this replica
		code, _ = a.do("GET", "/apis/autoscaling/v1/"+scalers, "")
		is.Equal(code, http.StatusOK)
	})
}

// TestReplicaOptionErrors checks that invalid options are rejected with a list of the valid values.
func TestReplicaOptionErrors(t *testing.T) {
	for text, o := range map[string]fake.ReplicaOptions{ // order does not matter
		`kubesim: there is no version "1.12"; there are ` + strings.Join(schema.Known(), ", "):                            {Version: "1.12"},
		`kubesim: serve: there is no "apps/v9"; say a group version (apps/v1) or a resource of one (apps/v1/deployments)`: {Serve: map[string]bool{"apps/v9": false}},
		`kubesim: storage version: pods is not served in "v9"`:                                                            {StorageVersions: map[string]string{"pods": "v9"}},
	} {
		is := is.New(t)
		_, err := fake.New(fake.Options{Replicas: []fake.ReplicaOptions{o}})
		is.True(err != nil)
		is.Equal(err.Error(), text)
	}
	is := is.New(t)
	_, err := fake.New(fake.Options{Replicas: []fake.ReplicaOptions{{FeatureGates: map[string]bool{"Nope": true}}}})
	is.True(err != nil) // an unknown feature gate
}

// TestSkewedWithNewer checks servers of 1.36 and 1.37 that share a store: a kind that only the newer server serves, its
// defaults and quota, and the version information of each server.
func TestSkewedWithNewer(t *testing.T) {
	pair(t, []fake.ReplicaOptions{{}, {Version: "1.37"}}, func(t *testing.T, srv *fake.Server, a, b guest) {
		is := is.New(t)
		for i, g := range []guest{a, b} {
			_, version := g.do("GET", "/version", "")
			is.Equal(version.String("gitVersion"), []string{"v1.36.3", "v1.37.2"}[i])
			_, doc := g.do("GET", "/openapi/v3/apis/autoscaling/v2", "")
			known := doc.Map("components", "schemas", "io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerCondition", "properties", "observedGeneration") != nil
			is.Equal(known, i == 1) // only 1.37 publishes the field
			_, groups := g.do("GET", "/apis", "")
			is.Equal(slices.ContainsFunc(groups.Objects("groups"), func(o object.Object) bool { return o.String("name") == "storagemigration.k8s.io" }), i == 1)
		}
		scaler := func(name string) string {
			return `{"metadata":{"name":"` + name + `"},"spec":{"maxReplicas":2,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}}}`
		}
		code, obj := b.do("POST", "/apis/autoscaling/v2/"+scalers, scaler("new"))
		is.Equal(code, http.StatusCreated)
		is.Equal(obj.Int64("metadata", "generation"), int64(1)) // HPAGeneration
		code, obj = a.do("PATCH", "/apis/autoscaling/v2/"+scalers+"/new", `{"spec":{"maxReplicas":3}}`)
		is.Equal(code, http.StatusOK)
		is.Equal(obj.Int64("metadata", "generation"), int64(1)) // an older server does not count generations
		code, obj = b.do("PATCH", "/apis/autoscaling/v2/"+scalers+"/new", `{"spec":{"maxReplicas":4}}`)
		is.Equal(code, http.StatusOK)
		is.Equal(obj.Int64("metadata", "generation"), int64(2))
		_, failed := a.do("PATCH", "/apis/autoscaling/v2/"+scalers+"/new", `{"spec":{"minReplicas":0}}`)
		is.True(strings.Contains(failed.String("message"), "spec.minReplicas: Invalid value: 0")) // HPAScaleToZero is off on this server
		_, failed = b.do("PATCH", "/apis/autoscaling/v2/"+scalers+"/new", `{"spec":{"minReplicas":0}}`)
		is.True(!strings.Contains(failed.String("message"), "spec.minReplicas")) // the newer server has the gate enabled
	})
}
