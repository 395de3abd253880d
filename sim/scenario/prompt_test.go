package scenario

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestPrompt checks that lines of a prompt are like other operations: waiting advances the World's clock, watches stay
// open, failures must be marked with !, and a replay has the same result.
func TestPrompt(t *testing.T) {
	is := is.New(t)
	f, err := ParseFile([]byte(`
controllers *
nodes 2
kubectl get deployments -w
kubectl create deployment web --image=nginx --replicas=2
kubectl rollout status deployment/web | tail -1
expect count pods == 2
kubectl get pods -o name | wc -l
! kubectl get pod nope
expect status 404 NotFound
kubectl exec deploy/web -- echo hi
cat cm.yaml | kubectl apply -f -
kubectl config set-context --current --namespace kube-system
kubectl get cm
curl -X DELETE -o /dev/null -w '%{http_code}\n' /api/v1/namespaces/default/configmaps/a
kubectl delete deployment web -n default --cascade=foreground
expect count pods == 0
-- cm.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
`))
	is.NoErr(err)
	out, err := Run(f, RunOptions{})
	is.NoErr(err)
	if out.Failure != nil {
		t.Fatal(out.Failure)
	}
	for _, want := range []string{"   deployment.apps/web created\n", "   deployment \"web\" successfully rolled out\n", "> kubectl get pods -o name | wc -l\n   2\n",
		"   web    0/2     0            0           0s\n", // an event of the watch, in the columns of a table
		"   Error from server (NotFound): pods \"nope\" not found\n", "   hi\n", "   configmap/a created\n", "   200\n",
		"   deployment.apps \"web\" deleted from default namespace\n"} {
		if !strings.Contains(out.Transcript, want) {
			t.Errorf("there is no %q in\n%s", want, out.Transcript)
		}
	}
	again, err := Run(f, RunOptions{})
	is.NoErr(err)
	is.Equal(again.Hash, out.Hash) // all frames
}

// TestPromptFails checks that a failing command is a Failure unless the line has a !, and that a command that waits
// forever fails.
func TestPromptFails(t *testing.T) {
	is := is.New(t)
	for script, want := range map[string]string{ // order does not matter
		"kubectl get pod nope": "kubectl failed with exit code 1",
		"! kubectl get pods":   "kubectl succeeded, but the ! before it requires a failure",
		"kubectl gte pods":     "kubectl failed with exit code 1",
		"request POST /api/v1/namespaces/default/configmaps -d '{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\",\"finalizers\":[\"x.io/y\"]}}'\nkubectl delete cm a": "kubectl failed with exit code 1",
	} {
		f, err := ParseFile([]byte(script + "\n"))
		is.NoErr(err)
		out, err := Run(f, RunOptions{})
		is.NoErr(err)
		if out.Failure == nil || !strings.Contains(out.Failure.Text, want) {
			t.Errorf("%s: %v\n%s", script, out.Failure, out.Transcript)
		}
	}
}
