package fake_test

import (
	"fmt"
	"math/rand"
	"net/http"
	"runtime"
	"sync"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
)

// TestUpdatedPodIsStillValidated checks that errors in a pod are found, however often the pod was updated before.
func TestUpdatedPodIsStillValidated(t *testing.T) {
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
	for range 2 { // as it was created, and then after it has settled and its image has been changed
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
	is.Equal(read, body) // the stored object equals the one in the response
}

// TestObjectsThatAreKeptAreThoseInTheStore checks that random writes get the same responses whether the server keeps
// the objects in memory between writes or has to read them from the store. The second server clears its memory before
// each write.
func TestObjectsThatAreKeptAreThoseInTheStore(t *testing.T) {
	writes := 150
	if testing.Short() {
		writes = 8
	}
	for collection, body := range map[string]string{
		"/api/v1/namespaces/default/pods":              `"spec":` + podSpec,
		"/api/v1/namespaces/default/services":          `"spec":{"ports":[{"port":80}]}`,
		"/api/v1/namespaces/default/configmaps":        `"data":{"a":"b"}`,
		"/apis/apps/v1/namespaces/default/deployments": `"spec":{"selector":{"matchLabels":{"a":"b"}},"template":` + podTemplate + `}`,
	} {
		t.Run(collection, func(t *testing.T) {
			play := func(before func()) (answers []string) {
				c, r := client{t, fake.RunT(t)}, rand.New(rand.NewSource(1))
				_, last := c.do("POST", collection, `{"metadata":{"name":"a","labels":{"n":"1"}},`+body+`}`)
				for range writes {
					before()
					path, obj := collection+"/a", c.parse(last)
					change(r, obj)
					var code int
					var answer string
					switch r.Intn(5) {
					case 0:
						code, _, answer = c.ask("PATCH", path, "application/merge-patch+json", "", string(object.JSON(object.Object{"metadata": obj["metadata"]})))
					case 1:
						code, _, answer = c.ask("PATCH", path, "application/strategic-merge-patch+json", "", string(object.JSON(map[string]any(obj))))
					case 2:
						code, answer = c.do("PUT", path+"/status", string(object.JSON(map[string]any(obj))))
					default:
						code, answer = c.do("PUT", path, string(object.JSON(map[string]any(obj))))
					}
					if answers = append(answers, fmt.Sprint(code, answer)); code == http.StatusOK {
						last = answer
					}
					_, read := c.do("GET", path, "")
					answers = append(answers, read)
				}
				return answers
			}
			kept, forgotten := play(func() {}), play(runtime.GC)
			for i := range kept {
				if kept[i] != forgotten[i] {
					t.Fatalf("answer %d is\n%s\nwhere the object was kept, and where it was read from the store\n%s", i, kept[i], forgotten[i])
				}
			}
		})
	}
}

// change makes one or two random changes.
func change(r *rand.Rand, obj object.Object) {
	n := fmt.Sprint("v", r.Intn(3))
	switch r.Intn(8) {
	case 0:
		obj.Set(n, "metadata", "annotations", "n")
	case 1:
		obj.Remove("metadata", "managedFields")
	case 2:
		obj.Set(n, "data", n)
	case 3:
		obj.Set(int64(r.Intn(3)), "spec", "replicas")
	case 4:
		for _, at := range []object.Object{obj.At("spec"), obj.At("spec", "template", "spec")} {
			for _, container := range at.List("containers") {
				container.(map[string]any)["image"] = n
			}
		}
	case 5:
		obj.Set([]any{map[string]any{"type": "Ready", "status": "True", "reason": n}}, "status", "conditions")
	case 6:
		obj.Remove("metadata", "resourceVersion")
	default:
		obj.Set(n, "metadata", "labels", "n")
		return
	}
	if r.Intn(3) == 0 {
		change(r, obj)
	}
}

// TestForksChangeTheSameObjectAtTheSameTime checks that an updated object shares its unchanged parts with the object
// before it, and that a fork has the same objects in memory. With the race detector this test also finds a plugin, a
// default or a strategy that writes an equal value to a shared field.
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
				is := is.NewRelaxed(t) // it may run concurrently with the test
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
