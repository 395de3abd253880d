package fake_test

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

const asDeployments = inApps + "deployments"

// TestDeploymentCollides checks that if the name of a Deployment's ReplicaSet is already used by another owner, the
// Deployment increments its collision count and uses another name.
func TestDeploymentCollides(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		const web = `{"metadata":{"name":"web"},"spec":{"replicas":1,`
		c.must("POST", asDeployments, web+template(`"a":"b"`)+`}}`)
		name := c.names(inApps + "replicasets")[0]
		c.must("DELETE", asDeployments+"/web", "")
		c.must("POST", inApps+"replicasets", `{"metadata":{"name":"`+name+`"},"spec":{"replicas":0,`+template(`"x":"y"`)+`}}`)
		c.must("POST", asDeployments, web+template(`"a":"b"`)+`}}`)
		c.settled()
		is.Equal(c.must("GET", asDeployments+"/web", "").Int64("status", "collisionCount"), int64(1))
		is.Equal(len(c.names(inApps+"replicasets")), 2)
		is.Equal(len(c.names(allPods)), 1)
	})
}

// TestDeploymentPaused checks that the reason DeploymentPaused is kept while the paused Deployment is scaled and its
// template changes. The new template is rolled out when the Deployment is resumed.
func TestDeploymentPaused(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.must("POST", asDeployments, `{"metadata":{"name":"web"},"spec":{"replicas":2,`+template(`"a":"b"`)+`}}`)
		c.ready()
		reason := func() string {
			return c.must("GET", asDeployments+"/web", "").Condition("Progressing").String("reason")
		}
		c.mergePatch(asDeployments+"/web", `{"spec":{"paused":true}}`)
		is.Equal(reason(), "DeploymentPaused")
		c.annotate(asDeployments+"/web", "2")
		c.mergePatch(asDeployments+"/web", `{"spec":{"replicas":3}}`)
		is.Equal(c.sizes(), []int64{3})
		is.Equal(reason(), "DeploymentPaused")
		c.ready()
		c.mergePatch(asDeployments+"/web", `{"spec":{"paused":false}}`)
		is.Equal(len(c.sizes()), 2)
		for range 4 {
			c.ready()
		}
		is.Equal(c.sizes(), []int64{0, 3})
		is.Equal(reason(), "NewReplicaSetAvailable")
	})
}

// TestDeploymentScaledWhileRolling checks that a Deployment that is scaled down in the middle of a rollout keeps as
// many pods available as maxUnavailable requires.
func TestDeploymentScaledWhileRolling(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.must("POST", asDeployments, `{"metadata":{"name":"web"},"spec":{"replicas":10,"strategy":{"rollingUpdate":{"maxSurge":3,"maxUnavailable":2}},`+
			template(`"a":"b"`)+`}}`)
		c.ready()
		c.annotate(asDeployments+"/web", "2")
		is.Equal(c.sizes(), []int64{8, 5})
		c.mergePatch(asDeployments+"/web", `{"spec":{"replicas":17}}`)
		is.Equal(c.sizes(), []int64{12, 8})
		c.mergePatch(asDeployments+"/web", `{"spec":{"replicas":6}}`)
		is.Equal(c.sizes(), []int64{4, 5})
		is.Equal(c.must("GET", asDeployments+"/web", "").Int64("status", "availableReplicas"), int64(4))
	})
}

// TestStatefulSetCollides checks that if the name of a StatefulSet's revision is already used, the revision gets
// another name.
func TestStatefulSetCollides(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		const set = `{"metadata":{"name":"db"},"spec":{"replicas":1,`
		c.must("POST", asSets, set+template(`"a":"b"`)+`}}`)
		name := c.names(inApps + "controllerrevisions")[0]
		c.must("DELETE", asSets+"/db", "")
		c.must("POST", inApps+"controllerrevisions", `{"metadata":{"name":"`+name+`"},"revision":1,"data":{}}`)
		c.must("POST", asSets, set+template(`"a":"b"`)+`}}`)
		now := c.must("GET", asSets+"/db", "")
		is.Equal(now.Int64("status", "collisionCount"), int64(1))
		is.True(strings.HasPrefix(now.String("status", "updateRevision"), "db-") && now.String("status", "updateRevision") != name)
	})
}
