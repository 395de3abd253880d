package dropin

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"
)

// apiserver is an API server that a test has started.
type apiserver struct {
	*process
	t   *testing.T
	url string
}

// servers starts an etcd and returns a function that starts an API server over it and waits until it is ready.
func shared(t *testing.T) (etcd *process, start func(flags ...string) apiserver) {
	etcd, one := pair(t)
	return etcd, func(flags ...string) apiserver {
		t.Helper()
		p, url := one(flags...)
		if code, body := get(t, url+"/readyz"); code != http.StatusOK {
			t.Fatal(body)
		}
		return apiserver{p, t, url}
	}
}

// send sends a request, and returns the code and the body of the response.
func (s apiserver) send(method, path, body string) (code int, text string) {
	s.t.Helper()
	res, err := do(s.t, method, s.url+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, string(data)
}

// create creates an object and returns it.
func (s apiserver) create(path, body string) map[string]any {
	s.t.Helper()
	code, text := s.send("POST", path, body)
	var obj map[string]any
	if err := json.Unmarshal([]byte(text), &obj); err != nil || code != http.StatusCreated {
		s.t.Fatalf("%d %s", code, text)
	}
	return obj
}

// watch returns a function that returns the next event of a watch.
func (s apiserver) watch(path string) (next func() string) {
	s.t.Helper()
	res, err := do(s.t, "GET", s.url+path, "")
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { res.Body.Close() })
	lines := bufio.NewReader(res.Body)
	return func() string {
		s.t.Helper()
		line, err := lines.ReadBytes('\n')
		if err != nil {
			s.t.Fatal(err)
		}
		var e struct {
			Type   string
			Object struct{ Metadata struct{ Name string } }
		}
		if err := json.Unmarshal(line, &e); err != nil {
			s.t.Fatal(err)
		}
		return e.Type + " " + e.Object.Metadata.Name
	}
}

// meta returns a field of the metadata of an object.
func meta(obj map[string]any, field string) string {
	return fmt.Sprint(obj["metadata"].(map[string]any)[field])
}

// until calls f until it returns true.
func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); !f(); <-tick.C {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

const configMaps = "/api/v1/namespaces/default/configmaps"

// TestSharedStore checks that two API servers over one prefix have one history: each sees the writes, the definitions and the services
// of the other, a server that stops does not affect the other, and a later one finds everything.
func TestSharedStore(t *testing.T) {
	is := is.New(t)
	_, start := shared(t)
	a, b := start("--advertise-address=10.0.1.1"), start("--advertise-address=10.0.1.2")
	next := b.watch(configMaps + "?watch=1")
	made := a.create(configMaps, `{"metadata":{"name":"a"}}`)
	is.Equal(next(), "ADDED a")
	code, text := b.send("GET", configMaps+"/a", "")
	is.Equal(code, 200)
	is.True(strings.Contains(text, `"resourceVersion":"`+meta(made, "resourceVersion")+`"`)) // one sequence of revisions
	other := b.create(configMaps, `{"metadata":{"name":"b"}}`)
	is.True(meta(other, "uid") != meta(made, "uid"))
	is.Equal(next(), "ADDED b")
	code, _ = a.send("DELETE", configMaps+"/b", "")
	is.Equal(code, 200)
	is.Equal(next(), "DELETED b")
	code, _ = b.send("PUT", configMaps+"/a", `{"metadata":{"name":"a","resourceVersion":"1"}}`)
	is.Equal(code, 409)

	a.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
	until(t, "the definition is served", func() bool {
		code, _ := b.send("GET", "/apis/flowers.io/v1/roses", "")
		return code == 200
	})
	b.create("/apis/flowers.io/v1/namespaces/default/roses", `{"apiVersion":"flowers.io/v1","kind":"Rose","metadata":{"name":"red"}}`)
	code, _ = a.send("GET", "/apis/flowers.io/v1/namespaces/default/roses/red", "")
	is.Equal(code, 200)
	is.Equal(endpoints(a), []string{"10.0.1.1", "10.0.1.2"})
	is.Equal(len(leases(b)), 2)

	a.stop()
	until(t, "the address of the server that stopped is removed", func() bool { return slices.Equal(endpoints(b), []string{"10.0.1.2"}) })
	b.create(configMaps, `{"metadata":{"name":"c"}}`)
	c := start("--advertise-address=10.0.1.1")
	code, _ = c.send("GET", configMaps+"/c", "")
	is.Equal(code, 200)
	is.Equal(len(leases(c)), 2) // it has the lease of the first server
	b.stop()
	c.create(configMaps, `{"metadata":{"name":"d"}}`)
	c.stop()
	d := start()
	for _, name := range []string{"a", "c", "d"} {
		code, _ = d.send("GET", configMaps+"/"+name, "")
		is.Equal(code, 200)
	}
}

const definition = `{"metadata":{"name":"roses.flowers.io"},"spec":{"group":"flowers.io","scope":"Namespaced","names":{"plural":"roses","kind":"Rose"},
"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`

// endpoints returns the addresses of the Service kubernetes.
func endpoints(s apiserver) (all []string) {
	s.t.Helper()
	_, text := s.send("GET", "/api/v1/namespaces/default/endpoints/kubernetes", "")
	var e struct {
		Subsets []struct{ Addresses []struct{ IP string } }
	}
	if err := json.Unmarshal([]byte(text), &e); err != nil || len(e.Subsets) != 1 {
		s.t.Fatal(text)
	}
	for _, x := range e.Subsets[0].Addresses {
		all = append(all, x.IP)
	}
	return all
}

// leases returns the names of the identity leases.
func leases(s apiserver) (all []string) {
	s.t.Helper()
	_, text := s.send("GET", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases?labelSelector=apiserver.kubernetes.io/identity=kube-apiserver", "")
	var l struct {
		Items []struct{ Metadata struct{ Name string } }
	}
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		s.t.Fatal(err)
	}
	for _, x := range l.Items {
		all = append(all, x.Metadata.Name)
	}
	return all
}

// TestSharedStoreUnderLoad checks that concurrent writes through three API servers lose no update, allocate no address twice, and reach a
// watch once each.
func TestSharedStoreUnderLoad(t *testing.T) {
	is := is.New(t)
	_, start := shared(t)
	servers := []apiserver{start(), start(), start()}
	next := servers[2].watch("/api/v1/namespaces/default/services?watch=1&resourceVersion=0")
	const each = 12
	var wg sync.WaitGroup
	for i, s := range servers {
		wg.Go(func() {
			for n := range each {
				body := fmt.Sprintf(`{"metadata":{"name":"s-%d-%d"},"spec":{"type":"NodePort","ports":[{"port":80}]}}`, i, n)
				q, err := http.NewRequest("POST", s.url+"/api/v1/namespaces/default/services", strings.NewReader(body))
				if err != nil {
					t.Error(err)
					return
				}
				q.Header = http.Header{"Authorization": {"Bearer secret"}, "Content-Type": {"application/json"}}
				res, err := client.Do(q)
				if err != nil {
					t.Error(err)
					return
				}
				res.Body.Close()
			}
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for len(seen) < len(servers)*each+1 { // and the Service kubernetes
		event := next()
		is.True(strings.HasPrefix(event, "ADDED ") && !seen[event])
		seen[event] = true
	}
	var list struct {
		Items []struct {
			Spec struct {
				ClusterIP string
				Ports     []struct{ NodePort int }
			}
		}
	}
	_, text := servers[0].send("GET", "/api/v1/services", "")
	is.NoErr(json.Unmarshal([]byte(text), &list))
	used := map[string]bool{}
	for _, x := range list.Items {
		for _, key := range []string{x.Spec.ClusterIP, fmt.Sprint(x.Spec.Ports[0].NodePort)} {
			is.True(key == "0" || !used[key])
			used[key] = true
		}
	}
	is.Equal(len(list.Items), len(servers)*each+1)
}

// TestSharedStoreOfDifferentServers checks that API servers over one prefix have their own flags and minor versions, and read each other's
// objects.
func TestSharedStoreOfDifferentServers(t *testing.T) {
	is := is.New(t)
	_, start := shared(t)
	a, b := start("--runtime-config=batch/v1=false", "--disable-admission-plugins=DefaultTolerationSeconds"), start("--emulated-version=1.34")
	code, _ := a.send("GET", "/apis/batch/v1/jobs", "")
	is.Equal(code, 404)
	b.create("/api/v1/namespaces/default/serviceaccounts", `{"metadata":{"name":"default"}}`)
	const pod = `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i:1"}]}}`
	b.create("/api/v1/namespaces/default/pods", pod)
	_, text := a.send("GET", "/api/v1/namespaces/default/pods/p", "")
	is.True(strings.Contains(text, `"tolerations"`))
	made := a.create("/api/v1/namespaces/default/pods", strings.Replace(pod, `"p"`, `"q"`, 1))
	is.True(!strings.Contains(fmt.Sprint(made), "tolerations"))
	job := b.create("/apis/batch/v1/namespaces/default/jobs", `{"metadata":{"name":"j"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`)
	is.Equal(meta(job, "name"), "j")
	_, text = b.send("GET", "/version", "")
	is.True(strings.Contains(text, `"minor": "34"`))
	a.create("/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", `{"metadata":{"name":"h"},"spec":{"maxReplicas":3,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}}}`)
	_, text = b.send("GET", "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers/h", "")
	is.True(strings.Contains(text, `"targetCPUUtilizationPercentage":80`) || strings.Contains(text, `"maxReplicas":3`))
	c := start("--peer-ca-file=any", "--runtime-config=apps/v1=false")
	code, _ = c.send("GET", "/apis/apps/v1/deployments", "")
	is.Equal(code, 200) // forwarded
	other := start("--etcd-prefix=/other")
	code, _ = other.send("GET", "/api/v1/namespaces/default/pods/p", "")
	is.Equal(code, 404) // another cluster
}

// TestMasterCount checks the endpoint reconciler master-count.
func TestMasterCount(t *testing.T) {
	is := is.New(t)
	_, start := shared(t)
	flags := []string{"--endpoint-reconciler-type=master-count", "--apiserver-count=2"}
	a := start(append(flags, "--advertise-address=10.0.1.1")...)
	b := start(append(flags, "--advertise-address=10.0.1.2")...)
	is.Equal(endpoints(a), []string{"10.0.1.1", "10.0.1.2"})
	a.stop()
	is.Equal(endpoints(b), []string{"10.0.1.2"}) // the server removes its address before it ends
}

// TestControllersOfSharedStore checks that the controllers of one process run, and those of another one after it has ended.
func TestControllersOfSharedStore(t *testing.T) {
	t.Setenv("KUBESIM_CONTROLLERS", "replicaset")
	_, start := shared(t)
	a, b := start("--disable-admission-plugins=ServiceAccount"), start("--disable-admission-plugins=ServiceAccount")
	const set = `{"metadata":{"name":"r"},"spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
	pods := func(s apiserver) int {
		_, text := s.send("GET", "/api/v1/namespaces/default/pods", "")
		return strings.Count(text, `"uid":"`) / 2 // of the pod and of its owner
	}
	b.create("/apis/apps/v1/namespaces/default/replicasets", set)
	until(t, "the ReplicaSet has its pods", func() bool { return pods(b) == 2 })
	a.stop()
	b.send("POST", "/apis/apps/v1/namespaces/default/replicasets", strings.NewReplacer(`"r"`, `"s"`, `"a":"b"`, `"a":"c"`).Replace(set))
	until(t, "the controllers of the other process have taken over", func() bool { return pods(b) == 4 })
}
