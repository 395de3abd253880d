package fake_test

import (
	"fmt"
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

const (
	allPods   = "/api/v1/namespaces/default/pods"
	allClaims = "/api/v1/namespaces/default/persistentvolumeclaims"
	asSets    = inApps + "statefulsets"
)

// stateful creates a StatefulSet named db with 3 ready pods. more is JSON text with additional fields of its spec.
func (c client) stateful(more string) {
	c.t.Helper()
	c.must("POST", asSets, `{"metadata":{"name":"db"},"spec":{"replicas":3,"serviceName":"db",`+more+template(`"a":"b"`)+`}}`)
	for range 3 {
		c.ready()
	}
}

// stateRevisions returns, for each pod, the number of its StatefulSet revision. 1 is the oldest.
func (c client) stateRevisions() string {
	numbers := map[string]int64{}
	for _, r := range c.must("GET", inApps+"controllerrevisions", "").Objects("items") {
		numbers[r.Name()] = r.Int64("revision")
	}
	var all []string
	for _, p := range c.must("GET", allPods, "").Objects("items") {
		all = append(all, fmt.Sprint(p.Name(), "=", numbers[p.Labels()["controller-revision-hash"]]))
	}
	return strings.Join(all, " ")
}

// annotate changes an annotation in the template of a workload.
func (c client) annotate(path, value string) {
	c.mergePatch(path, `{"spec":{"template":{"metadata":{"annotations":{"v":"`+value+`"}}}}}`)
}

// settled waits until failed operations have been retried.
func (c client) settled() {
	time.Sleep(time.Minute)
	synctest.Wait()
}

func TestStatefulSetInOrder(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.must("POST", asSets, `{"metadata":{"name":"db"},"spec":{"replicas":3,"serviceName":"db",`+template(`"a":"b"`)+`}}`)
		is.Equal(c.names(allPods), []string{"db-0"}) // the next one has to wait
		pod := c.must("GET", allPods+"/db-0", "")
		is.Equal(pod.String("spec", "hostname"), "db-0")
		is.Equal(pod.String("spec", "subdomain"), "db")
		is.Equal(pod.Labels()["apps.kubernetes.io/pod-index"], "0")
		is.Equal(pod.Labels()["statefulset.kubernetes.io/pod-name"], "db-0")
		c.ready()
		is.Equal(c.names(allPods), []string{"db-0", "db-1"})
		c.ready()
		c.ready()
		is.Equal(c.names(allPods), []string{"db-0", "db-1", "db-2"})
		set := c.must("GET", asSets+"/db", "")
		is.Equal(set.Int64("status", "readyReplicas"), int64(3))
		is.Equal(set.String("status", "currentRevision"), pod.Labels()["controller-revision-hash"])
		c.must("DELETE", allPods+"/db-1", "")
		is.Equal(c.names(allPods), []string{"db-0", "db-1", "db-2"}) // created again with the same name
		c.ready()
		c.mergePatch(asSets+"/db", `{"spec":{"replicas":1}}`)
		is.Equal(c.names(allPods), []string{"db-0"})
		is.Equal(c.messages("SuccessfulDelete"), []string{"Delete Pod db-2 in StatefulSet db successful", "Delete Pod db-1 in StatefulSet db successful"})
	})
}

// messages returns the messages of the events that have a reason, in the order of their creation.
func (c client) messages(reason string) (messages []string) {
	all := c.must("GET", "/api/v1/namespaces/default/events", "").Objects("items")
	slices.SortStableFunc(all, func(a, b object.Object) int {
		return strings.Compare(a.Name()[len(a.Name())-16:], b.Name()[len(b.Name())-16:])
	})
	for _, e := range all {
		if e.String("reason") == reason {
			messages = append(messages, e.String("message"))
		}
	}
	return messages
}

func TestStatefulSetParallel(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.stateful(`"podManagementPolicy":"Parallel","ordinals":{"start":5},`)
		is.Equal(c.names(allPods), []string{"db-5", "db-6", "db-7"})
		c.mergePatch(asSets+"/db", `{"spec":{"ordinals":{"start":6}}}`)
		is.Equal(c.names(allPods), []string{"db-6", "db-7", "db-8"})
	})
}

// TestStatefulSetRolls checks that pods are replaced from the highest down to the partition, each when the pods above
// it are ready.
func TestStatefulSetRolls(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.stateful(`"updateStrategy":{"rollingUpdate":{"partition":1}},`)
		c.annotate(asSets+"/db", "2")
		is.Equal(c.stateRevisions(), "db-0=1 db-1=1 db-2=2")
		c.ready()
		is.Equal(c.stateRevisions(), "db-0=1 db-1=2 db-2=2")
		c.ready()
		c.must("DELETE", allPods+"/db-0", "")
		is.Equal(c.stateRevisions(), "db-0=1 db-1=2 db-2=2") // a pod below the partition is created again from the old revision
		c.ready()
		c.mergePatch(asSets+"/db", `{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}`)
		c.ready()
		is.Equal(c.stateRevisions(), "db-0=2 db-1=2 db-2=2")
		status := object.Object(c.must("GET", asSets+"/db", "").Map("status"))
		is.Equal(status.String("currentRevision"), status.String("updateRevision"))
		c.mergePatch(asSets+"/db", `{"spec":{"template":{"metadata":{"annotations":null}}}}`)
		for range 3 {
			c.ready()
		}
		is.Equal(c.stateRevisions(), "db-0=3 db-1=3 db-2=3") // the first revision is now the third
		is.Equal(len(c.names(inApps+"controllerrevisions")), 2)
	})
}

func TestStatefulSetOnDelete(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.stateful(`"updateStrategy":{"type":"OnDelete"},`)
		c.annotate(asSets+"/db", "2")
		is.Equal(c.stateRevisions(), "db-0=1 db-1=1 db-2=1")
		c.must("DELETE", allPods+"/db-1", "")
		is.Equal(c.stateRevisions(), "db-0=1 db-1=2 db-2=1")
	})
}

// TestStatefulSetStuck checks that a pod that an update broke stays broken until it is deleted.
func TestStatefulSetStuck(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.stateful("")
		c.annotate(asSets+"/db", "broken")
		c.annotate(asSets+"/db", "mended")
		is.Equal(c.stateRevisions(), "db-0=1 db-1=1 db-2=2")
		c.must("DELETE", allPods+"/db-2", "")
		is.Equal(c.stateRevisions(), "db-0=1 db-1=1 db-2=3")
	})
}

func TestStatefulSetReplacesEnded(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.stateful("")
		before := c.must("GET", allPods+"/db-1", "").UID()
		c.ask("PATCH", allPods+"/db-1/status", "application/merge-patch+json", "", `{"status":{"phase":"Failed"}}`)
		is.True(c.must("GET", allPods+"/db-1", "").UID() != before)
		is.Equal(c.must("GET", asSets+"/db", "").Int64("status", "readyReplicas"), int64(2))
	})
}

func TestStatefulSetWaitsMinReadySeconds(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.must("POST", asSets, `{"metadata":{"name":"db"},"spec":{"replicas":2,"minReadySeconds":10,`+template(`"a":"b"`)+`}}`)
		c.readySince(time.Now())
		time.Sleep(9 * time.Second)
		synctest.Wait()
		is.Equal(c.names(allPods), []string{"db-0"})
		time.Sleep(time.Second)
		synctest.Wait()
		is.Equal(c.names(allPods), []string{"db-0", "db-1"})
		is.Equal(c.must("GET", asSets+"/db", "").Int64("status", "availableReplicas"), int64(1))
	})
}

// readySince makes all pods ready, and sets the lastTransitionTime of their Ready conditions.
func (c client) readySince(at time.Time) {
	for _, name := range c.names(allPods) {
		c.ask("PATCH", allPods+"/"+name+"/status", "application/merge-patch+json", "",
			`{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"`+object.Time(at)+`"}]}}`)
	}
}

// withClaims returns JSON text for the spec of a StatefulSet: a volume claim template, and the retention policies for
// its claims when the StatefulSet is scaled down (scaled) and deleted (deleted).
func withClaims(scaled, deleted string) string {
	return `"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}],
		"persistentVolumeClaimRetentionPolicy":{"whenScaled":"` + scaled + `","whenDeleted":"` + deleted + `"},`
}

func TestStatefulSetClaims(t *testing.T) {
	for _, test := range []struct{ scaled, deleted, whenScaled, whenDeleted string }{
		{"Retain", "Retain", "data-db-0 data-db-1 data-db-2", "data-db-0 data-db-1 data-db-2"},
		{"Retain", "Delete", "data-db-0 data-db-1 data-db-2", ""},
		{"Delete", "Retain", "data-db-0", "data-db-0"},
		{"Delete", "Delete", "data-db-0", ""},
	} {
		t.Run(test.scaled+test.deleted, func(t *testing.T) {
			live(t, func(t *testing.T, is *is.I, c client) {
				c.stateful(withClaims(test.scaled, test.deleted))
				claims := func() string { // claims removes the protection from the claims, as a volume controller would, and returns the remaining ones
					for _, name := range c.names(allClaims) {
						c.ask("PATCH", allClaims+"/"+name, "application/merge-patch+json", "", `{"metadata":{"finalizers":null}}`)
					}
					return strings.Join(c.names(allClaims), " ")
				}
				is.Equal(claims(), "data-db-0 data-db-1 data-db-2")
				c.mergePatch(asSets+"/db", `{"spec":{"replicas":1}}`)
				is.Equal(claims(), test.whenScaled)
				c.must("DELETE", asSets+"/db", "")
				is.Equal(claims(), test.whenDeleted)
			})
		})
	}
}

// TestStatefulSetMaxUnavailable checks that at most maxUnavailable pods are replaced at a time, if the server supports
// the field (KEP-961).
func TestStatefulSetMaxUnavailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, c := is.New(t), client{t, fake.RunT(t, fake.Options{Clock: clock.System{}, Controllers: []string{"statefulset-controller"},
			Replicas: []fake.ReplicaOptions{{Version: "1.37"}}})}
		c.stateful(`"updateStrategy":{"rollingUpdate":{"maxUnavailable":2}},`)
		c.annotate(asSets+"/db", "2")
		is.Equal(c.stateRevisions(), "db-0=1 db-1=2") // two were deleted and are created again in order
		for range 3 {
			c.ready()
		}
		is.Equal(c.stateRevisions(), "db-0=2 db-1=2 db-2=2")
	})
}

func TestStatefulSetForgetsOldRevisions(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.stateful(`"revisionHistoryLimit":1,`)
		for _, v := range []string{"2", "3", "4"} {
			c.annotate(asSets+"/db", v)
			for range 3 {
				c.ready()
			}
		}
		is.Equal(len(c.names(inApps+"controllerrevisions")), 2) // the revision of the pods and one more
	})
}
