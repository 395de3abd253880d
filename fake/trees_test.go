package fake_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
)

// Every test of this package, and with them the recorded cases, proves that objects kept in memory are those stored, and
// that updates which leave parts as they are come to what they would come to without noticing.
func init() { registry.CheckTrees = true }

// A pod whose updates left the spec alone is not validated as a whole each time. What is wrong is found nevertheless.
func TestSettledPodIsStillValidated(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c := client{t, fake.RunT(t)}
	const pods = "/api/v1/namespaces/default/pods"
	code, body := c.do("POST", pods, `{"metadata":{"name":"p","labels":{}},"spec":`+podSpec+`}`)
	is.Equal(code, http.StatusCreated)
	put := func(value any, path ...string) int {
		obj := c.parse(body)
		obj.Set(value, path...)
		code, answer := c.do("PUT", pods+"/p", string(object.JSON(map[string]any(obj))))
		if code == http.StatusOK {
			body = answer
		}
		return code
	}
	container := func(name string, value any) []any {
		list := c.parse(body).List("spec", "containers")
		list[0].(map[string]any)[name] = value
		return list
	}
	for range 2 { // as it was created, and once it is settled and its image was changed
		for _, version := range []string{"1", "2", "3"} {
			is.Equal(put(version, "metadata", "labels", "version"), http.StatusOK)
		}
		is.Equal(put("x", "metadata", "annotations", "kubernetes.io/config.mirror"), http.StatusUnprocessableEntity)
		is.Equal(put("/", "metadata", "labels", "version"), http.StatusUnprocessableEntity)
		is.Equal(put("other", "spec", "hostname"), http.StatusUnprocessableEntity)
		is.Equal(put(container("image", " padded"), "spec", "containers"), http.StatusUnprocessableEntity)
		is.Equal(put(container("name", "other"), "spec", "containers"), http.StatusUnprocessableEntity)
		is.Equal(put(container("image", "other"), "spec", "containers"), http.StatusOK)
		is.Equal(c.parse(body).List("spec", "containers")[0].(map[string]any)["image"], "other")
	}
	_, read := c.do("GET", pods+"/p", "")
	is.Equal(read, body) // what was answered is what is stored
}

// Updates share what they leave alone with the object before them, and a fork has the same objects in memory. With the
// race detector this test also finds a plugin, a default or a strategy that writes to a shared field what stands there
// already.
func TestForksChangeTheSameObjectAtTheSameTime(t *testing.T) {
	t.Parallel()
	const replicated = `"selector":{"matchLabels":{"a":"b"}},"template":` + podTemplate
	for collection, spec := range map[string]string{
		"/api/v1/namespaces/default/pods":               `"spec":` + podSpec,
		"/api/v1/namespaces/default/configmaps":         `"data":{"a":"b"}`,
		"/apis/apps/v1/namespaces/default/deployments":  `"spec":{` + replicated + `}`,
		"/apis/apps/v1/namespaces/default/replicasets":  `"spec":{` + replicated + `}`,
		"/apis/apps/v1/namespaces/default/statefulsets": `"spec":{"serviceName":"s",` + replicated + `}`,
	} {
		t.Run(collection, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			c := client{t, fake.RunT(t)}
			code, body := c.do("POST", collection, `{"metadata":{"name":"a","labels":{}},`+spec+`}`)
			is.Equal(code, http.StatusCreated)
			first := c.parse(body)
			change := func(c client, body, who string) {
				is := is.NewRelaxed(t) // it may run beside the test
				for n := range 5 {
					obj := c.parse(body)
					obj.Set(fmt.Sprint(who, n), "metadata", "labels", "version")
					var code int
					code, body = c.do("PUT", collection+"/a", string(object.JSON(map[string]any(obj))))
					is.Equal(code, http.StatusOK)
				}
				obj := c.parse(body)
				is.Equal(obj["spec"], first["spec"])
				is.Equal(obj["data"], first["data"])
				is.Equal(obj.String("metadata", "labels", "version"), who+"4")
			}
			change(c, body, "before")
			_, body = c.do("GET", collection+"/a", "")
			fork := client{t, c.srv.Fork()}
			var both sync.WaitGroup
			both.Go(func() { change(c, body, "here") })
			both.Go(func() { change(fork, body, "fork") })
			both.Wait()
		})
	}
}
