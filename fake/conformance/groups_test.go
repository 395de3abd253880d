package conformance_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/conformance"
	"github.com/kubesim/kubesim/sim/object"
)

// groupServer is a server of 1.36 with the gates of groups, in virtual time.
type groupServer struct {
	t   *testing.T
	is  *is.I
	srv *fake.Server
}

// withGroups runs a test with a server on which the named controllers run.
func withGroups(t *testing.T, o fake.Options, f func(s groupServer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		gates := conformance.WorkloadGates("")
		gates["StorageVersionAPI"] = true
		o.Clock = clock.System{}
		o.Replicas = []fake.ReplicaOptions{{Serve: map[string]bool{"api/all": true}, FeatureGates: gates}}
		f(groupServer{t, is.New(t), fake.RunT(t, o)})
	})
}

// send sends a request and returns the response. It fails the test if the status is another one.
func (s groupServer) send(status int, method, path, body string) object.Object {
	s.t.Helper()
	q, err := http.NewRequest(method, "http://x"+path, bytes.NewBufferString(body))
	s.is.NoErr(err)
	q.Header.Set("Content-Type", map[string]string{"PATCH": "application/merge-patch+json"}[method])
	if method == "POST" {
		q.Header.Set("Content-Type", "application/json")
	}
	res, err := s.srv.Transport().RoundTrip(q)
	s.is.NoErr(err)
	text, err := io.ReadAll(res.Body)
	s.is.NoErr(err)
	if res.StatusCode != status {
		s.t.Fatalf("%s %s: %s", method, path, text)
	}
	obj, err := object.Parse(text)
	s.is.NoErr(err)
	return obj
}

// pass lets time pass until the controllers have finished.
func (s groupServer) pass() {
	time.Sleep(10 * time.Second)
	synctest.Wait()
}

const (
	inGroups = "/apis/scheduling.k8s.io/v1alpha2/namespaces/default/podgroups"
	inPods   = "/api/v1/namespaces/default/pods"
)

// TestPodGroupProtection checks that a deleted PodGroup remains until its last pod has ended.
func TestPodGroupProtection(t *testing.T) {
	t.Parallel()
	withGroups(t, fake.Options{Controllers: []string{"podgroup-protection-controller"}}, func(s groupServer) {
		s.send(201, "POST", inGroups, `{"metadata":{"name":"g"},"spec":{"schedulingPolicy":{"basic":{}}}}`)
		for _, name := range []string{"a", "b"} {
			s.send(201, "POST", inPods, `{"metadata":{"name":"`+name+`"},"spec":{"schedulingGroup":{"podGroupName":"g"},"containers":[{"name":"c","image":"i"}]}}`)
		}
		s.send(200, "DELETE", inGroups+"/g", "")
		s.pass()
		s.is.True(s.send(200, "GET", inGroups+"/g", "").DeletionTimestamp() != "") // both pods use it
		s.send(200, "PATCH", inPods+"/a/status", `{"status":{"phase":"Succeeded"}}`)
		s.pass()
		s.send(200, "GET", inGroups+"/g", "") // b uses it
		s.send(200, "DELETE", inPods+"/b", `{"gracePeriodSeconds":0}`)
		s.pass()
		s.send(404, "GET", inGroups+"/g", "") // its last pod is gone

		s.send(201, "POST", inGroups, `{"metadata":{"name":"unused"},"spec":{"schedulingPolicy":{"basic":{}}}}`)
		s.send(200, "DELETE", inGroups+"/unused", "")
		s.pass()
		s.send(404, "GET", inGroups+"/unused", "") // no pod used it
	})
}

// TestGang checks that the pods of a gang wait for the PodGroup and for each other, that either enough of them are bound or none, and
// that the group's condition has the outcome.
func TestGang(t *testing.T) {
	t.Parallel()
	withGroups(t, fake.Options{Controllers: []string{"kube-scheduler"}}, func(s groupServer) {
		pod := func(name, cpu string) {
			s.send(201, "POST", inPods, `{"metadata":{"name":"`+name+`"},"spec":{"schedulingGroup":{"podGroupName":"g"},"tolerations":[{"operator":"Exists"}],"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"`+cpu+`"}}}]}}`)
		}
		node := func(name string) {
			s.send(201, "POST", "/api/v1/nodes", `{"metadata":{"name":"`+name+`"},"status":{"allocatable":{"cpu":"2","memory":"8Gi","pods":"10"}}}`)
		}
		bound := func() (n int) {
			for _, item := range s.send(200, "GET", inPods, "").Objects("items") {
				if item.String("spec", "nodeName") != "" {
					n++
				}
			}
			return n
		}
		reason := func() string {
			return s.send(200, "GET", inGroups+"/g", "").Condition("PodGroupScheduled").String("reason")
		}
		node("n1")
		pod("a", "1")
		pod("b", "1")
		s.pass()
		s.is.Equal(bound(), 0) // there is no PodGroup
		s.send(201, "POST", inGroups, `{"metadata":{"name":"g"},"spec":{"schedulingPolicy":{"gang":{"minCount":3}}}}`)
		s.pass()
		s.is.Equal(bound(), 0) // the gang has two pods
		s.is.Equal(reason(), "")
		pod("c", "1")
		s.pass()
		s.is.Equal(bound(), 0) // two of them fit, three are needed
		s.is.Equal(reason(), "Unschedulable")
		s.is.Equal(s.send(200, "GET", inPods+"/a", "").Condition("PodScheduled").String("message"), "pod group is unschedulable, "+
			"waiting for minCount pods from a gang to be scheduled, one or more plugins asked to wait and no plugin rejected pod") // as recorded
		text := s.send(200, "GET", inPods+"/c", "").Condition("PodScheduled").String("message")
		s.is.Equal(text, "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: "+
			"0/1 nodes are available: 1 No preemption victims found for incoming pod.") // the third pod does not fit
		node("n2")
		s.pass()
		s.is.Equal(bound(), 3) // all fit
		s.is.Equal(reason(), "Scheduled")
		pod("d", "2")
		s.pass()
		s.is.Equal(bound(), 3) // the fourth pod is rejected alone
		s.is.Equal(reason(), "Scheduled")
	})
}

// TestGangPreempts checks that the pods of a gang evict others, and wait with their nodes nominated until all victims are gone. The texts
// are those of a kube-scheduler v1.36.3.
func TestGangPreempts(t *testing.T) {
	t.Parallel()
	withGroups(t, fake.Options{Controllers: []string{"kube-scheduler"}}, func(s groupServer) {
		pod := func(name, more string) {
			s.send(201, "POST", inPods, `{"metadata":{"name":"`+name+`"},"spec":{`+more+`"tolerations":[{"operator":"Exists"}],"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}`)
		}
		node := func(name string) string {
			return s.send(200, "GET", inPods+"/"+name, "").String("spec", "nodeName")
		}
		s.send(201, "POST", "/api/v1/nodes", `{"metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"2","memory":"8Gi","pods":"10"}}}`)
		s.send(201, "POST", "/apis/scheduling.k8s.io/v1/priorityclasses", `{"metadata":{"name":"high"},"value":1000}`)
		pod("low1", "")
		pod("low2", "")
		s.pass()
		s.send(201, "POST", inGroups, `{"metadata":{"name":"g"},"spec":{"schedulingPolicy":{"gang":{"minCount":2}}}}`)
		for _, name := range []string{"a", "b"} {
			pod(name, `"priorityClassName":"high","schedulingGroup":{"podGroupName":"g"},`)
		}
		s.pass()
		s.is.Equal([]string{node("a"), node("b"), node("low1"), node("low2")}, []string{"", "", "n1", "n1"})
		for _, name := range []string{"low1", "low2"} {
			s.is.True(s.send(200, "GET", inPods+"/"+name, "").DeletionTimestamp() != "") // it is a victim
		}
		a := s.send(200, "GET", inPods+"/a", "")
		s.is.Equal(a.Condition("PodScheduled").String("message"), "0/1 nodes are available: 1 Insufficient cpu.")
		s.is.Equal(a.String("status", "nominatedNodeName"), "n1")
		s.is.Equal(s.send(200, "GET", inGroups+"/g", "").Condition("PodGroupScheduled").String("message"),
			"pod group is unschedulable, pod group is waiting for preemption to complete")
		for _, name := range []string{"low1", "low2"} {
			s.send(200, "DELETE", inPods+"/"+name, `{"gracePeriodSeconds":0}`)
		}
		s.pass()
		s.is.Equal([]string{node("a"), node("b")}, []string{"n1", "n1"})
		s.is.Equal(s.send(200, "GET", inGroups+"/g", "").Condition("PodGroupScheduled").String("reason"), "Scheduled")
	})
}

// TestStorageVersionGC checks that the entries of API servers without a lease are removed, and StorageVersions without entries deleted.
func TestStorageVersionGC(t *testing.T) {
	t.Parallel()
	withGroups(t, fake.Options{Controllers: []string{"storageversion-garbage-collector-controller"}}, func(s groupServer) {
		const in, inLeases = "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
		for _, id := range []string{"one", "two"} {
			s.send(201, "POST", inLeases, `{"metadata":{"name":"`+id+`","labels":{"apiserver.kubernetes.io/identity":"kube-apiserver"}}}`)
		}
		entry := func(id, version string) string {
			return `{"apiServerID":"` + id + `","encodingVersion":"` + version + `","decodableVersions":["v1","v2"]}`
		}
		s.send(201, "POST", in, `{"metadata":{"name":"g.rs"},"spec":{}}`)
		s.send(200, "PATCH", in+"/g.rs/status", `{"status":{"storageVersions":[`+entry("one", "v1")+","+entry("two", "v2")+`]}}`)
		s.send(201, "POST", in, `{"metadata":{"name":"g.lost"},"spec":{}}`)
		s.send(200, "PATCH", in+"/g.lost/status", `{"status":{"commonEncodingVersion":"v1","storageVersions":[`+entry("none", "v1")+`]}}`)
		s.pass()
		s.send(404, "GET", in+"/g.lost", "") // its API server does not run
		s.is.Equal(len(s.send(200, "GET", in+"/g.rs", "").Objects("status", "storageVersions")), 2)
		s.send(200, "DELETE", inLeases+"/two", "")
		s.pass()
		left := s.send(200, "GET", in+"/g.rs", "")
		s.is.Equal(left.Objects("status", "storageVersions")[0].String("apiServerID"), "one")
		s.is.Equal(left.String("status", "commonEncodingVersion"), "v1") // the other server's entry is gone
		s.is.Equal(left.Condition("AllEncodingVersionsEqual").String("status"), "True")
		s.send(200, "DELETE", inLeases+"/one", "")
		s.pass()
		s.send(404, "GET", in+"/g.rs", "")
	})
}
