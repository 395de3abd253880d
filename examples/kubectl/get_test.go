package kubectl

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/matryer/is"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/kubesim/kubesim/fake"
)

const pods = `
apiVersion: v1
kind: Pod
metadata: {name: front, labels: {app: web}}
spec: {containers: [{name: main, image: nginx}, {name: proxy, image: envoy}]}
---
apiVersion: v1
kind: Pod
metadata: {name: back, labels: {app: db}}
spec: {nodeName: node-1, containers: [{name: main, image: postgres}]}
`

// The server determines the columns: it sends tables, in which ages are computed with its own clock.
func TestGetPrintsTables(t *testing.T) {
	is := is.New(t)
	_, k := start(t)
	k.do("create -f " + k.file(pods))

	is.Equal(k.do("get pods"), ""+
		"NAME    READY   STATUS    RESTARTS   AGE\n"+
		"back    0/1     Pending   0          0s\n"+
		"front   0/2     Pending   0          0s\n")
	is.Equal(k.do("get pods -o wide"), ""+
		"NAME    READY   STATUS    RESTARTS   AGE   IP       NODE     NOMINATED NODE   READINESS GATES\n"+
		"back    0/1     Pending   0          0s    <none>   node-1   <none>           <none>\n"+
		"front   0/2     Pending   0          0s    <none>   <none>   <none>           <none>\n")
	is.Equal(k.do("get pod front --show-labels"), ""+
		"NAME    READY   STATUS    RESTARTS   AGE   LABELS\n"+
		"front   0/2     Pending   0          0s    app=web\n")
	is.Equal(k.do("get namespaces"), ""+
		"NAME              STATUS   AGE\n"+
		"default           Active   0s\n"+
		"kube-node-lease   Active   0s\n"+
		"kube-public       Active   0s\n"+
		"kube-system       Active   0s\n")
	is.Equal(k.do("get all"), ""+
		"NAME        READY   STATUS    RESTARTS   AGE\n"+
		"pod/back    0/1     Pending   0          0s\n"+
		"pod/front   0/2     Pending   0          0s\n"+
		"\n"+
		"NAME                 TYPE        CLUSTER-IP   EXTERNAL-IP   PORT(S)   AGE\n"+
		"service/kubernetes   ClusterIP   10.0.0.1     <none>        443/TCP   0s\n") // which every cluster has
}

func TestGetSelects(t *testing.T) {
	is := is.New(t)
	_, k := start(t)
	k.do("create -f " + k.file(pods))
	k.do("create configmap here --from-literal a=b")
	k.do("create configmap there --from-literal a=b -n kube-public")

	is.Equal(k.do("get pods -l app=web -o name"), "pod/front\n")                              // labels
	is.Equal(k.do("get pods --field-selector spec.nodeName=node-1 -o name"), "pod/back\n")    // fields
	is.Equal(k.do("get pods -A --field-selector metadata.namespace=kube-system -o name"), "") // of any namespace
	is.Equal(k.do("get configmaps -A --chunk-size 1 --field-selector metadata.namespace!=kube-system -o name"),
		"configmap/here\nconfigmap/there\n") // page by page
}

func TestGetPrintsObjects(t *testing.T) {
	is := is.New(t)
	_, k := start(t)
	k.do("create configmap settings --from-literal color=red")

	text := k.do("get configmap settings -o yaml")
	is.True(strings.HasPrefix(text, "apiVersion: v1\ndata:\n  color: red\nkind: ConfigMap\nmetadata:\n  creationTimestamp: \"2026-01-01T00:00:00Z\"\n"))

	var object corev1.ConfigMap
	is.NoErr(json.Unmarshal([]byte(k.do("get configmap settings -o json")), &object))
	is.Equal(object.Data["color"], "red")

	is.Equal(k.do("get configmap settings -o jsonpath={.data.color}"), "red")
	is.Equal(k.do("get configmaps -o custom-columns=N:.metadata.name,C:.data.color"), "N          C\nsettings   red\n")
}

// The watch begins at the revision of the list, so that get -w shows each change exactly once.
func TestGetWatches(t *testing.T) {
	is := is.New(t)
	k := waiting(t, func(srv *fake.Server, client kubernetes.Interface) {
		configMaps := client.CoreV1().ConfigMaps("default")
		_, err := configMaps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "new"}}, metav1.CreateOptions{})
		is.NoErr(err)
		_, err = configMaps.Patch(t.Context(), "new", types.MergePatchType, []byte(`{"data":{"a":"b"}}`), metav1.PatchOptions{})
		is.NoErr(err)
		is.NoErr(configMaps.Delete(t.Context(), "new", metav1.DeleteOptions{}))
	})
	k.do("create configmap old --from-literal a=b")

	is.Equal(k.first(5, "get configmaps -w --output-watch-events"), ""+
		"EVENT      NAME   DATA   AGE\n"+
		"ADDED      old    1      0s\n"+
		"ADDED      new    0      0s\n"+
		"MODIFIED   new    1      0s\n"+
		"DELETED    new    1      0s\n")
}

// first returns the first n lines of output of a command that does not end by itself. The command ends with the test.
func (k kubectl) first(n int, line string) string {
	out := &lines{left: n, done: make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = k.run(out, line) // which ends when the server does
	}()
	k.t.Cleanup(func() {
		k.end()
		<-ended
	})
	<-out.done
	return out.String()
}

// lines is a writer that closes a channel after some lines.
type lines struct {
	bytes.Buffer
	left int
	done chan struct{}
}

func (l *lines) Write(p []byte) (int, error) {
	if l.left > 0 {
		l.Buffer.Write(p)
		if l.left -= bytes.Count(p, []byte("\n")); l.left <= 0 {
			close(l.done)
		}
	}
	return len(p), nil
}
