package kubectl

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/auth"
)

func TestVersion(t *testing.T) {
	is := is.New(t)
	_, k := start(t)
	is.True(strings.Contains(k.do("version"), "Server Version: "+sim.Version+"\n"))
	is.Equal(k.do("get --raw /readyz"), "ok")
}

func TestAPIResourcesAndVersions(t *testing.T) {
	is := is.New(t)
	_, k := start(t)
	is.True(strings.Contains(k.do("api-versions"), "apps/v1\n"))
	is.True(strings.HasSuffix(k.do("api-versions"), "storage.k8s.io/v1\nv1\n"))
	is.Equal(k.do("api-resources --api-group apps"), ""+
		"NAME                  SHORTNAMES   APIVERSION   NAMESPACED   KIND\n"+
		"controllerrevisions                apps/v1      true         ControllerRevision\n"+
		"daemonsets            ds           apps/v1      true         DaemonSet\n"+
		"deployments           deploy       apps/v1      true         Deployment\n"+
		"replicasets           rs           apps/v1      true         ReplicaSet\n"+
		"statefulsets          sts          apps/v1      true         StatefulSet\n")
	is.Equal(k.fail("get unicorns"), `error: the server doesn't have a resource type "unicorns"`)
}

// The structure in OpenAPI v3 is the server's own.
func TestExplain(t *testing.T) {
	is := is.New(t)
	_, k := start(t)
	text := k.do("explain pods.spec.containers")
	is.True(strings.HasPrefix(text, "KIND:       Pod\nVERSION:    v1\n\nFIELD: containers <[]Container>\n"))
	is.True(strings.Contains(text, "\n  name\t<string> -required-\n"))
	is.True(strings.Contains(text, "\nDESCRIPTION:\n    List of containers belonging to the pod."))
	is.True(strings.Contains(text, "\n  imagePullPolicy\t<string>\n  enum: Always, IfNotPresent, Never\n"))

	text = k.do("explain deployment.spec --recursive")
	is.True(strings.Contains(text, "\n  strategy\t<DeploymentStrategy>\n"))
	is.True(strings.Contains(text, "\n    rollingUpdate\t<RollingUpdateDeployment>\n      maxSurge\t<IntOrString>\n"))

	text = k.do("explain pods.spec.containers --output plaintext-openapiv2")
	is.True(strings.HasPrefix(text, "KIND:     Pod\nVERSION:  v1\n\nRESOURCE: containers <[]Object>\n"))
	is.True(strings.Contains(text, "\n   name\t<string> -required-\n"))

	is.True(strings.Contains(k.fail("explain pods.spec.nothing"), `field "nothing" does not exist`))
}

func TestDescribe(t *testing.T) {
	is := is.New(t)
	_, k := start(t)
	k.do("create -f " + k.file(pods))
	k.do("create -f " + k.file(web))
	text := k.do("describe pod front")
	is.True(strings.Contains(text, "Name:         front\nNamespace:    default\n"))
	is.True(strings.Contains(text, "QoS Class:        BestEffort\n"))
	is.True(strings.Contains(k.do("describe deployment web"), "Replicas:               2 desired | 0 updated | 0 total | 0 available | 0 unavailable\n"))
}

func TestAuthCanI(t *testing.T) {
	is := is.New(t)
	_, k := start(t)
	is.Equal(k.do("auth can-i create pods"), "yes\n") // by default every client may do everything

	_, k = start(t, fake.Options{Auth: auth.RBAC})
	is.Equal(k.do("auth can-i create pods --token admintoken"), "yes\n")
	is.Equal(k.fail("get pods --token alicetoken"), `Error from server (Forbidden): pods is forbidden: `+
		`User "alice" cannot list resource "pods" in API group "" in the namespace "default"`) // alice has no role yet

	k.do("create role writer --verb create --resource pods --token admintoken")
	k.do("create rolebinding writers --role writer --user alice --token admintoken")
	is.Equal(k.do("auth can-i create pods --token alicetoken"), "yes\n")
}
