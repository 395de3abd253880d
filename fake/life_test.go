package fake_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
)

// live runs a test in virtual time, with a server that runs its controllers. There are no nodes, and no scheduler,
// which would report the lack of nodes in events.
func live(t *testing.T, f func(t *testing.T, is *is.I, c client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f(t, is.New(t), client{t, fake.RunT(t, fake.Options{Clock: clock.System{}, Controllers: []string{"*", "-kube-scheduler"}})})
	})
}

// must sends a request that must succeed, and returns the object in the response.
func (c client) must(method, path, body string) object.Object {
	c.t.Helper()
	code, text := c.do(method, path, body)
	obj, err := object.Parse([]byte(text))
	if err != nil || code > 299 {
		c.t.Fatalf("%s %s: %d %s", method, path, code, text)
	}
	return obj
}

// TestNamespaceGoes checks that a namespace is removed with its contents five seconds after its deletion. An object
// with a finalizer blocks the removal.
func TestNamespaceGoes(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.must("POST", "/api/v1/namespaces", `{"metadata":{"name":"n"}}`)
		c.must("POST", "/api/v1/namespaces/n/configmaps", `{"metadata":{"name":"a"}}`)
		c.must("POST", "/api/v1/namespaces/n/configmaps", `{"metadata":{"name":"held","finalizers":["example.com/me"]}}`)
		c.must("DELETE", "/api/v1/namespaces/n", ``)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		conditions := c.must("GET", "/api/v1/namespaces/n", "").List("status", "conditions")
		is.Equal(len(conditions), 5)
		is.Equal(conditions[3].(map[string]any)["message"], "Some resources are remaining: configmaps. has 1 resource instances")
		is.Equal(conditions[4].(map[string]any)["message"], "Some content in the namespace has finalizers remaining: example.com/me in 1 resource instances")
		is.Equal(len(c.must("GET", "/api/v1/namespaces/n/configmaps", "").List("items")), 1)
		c.must("PUT", "/api/v1/namespaces/n/configmaps/held", `{"metadata":{"name":"held"}}`)
		time.Sleep(8 * time.Second)
		synctest.Wait()
		code, _, _ := c.exchange("GET", "/api/v1/namespaces/n", "")
		is.Equal(code, 404)
	})
}

// owned returns the body of a ConfigMap with an owner reference to owner. blocking is its blockOwnerDeletion.
func owned(name string, owner object.Object, blocking bool, finalizers ...any) string {
	return string(object.JSON(map[string]any{"metadata": map[string]any{"name": name, "finalizers": finalizers,
		"ownerReferences": []any{map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": owner.Name(), "uid": owner.UID(),
			"blockOwnerDeletion": blocking}}}}))
}

const inDefault = "/api/v1/namespaces/default/configmaps"

func (c client) there(name string) bool {
	code, _ := c.do("GET", inDefault+"/"+name, "")
	return code == http.StatusOK
}

func TestGarbage(t *testing.T) {
	for _, test := range []struct {
		name, propagation string
		blocking          bool
		finalizers        []any // of the dependent
		owner, dependent  bool  // whether it exists afterwards
	}{
		{"in the background", "Background", true, nil, false, false},
		{"in the foreground", "Foreground", true, nil, false, false},
		{"orphaned", "Orphan", true, nil, false, true},
		{"a blocked owner waits", "Foreground", true, []any{"example.com/me"}, true, true},
		{"an owner that is not blocked does not wait", "Foreground", false, []any{"example.com/me"}, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			live(t, func(t *testing.T, is *is.I, c client) {
				owner := c.must("POST", inDefault, `{"metadata":{"name":"owner"}}`)
				c.must("POST", inDefault, owned("dependent", owner, test.blocking, test.finalizers...))
				c.must("DELETE", inDefault+"/owner", `{"propagationPolicy":"`+test.propagation+`"}`)
				is.Equal(c.there("owner"), test.owner)
				is.Equal(c.there("dependent"), test.dependent)
			})
		})
	}
}

// TestOwnerAbsent checks that an object whose only owner does not exist is garbage collected. An object that has
// another, existing owner loses the reference.
func TestOwnerAbsent(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		solid := c.must("POST", inDefault, `{"metadata":{"name":"solid"}}`)
		c.must("POST", inDefault, owned("lost", object.Object{"metadata": map[string]any{"name": "gone", "uid": "1"}}, false))
		is.True(!c.there("lost"))
		c.must("POST", inDefault, `{"metadata":{"name":"kept","ownerReferences":[
			{"apiVersion":"v1","kind":"ConfigMap","name":"gone","uid":"1"},
			{"apiVersion":"v1","kind":"ConfigMap","name":"solid","uid":"`+solid.UID()+`"}]}}`)
		refs := c.must("GET", inDefault+"/kept", "").List("metadata", "ownerReferences")
		is.Equal(len(refs), 1)
	})
}

// TestOwnerElsewhere checks that an owner reference to another namespace is invalid and is reported in an event.
func TestOwnerElsewhere(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		owner := c.must("POST", "/api/v1/namespaces/kube-system/configmaps", `{"metadata":{"name":"owner"}}`)
		c.must("POST", inDefault, owned("a", owner, false))
		is.True(!c.there("a"))
		list := c.must("GET", "/api/v1/namespaces/default/events", "").Objects("items")
		is.Equal(len(list), 1)
		is.Equal(list[0].String("reason"), "OwnerRefInvalidNamespace")
		is.Equal(list[0].String("message"), `ownerRef [v1/ConfigMap, namespace: default, name: owner, uid: `+owner.UID()+
			`] does not exist in namespace "default"`)
	})
}

const inApps = "/apis/apps/v1/namespaces/default/"

func template(labels string) string {
	return `"selector":{"matchLabels":{` + labels + `}},"template":{"metadata":{"labels":{` + labels + `}},"spec":{"containers":[{"name":"c","image":"i"}]}}`
}

// names returns the names of the objects in a list.
func (c client) names(path string) (names []string) {
	for _, obj := range c.must("GET", path, "").Objects("items") {
		names = append(names, obj.Name())
	}
	return names
}

func (c client) reasons() (reasons []string) {
	for _, e := range c.must("GET", "/api/v1/namespaces/default/events", "").Objects("items") {
		reasons = append(reasons, e.String("reason"))
	}
	return reasons
}

func TestReplicaSet(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		const pods = "/api/v1/namespaces/default/pods"
		c.must("POST", pods, `{"metadata":{"name":"orphan","labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
		c.must("POST", inApps+"replicasets", `{"metadata":{"name":"web"},"spec":{"replicas":3,`+template(`"a":"b"`)+`}}`)
		is.Equal(len(c.names(pods)), 3) // one pod was adopted
		rs := c.must("GET", inApps+"replicasets/web", "")
		is.Equal(string(object.JSON(rs.Map("status"))), `{"fullyLabeledReplicas":3,"observedGeneration":1,"replicas":3,"terminatingReplicas":0}`)
		c.must("DELETE", pods+"/orphan", "")
		is.Equal(len(c.names(pods)), 3) // another pod replaced it
		c.mergePatch(inApps+"replicasets/web", `{"spec":{"replicas":1}}`)
		is.Equal(len(c.names(pods)), 1)
		is.Equal(c.reasons(), []string{"SuccessfulCreate", "SuccessfulCreate", "SuccessfulCreate", "SuccessfulDelete", "SuccessfulDelete"})
		c.mergePatch(pods+"/"+c.names(pods)[0], `{"metadata":{"labels":{"a":"other"}}}`)
		is.Equal(len(c.names(pods)), 2) // it was released and replaced
		c.must("DELETE", inApps+"replicasets/web", "")
		is.Equal(len(c.names(pods)), 1)
	})
}

// ready makes all pods of a namespace running and ready, as a kubelet does.
func (c client) ready() {
	c.t.Helper()
	const pods = "/api/v1/namespaces/default/pods"
	for _, name := range c.names(pods) { // some are removed in the meantime
		body := `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2000-01-01T00:00:00Z"}]}}`
		c.ask("PATCH", pods+"/"+name+"/status", "application/merge-patch+json", "", body)
	}
}

// sizes returns the numbers of replicas of the ReplicaSets, in the order of their revisions.
func (c client) sizes() (sizes []int64) {
	sets := c.must("GET", inApps+"replicasets", "").Objects("items")
	slices.SortFunc(sets, func(a, b object.Object) int {
		const revision = "deployment.kubernetes.io/revision"
		return strings.Compare(a.Annotations()[revision], b.Annotations()[revision])
	})
	for _, rs := range sets {
		sizes = append(sizes, rs.Int64("spec", "replicas"))
	}
	return sizes
}

func TestDeployment(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.must("POST", inApps+"deployments", `{"metadata":{"name":"web"},"spec":{"replicas":4,`+template(`"a":"b"`)+`}}`)
		is.Equal(c.sizes(), []int64{4})
		c.ready()
		d := c.must("GET", inApps+"deployments/web", "")
		is.Equal(d.Annotations()["deployment.kubernetes.io/revision"], "1")
		is.Equal(d.Int64("status", "availableReplicas"), int64(4))
		conditions := d.Objects("status", "conditions")
		is.Equal(len(conditions), 2)
		is.Equal(conditions[0].String("reason"), "MinimumReplicasAvailable")
		is.Equal(conditions[1].String("reason"), "NewReplicaSetAvailable")

		c.mergePatch(inApps+"deployments/web", `{"spec":{"template":{"metadata":{"annotations":{"x":"y"}}}}}`)
		is.Equal(c.sizes(), []int64{3, 2}) // one too many, one too few
		for range 4 {
			c.ready()
		}
		is.Equal(c.sizes(), []int64{0, 4})

		c.mergePatch(inApps+"deployments/web", `{"spec":{"template":{"metadata":{"annotations":{"x":null}}}}}`)
		for range 4 {
			c.ready()
		}
		is.Equal(c.sizes(), []int64{0, 4}) // after the rollback, the first revision is the third
		is.Equal(c.must("GET", inApps+"deployments/web", "").Annotations()["deployment.kubernetes.io/revision"], "3")

		c.mergePatch(inApps+"deployments/web", `{"spec":{"replicas":2}}`)
		is.Equal(c.sizes(), []int64{0, 2})
		c.must("DELETE", inApps+"deployments/web", "")
		is.Equal(len(c.sizes()), 0)
		is.Equal(len(c.names("/api/v1/namespaces/default/pods")), 0)
	})
}
