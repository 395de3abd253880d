package kubectl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/kubesim/kubesim/fake"
)

// rollout status waits for the deployment controller, which the test simulates.
func TestRolloutStatus(t *testing.T) {
	is := is.New(t)
	k := waiting(t, func(_ *fake.Server, client kubernetes.Interface) {
		_, err := client.AppsV1().Deployments("default").Patch(t.Context(), "web", types.MergePatchType,
			[]byte(`{"status":{"observedGeneration":1,"replicas":2,"updatedReplicas":2,"readyReplicas":2,"availableReplicas":2}}`),
			metav1.PatchOptions{}, "status")
		is.NoErr(err)
	})
	k.do("create -f " + k.file(web))
	out := k.do("rollout status deployment web")
	is.True(strings.HasPrefix(out, "Waiting for deployment")) // it was not there yet
	is.True(strings.HasSuffix(out, "deployment \"web\" successfully rolled out\n"))
}

// rollout pause, resume and restart write to the deployment. A paused deployment cannot be restarted.
func TestRolloutPauseResumeRestart(t *testing.T) {
	is := is.New(t)
	_, k := start(t)
	k.do("create -f " + k.file(web))
	is.Equal(k.do("rollout pause deployment web"), "deployment.apps/web paused\n")
	is.Equal(k.do("get deployment web -o jsonpath={.spec.paused}"), "true")
	is.True(strings.Contains(k.fail("rollout restart deployment web"), "can't restart paused deployment"))
	is.Equal(k.do("rollout resume deployment web"), "deployment.apps/web resumed\n")
	is.Equal(k.do("rollout restart deployment web"), "deployment.apps/web restarted\n")
	is.True(k.do("get deployment web -o jsonpath={.spec.template.metadata.annotations}") != "") // the time of the restart
}

// rollout history and undo read the replica sets that the deployment controller keeps, one for each revision.
func TestRolloutUndo(t *testing.T) {
	is := is.New(t)
	_, k := start(t)
	k.do("create -f " + k.file(web))
	uid := k.do("get deployment web -o jsonpath={.metadata.uid}")
	k.do("create -f " + k.file(revision(1, "nginx:1", uid)))
	k.do("create -f " + k.file(revision(2, "nginx:2", uid)))
	k.do("set image deployment/web main=nginx:2")

	is.Equal(k.do("rollout history deployment web"), "deployment.apps/web \nREVISION  CHANGE-CAUSE\n1         <none>\n2         <none>\n\n")
	is.Equal(k.do("rollout undo deployment web"), "deployment.apps/web rolled back\n")
	is.Equal(k.do("get deployment web -o jsonpath={.spec.template.spec.containers[0].image}"), "nginx:1")
	is.Equal(k.fail("rollout undo deployment web --to-revision 7"), "error: unable to find specified revision 7 in history")
}

// revision returns the replica set of one revision of the deployment web.
func revision(n int, image, owner string) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: web-%[1]d
  labels: {app: web, pod-template-hash: "%[1]d"}
  annotations: {deployment.kubernetes.io/revision: "%[1]d"}
  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: %[3]s, controller: true}]
spec:
  replicas: 0
  selector: {matchLabels: {app: web, pod-template-hash: "%[1]d"}}
  template:
    metadata: {labels: {app: web, pod-template-hash: "%[1]d"}}
    spec: {containers: [{name: main, image: "%[2]s"}, {name: proxy, image: "envoy:1"}]}
`, n, image, owner)
}
