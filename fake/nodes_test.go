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
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
)

// onNodes runs a test in virtual time, with a server that has at least one node.
func onNodes(t *testing.T, o fake.Options, f func(t *testing.T, is *is.I, c client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o.Clock, o.Nodes = clock.System{}, max(o.Nodes, 1)
		f(t, is.New(t), client{t, fake.RunT(t, o)})
	})
}

const inPods = "/api/v1/namespaces/default/pods"

// bound creates a pod on node-1. spec and annotations are JSON text.
func (c client) bound(name, spec string, annotations ...string) {
	c.t.Helper()
	c.must("POST", inPods, `{"metadata":{"name":"`+name+`","annotations":{`+strings.Join(annotations, ",")+`}},"spec":{"nodeName":"node-1",`+spec+`}}`)
}

// later lets the duration d pass and returns the pod.
func (c client) later(d time.Duration, name string) object.Object {
	c.t.Helper()
	time.Sleep(d)
	synctest.Wait()
	return c.must("GET", inPods+"/"+name, "")
}

// told returns the events about an object, each with its reason, its message and its count.
func (c client) told(name string) (all []string) {
	for _, e := range c.must("GET", "/api/v1/namespaces/default/events", "").Objects("items") {
		if e.String("involvedObject", "name") == name {
			text := e.String("reason") + ": " + e.String("message")
			if n := e.Int64("count"); n > 1 {
				text += " x" + strings.Repeat("I", int(n))
			}
			all = append(all, text)
		}
	}
	return all
}

const oneContainer = `"containers":[{"name":"c","image":"nginx:1"}]`

// TestPodRuns checks that a pod that is bound to a node is Pending, and that it is Running and Ready a second later. A
// second after it is deleted, it is removed.
func TestPodRuns(t *testing.T) {
	onNodes(t, fake.Options{}, func(t *testing.T, is *is.I, c client) {
		c.bound("web", oneContainer)
		pod := c.later(0, "web")
		is.Equal(state(pod), "Pending c:ContainerCreating")
		is.Equal(podConditions(pod), "PodReadyToStartContainers=False Initialized=True Ready=False(ContainersNotReady) ContainersReady=False(ContainersNotReady) PodScheduled=True")
		pod = c.later(time.Second, "web")
		is.Equal(state(pod), "Running c:running,ready")
		is.Equal(podConditions(pod), "PodReadyToStartContainers=True Initialized=True Ready=True ContainersReady=True PodScheduled=True")
		is.Equal(pod.String("status", "podIP"), "10.244.0.2")
		is.Equal(pod.String("status", "hostIP"), "172.18.0.2")
		status := pod.Objects("status", "containerStatuses")[0]
		is.Equal(status.String("image"), "docker.io/library/nginx:1")
		is.True(strings.HasPrefix(status.String("containerID"), "containerd://"))
		c.must("DELETE", inPods+"/web", "")
		is.Equal(c.later(0, "web").DeletionTimestamp() != "", true)
		time.Sleep(time.Second)
		synctest.Wait()
		is.Equal(len(c.names(inPods)), 0)
		is.Equal(c.told("web"), []string{`Pulling: Pulling image "nginx:1"`,
			`Pulled: Successfully pulled image "nginx:1" in 1s (1s including waiting). Image size: 15347681 bytes.`,
			"Created: Container created", "Started: Container started", "Killing: Stopping container c"})
	})
}

// state returns the phase of a pod and the states of its containers.
func state(pod object.Object) string {
	text := strings.TrimSpace(pod.String("status", "phase") + " " + pod.String("status", "reason"))
	for _, list := range []string{"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"} {
		for _, s := range pod.Objects("status", list) {
			text += " " + s.String("name") + ":"
			switch {
			case s.Has("state", "waiting"):
				text += s.String("state", "waiting", "reason")
			case s.Has("state", "running"):
				text += "running"
			default:
				text += fmt.Sprint(s.String("state", "terminated", "reason"), s.Int64("state", "terminated", "exitCode"))
			}
			if s.True("ready") {
				text += ",ready"
			}
			if n := s.Int64("restartCount"); n > 0 {
				text += fmt.Sprint(",", n)
			}
		}
	}
	return text
}

func podConditions(pod object.Object) string {
	var all []string
	for _, c := range pod.Objects("status", "conditions") {
		text := c.String("type") + "=" + c.String("status")
		if reason := c.String("reason"); reason != "" {
			text += "(" + reason + ")"
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

// moment is the expected state of a pod a number of seconds after its binding.
type moment struct {
	at   int
	want string
}

func TestPods(t *testing.T) {
	const probed = `"containers":[{"name":"c","image":"i","readinessProbe":{"httpGet":{"port":80},"periodSeconds":5}}]`
	for _, test := range []struct {
		name, spec  string
		annotations string
		moments     []moment
		delete      int // when it is deleted, in seconds; 0 means never
	}{
		{name: "it ends as its command says", spec: `"restartPolicy":"Never","containers":[{"name":"c","image":"busybox","command":["sh","-c","sleep 5; exit 3"]}]`,
			moments: []moment{{1, "Running c:running,ready"}, {5, "Running c:running,ready"}, {6, "Failed c:Error3"}}},
		{name: "it succeeds", spec: `"restartPolicy":"OnFailure","containers":[{"name":"c","image":"busybox","args":["echo","hi"]}]`,
			moments: []moment{{0, "Pending c:ContainerCreating"}, {1, "Succeeded c:Completed0"}}},
		{name: "it crashes", spec: oneContainer, annotations: `"kubesim.io/exit-after":"0s","kubesim.io/exit-code":"1"`,
			moments: []moment{{1, "Running c:Error1"}, {2, "Running c:CrashLoopBackOff,1"}, {11, "Running c:CrashLoopBackOff,1"},
				{12, "Running c:Error1,1"}, {13, "Running c:CrashLoopBackOff,2"}, {32, "Running c:CrashLoopBackOff,2"}, {34, "Running c:CrashLoopBackOff,3"}}},
		{name: "init containers go before", spec: `"initContainers":[{"name":"a","image":"busybox","command":["sleep","2"]},{"name":"b","image":"busybox","command":["true"]}],` + oneContainer,
			moments: []moment{{0, "Pending a:PodInitializing b:PodInitializing c:PodInitializing"}, {1, "Pending a:running b:PodInitializing c:PodInitializing"},
				{3, "Pending a:Completed0,ready b:PodInitializing c:PodInitializing"}, {4, "Pending a:Completed0,ready b:Completed0,ready c:PodInitializing"},
				{5, "Running a:Completed0,ready b:Completed0,ready c:running,ready"}}},
		{name: "an init container fails", spec: `"restartPolicy":"Never","initContainers":[{"name":"a","image":"busybox","command":["false"]}],` + oneContainer,
			moments: []moment{{1, "Failed a:Error1 c:PodInitializing"}}},
		{name: "a sidecar ends after the others", spec: `"restartPolicy":"Never","initContainers":[{"name":"side","image":"proxy","restartPolicy":"Always"}],` +
			`"containers":[{"name":"c","image":"busybox","command":["sleep","3"]}]`,
			moments: []moment{{0, "Pending side:PodInitializing c:PodInitializing"}, {1, "Pending side:running,ready c:PodInitializing"},
				{2, "Running side:running,ready c:running,ready"}, {5, "Running side:running,ready c:Completed0"}, {6, "Succeeded side:Completed0 c:Completed0"}}},
		{name: "its image is not there", spec: `"containers":[{"name":"c","image":"nginx:doesnotexist"}]`,
			moments: []moment{{0, "Pending c:ErrImagePull"}, {1, "Pending c:ImagePullBackOff"}, {10, "Pending c:ErrImagePull"}, {11, "Pending c:ImagePullBackOff"}}},
		{name: "the name of its image is none", spec: `"containers":[{"name":"c","image":"Nginx"}]`, moments: []moment{{0, "Pending c:InvalidImageName"}}},
		{name: "it is ready when its probe succeeds", spec: probed, annotations: `"kubesim.io/ready-delay":"7s"`,
			moments: []moment{{1, "Running c:running"}, {10, "Running c:running"}, {11, "Running c:running,ready"}}},
		{name: "it becomes unready", spec: probed, annotations: `"kubesim.io/unhealthy-after":"20s"`,
			moments: []moment{{1, "Running c:running,ready"}, {30, "Running c:running,ready"}, {31, "Running c:running"}}},
		{name: "its liveness probe fails", spec: `"containers":[{"name":"c","image":"i","livenessProbe":{"exec":{"command":["check"]},"periodSeconds":5}}]`,
			annotations: `"kubesim.io/unhealthy-after":"10s"`,
			moments:     []moment{{21, "Running c:running,ready"}, {22, "Running c:Completed0"}, {23, "Running c:running,ready,1"}}},
		{name: "liveness by a file, as in the documents", spec: `"containers":[{"name":"c","image":"busybox","args":["/bin/sh","-c","touch /tmp/healthy; sleep 30; rm -f /tmp/healthy; sleep 600"],` +
			`"livenessProbe":{"exec":{"command":["cat","/tmp/healthy"]},"initialDelaySeconds":5,"periodSeconds":5}}]`,
			moments: []moment{{40, "Running c:running,ready"}, {70, "Running c:running,ready"}, {71, "Running c:Error137"}, {72, "Running c:running,ready,1"}}},
		{name: "it starts slowly", spec: `"containers":[{"name":"c","image":"i","startupProbe":{"tcpSocket":{"port":80},"periodSeconds":2,"failureThreshold":30}}]`,
			annotations: `"kubesim.io/start-delay":"3s","kubesim.io/ready-delay":"9s"`,
			moments:     []moment{{2, "Pending c:ContainerCreating"}, {3, "Running c:running"}, {12, "Running c:running"}, {13, "Running c:running,ready"}}},
		{name: "it is active for too long", spec: `"activeDeadlineSeconds":10,` + oneContainer,
			moments: []moment{{9, "Running c:running,ready"}, {10, "Running c:running,ready"}, {11, "Failed DeadlineExceeded c:Completed0"}}},
		{name: "a shell does not hear that it is to end", spec: `"terminationGracePeriodSeconds":5,"containers":[{"name":"c","image":"busybox","command":["sleep","3600"]}]`,
			delete: 10, moments: []moment{{14, "Running c:running,ready"}, {15, "Failed c:Error137"}}},
		{name: "its hook takes time", spec: `"containers":[{"name":"c","image":"i","lifecycle":{"preStop":{"sleep":{"seconds":4}}}}]`,
			delete: 10, moments: []moment{{14, "Running c:running,ready"}, {15, "Succeeded c:Completed0"}}},
		{name: "only one of its containers ends", spec: `"restartPolicy":"Never","containers":[{"name":"c","image":"busybox","command":["false"]},{"name":"d","image":"i"}]`,
			moments: []moment{{1, "Running c:Error1 d:running,ready"}}},
		{name: "a container has its own annotations", spec: `"restartPolicy":"Never","containers":[{"name":"c","image":"i"},{"name":"d","image":"i"}]`,
			annotations: `"kubesim.io/d.exit-after":"2s","kubesim.io/d.exit-code":"4"`,
			moments:     []moment{{3, "Running c:running,ready d:Error4"}}},
		{name: "an annotation is wrong", spec: oneContainer, annotations: `"kubesim.io/exit-after":"soon"`,
			moments: []moment{{1, "Pending c:CreateContainerConfigError"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			onNodes(t, fake.Options{}, func(t *testing.T, is *is.I, c client) {
				c.must("POST", inPods, `{"metadata":{"name":"p","finalizers":["example.com/me"],"annotations":{`+test.annotations+`}},"spec":{"nodeName":"node-1",`+test.spec+`}}`)
				at := 0
				for _, m := range test.moments {
					for ; at < m.at; at++ {
						if at == test.delete && at > 0 {
							c.must("DELETE", inPods+"/p", "")
						}
						time.Sleep(time.Second)
					}
					is.Equal(fmt.Sprintf("%d: %s", m.at, state(c.later(0, "p"))), fmt.Sprintf("%d: %s", m.at, m.want))
				}
			})
		})
	}
}

// TestPodWaits checks that a container whose environment or volumes refer to an object that does not exist waits until
// the object exists.
func TestPodWaits(t *testing.T) {
	onNodes(t, fake.Options{}, func(t *testing.T, is *is.I, c client) {
		c.bound("env", `"containers":[{"name":"c","image":"i","env":[{"name":"A","valueFrom":{"configMapKeyRef":{"name":"settings","key":"a"}}}]}]`)
		c.bound("volume", `"volumes":[{"name":"v","secret":{"secretName":"token"}}],`+oneContainer)
		is.Equal(state(c.later(time.Hour, "env")), "Pending c:CreateContainerConfigError")
		is.Equal(state(c.later(0, "volume")), "Pending c:ContainerCreating")
		c.must("POST", inDefault, `{"metadata":{"name":"settings"},"data":{"b":"1"}}`)
		is.Equal(state(c.later(time.Minute, "env")), "Pending c:CreateContainerConfigError")
		c.mergePatch(inDefault+"/settings", `{"data":{"a":"1"}}`)
		c.must("POST", "/api/v1/namespaces/default/secrets", `{"metadata":{"name":"token"}}`)
		is.Equal(state(c.later(time.Second, "env")), "Running c:running,ready")
		is.Equal(state(c.later(0, "volume")), "Running c:running,ready")
	})
}

// TestNodesUnderNodeRestriction checks that the cluster's own kubelets do nothing that the plugin refuses.
func TestNodesUnderNodeRestriction(t *testing.T) {
	onNodes(t, fake.Options{Plugins: []string{"NodeRestriction"}, Controllers: controller.All}, func(t *testing.T, is *is.I, c client) {
		c.bound("p", oneContainer)
		is.Equal(c.later(2*time.Second, "p").String("status", "phase"), "Running")
		c.must("DELETE", inPods+"/p", "")
		time.Sleep(time.Minute)
		is.Equal(len(c.must("GET", inPods, "").List("items")), 0)
		conditions := c.must("GET", "/api/v1/nodes/node-1", "").Objects("status", "conditions")
		is.True(slices.ContainsFunc(conditions, func(o object.Object) bool { return o.String("type") == "Ready" && o.String("status") == "True" }))
	})
}
