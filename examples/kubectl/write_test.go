package kubectl

import (
	"strings"
	"testing"

	"github.com/matryer/is"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/kubesim/kubesim/fake"
)

const web = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "nginx:1"}, {name: proxy, image: "envoy:1"}]}
`

func TestCreate(t *testing.T) {
	is := is.New(t)
	_, k := start(t)
	is.Equal(k.do("create -f "+k.file(web)), "deployment.apps/web created\n")
	is.Equal(k.do("create configmap settings --from-literal color=red"), "configmap/settings created\n")
	is.Equal(k.do("create secret generic password --from-literal key=hidden"), "secret/password created\n")
	is.Equal(k.do("create deployment other --image nginx --replicas 3"), "deployment.apps/other created\n")
	is.Equal(k.do("create namespace mine"), "namespace/mine created\n")
	is.Equal(k.do("create job once --image busybox"), "job.batch/once created\n")
	is.Equal(k.do("run pod --image nginx"), "pod/pod created\n")
	is.Equal(k.do("expose deployment web --port 80"), "service/web exposed\n")
	is.Equal(k.do("autoscale deployment web --max 4"), "horizontalpodautoscaler.autoscaling/web autoscaled\n")

	is.Equal(k.do("get secret password -o jsonpath={.data.key}"), "aGlkZGVu")
	is.Equal(k.fail("create configmap settings"), `error: failed to create configmap: configmaps "settings" already exists`)
	is.Equal(k.fail("create configmap settings -n missing"),
		`error: failed to create configmap: namespaces "missing" not found`)
}

// kubectl asks the server to reject unknown fields, and shows the error.
func TestCreateRefusesUnknownFields(t *testing.T) {
	is := is.New(t)
	_, k := start(t)
	text := k.fail("create -f " + k.file(strings.Replace(web, "replicas", "replcas", 1)))
	is.True(strings.Contains(text, `strict decoding error: unknown field "spec.replcas"`))
}

func TestReplace(t *testing.T) {
	is := is.New(t)
	_, k := start(t)
	k.do("create -f " + k.file(web))
	is.Equal(k.do("replace -f "+k.file(strings.Replace(web, "nginx:1", "nginx:2", 1))), "deployment.apps/web replaced\n")
	is.Equal(k.do("get deployment web -o jsonpath={.spec.template.spec.containers[*].image}"), "nginx:2 envoy:1")
}

// The three patch types differ: merge replaces a list, strategic merges it by name, and JSON addresses an element by its position.
func TestPatch(t *testing.T) {
	tests := []struct{ name, kind, patch, images string }{
		{"merge", "merge", `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:2"}]}}}}`, "nginx:2"},
		{"strategic", "strategic", `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:2"}]}}}}`, "nginx:2 envoy:1"},
		{"json", "json", `[{"op":"replace","path":"/spec/template/spec/containers/1/image","value":"envoy:2"}]`, "nginx:1 envoy:2"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			_, k := start(t)
			k.do("create -f " + k.file(web))
			is.Equal(k.do("patch deployment web --type "+test.kind+" -p "+test.patch), "deployment.apps/web patched\n")
			is.Equal(k.do("get deployment web -o jsonpath={.spec.template.spec.containers[*].image}"), test.images)
			is.Equal(k.do("get deployment web -o jsonpath={.metadata.generation}"), "2") // the spec has changed
		})
	}
}

func TestLabelAnnotateScaleSetImage(t *testing.T) {
	is := is.New(t)
	_, k := start(t)
	k.do("create -f " + k.file(web))
	is.Equal(k.do("label deployment web tier=front"), "deployment.apps/web labeled\n")
	is.Equal(k.do("annotate deployment web note=hello"), "deployment.apps/web annotated\n")
	is.Equal(k.do("scale deployment web --replicas 5"), "deployment.apps/web scaled\n")
	is.Equal(k.do("set image deployment/web proxy=envoy:3"), "deployment.apps/web image updated\n")
	is.Equal(k.do("rollout restart deployment web"), "deployment.apps/web restarted\n")
	is.Equal(k.do("get deployment web -L tier"), ""+
		"NAME   READY   UP-TO-DATE   AVAILABLE   AGE   TIER\n"+
		"web    0/5     0            0           0s    front\n")
	is.Equal(k.do("get deployment web -o jsonpath={.metadata.annotations.note}"), "hello")
	is.True(strings.Contains(k.fail("scale deployment web --current-replicas 1 --replicas 7"), "Expected replicas to be 1, was 5"))
}

// kubectl waits until the object is deleted, which a finalizer delays.
func TestDeleteWaitsForFinalizers(t *testing.T) {
	is := is.New(t)
	k := waiting(t, func(_ *fake.Server, client kubernetes.Interface) {
		_, err := client.CoreV1().ConfigMaps("default").Patch(t.Context(), "held", types.MergePatchType,
			[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		is.NoErr(err) // the finalizer is removed
	})
	k.do("create -f " + k.file("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: held, finalizers: [example.com/hold]}"))

	is.Equal(k.do("delete configmap held --wait=false"), "configmap \"held\" deleted from default namespace\n")
	is.Equal(k.do("get configmap held -o jsonpath={.metadata.deletionTimestamp}"), "2026-01-01T00:00:00Z") // still there
	is.Equal(k.do("delete configmap held --timeout 1m"), "configmap \"held\" deleted from default namespace\n")
	is.Equal(k.fail("get configmap held"), `Error from server (NotFound): configmaps "held" not found`)
}

func TestDelete(t *testing.T) {
	is := is.New(t)
	_, k := start(t)
	k.do("create -f " + k.file(pods))
	k.do("create configmap a")
	k.do("create configmap b")
	is.Equal(k.do("delete pod front"), "pod \"front\" deleted from default namespace\n") // no node has it: it is gone at once
	is.Equal(k.do("delete pod back --wait=false"), "pod \"back\" deleted from default namespace\n")
	is.Equal(k.do("get pods"), "NAME   READY   STATUS        RESTARTS   AGE\nback   0/1     Terminating   0          0s\n") // its kubelet would end it
	k.do("delete pod back --grace-period 0 --force")
	is.Equal(k.do("get pods -o name"), "")
	is.Equal(k.do("delete configmaps --all"), "configmap \"a\" deleted from default namespace\nconfigmap \"b\" deleted from default namespace\n")
	is.Equal(k.fail("delete configmap a"), `Error from server (NotFound): configmaps "a" not found`)
}
